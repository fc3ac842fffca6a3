"""Which topics got worse, and which make the verdict."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsResult(Result):
    """One row for each challenger and topic, worst first.

    Parameters
    ----------
    system, topic : tuple of str
        Challenger and topic.
    form : str
        "alpha" or "minus" (x, t_r and t_j negated).
    champion_score, score, delta, x : arrays
        Scores, their difference, and the difference as the risk counts it.
    t_r, t_j : arrays
        x / s_x, and its centred jackknife form; a loss is negative in the alpha form.
    flagged, flagged_t_r : bool arrays
        |t_j| and |t_r| beyond the exact critical value.
    t_without : array
        TRisk when this topic is left out.
    decides : bool array
        Whether leaving this one topic out changes the verdict.
    relative_change : array
        delta / champion_score; NaN where that score is 0.
    note : tuple of str
        Why a topic cannot be held against the others; empty where all is well.
    """

    command: ClassVar[str] = "topics"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "topic",
        "champion_score",
        "score",
        "delta",
        "x",
        "t_j",
        "flagged",
        "decides",
    )

    system: tuple[str, ...]
    topic: tuple[str, ...]
    form: str
    champion_score: FloatArray
    score: FloatArray
    delta: FloatArray
    x: FloatArray
    t_r: FloatArray
    t_j: FloatArray
    flagged: BoolArray
    flagged_t_r: BoolArray
    t_without: FloatArray
    decides: BoolArray
    relative_change: FloatArray
    note: tuple[str, ...]
    delta_low: FloatArray | None = None
    delta_high: FloatArray | None = None

    def columns(self) -> dict[str, Column]:
        """The table, the contract's columns first."""
        out: dict[str, Column] = {
            "system": self.system,
            "topic": self.topic,
            "champion_score": self.champion_score,
            "score": self.score,
            "delta": self.delta,
            "x": self.x,
            "t_r": self.t_r,
            "t_j": self.t_j,
            "flagged": self.flagged,
            "flagged_t_r": self.flagged_t_r,
            "t_without": self.t_without,
            "decides": self.decides,
            "relative_change": self.relative_change,
        }
        if self.delta_low is not None and self.delta_high is not None:
            out["delta_low"] = self.delta_low
            out["delta_high"] = self.delta_high
        out["form"] = (self.form,) * len(self.system)
        out["note"] = self.note
        return out
