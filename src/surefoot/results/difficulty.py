"""How hard each query is."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty(Result):
    """One row a query, the hardest first.

    Parameters
    ----------
    topics : tuple of str
        Queries.
    level : tuple of str
        ``hard``, ``medium`` or ``easy``: the interval lies below, holds or lies above 0.
    mean, low, high, p_hard : (n_topics,) float arrays
        Topic effect with its interval, and P(effect < 0).
    score, score_low, score_high : (n_topics,) float arrays
        Expected score, averaged over the systems, with its interval.
    """

    command: ClassVar[str] = "difficulty"
    terminal: ClassVar[tuple[str, ...]] = (
        "topic", "difficulty", "mean", "low", "high", "p_hard", "score",
    )  # fmt: skip

    topics: tuple[str, ...]
    level: tuple[str, ...]
    mean: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    p_hard: FloatArray = field(repr=False)
    score: FloatArray = field(repr=False)
    score_low: FloatArray = field(repr=False)
    score_high: FloatArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """Topic, its class, its effect, its expected score."""
        return {
            "topic": list(self.topics),
            "difficulty": list(self.level),
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "p_hard": self.p_hard,
            "score": self.score,
            "score_low": self.score_low,
            "score_high": self.score_high,
        }
