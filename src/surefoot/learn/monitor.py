"""Risk per boosting round, on held-out queries: what callbacks report and early stopping reads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.features import FeatureData
from surefoot.errors import InputError
from surefoot.learn.champion import Champions
from surefoot.learn.measures import LearningMeasure, score_queries
from surefoot.learn.objectives import Objective
from surefoot.learn.profile import geo_risk, risk_profile

# name -> whether higher is better
WATCHED = {
    "effectiveness": True,
    "u_risk": True,
    "t_risk": True,
    "geo_risk": True,
    "loss_over_20": False,
}


@dataclass(slots=True, eq=False)
class RiskMonitor:
    """Evaluates scores on one collection; keeps the history.

    Parameters
    ----------
    data : FeatureData
        Held-out queries.
    objective : Objective
        Its measure and alpha are used.
    champions : Champions, optional
        Without them only effectiveness is watched.
    stop_on : str
        One of `WATCHED`; it is reported first, where boosters look for early stopping.
    """

    data: FeatureData
    objective: Objective
    champions: Champions | None = None
    stop_on: str = "effectiveness"
    threads: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    _score: Callable[[npt.ArrayLike], npt.NDArray[np.float64]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.stop_on not in WATCHED:
            raise InputError(f"cannot stop on {self.stop_on!r}. Hint: {', '.join(WATCHED)}")
        if self.champions is None and self.stop_on != "effectiveness":
            raise InputError(f"stopping on {self.stop_on} needs a champion's validation scores")
        measure = LearningMeasure.parse(
            self.objective.measure, label_gain=self.objective.label_gain
        ).build(self.data.offsets, self.data.labels)
        offsets, threads = self.data.offsets, self.threads
        self._score = lambda scores: score_queries(measure, offsets, scores, threads=threads)

    def evaluate(self, scores: npt.ArrayLike) -> dict[str, float]:
        """All watched values of one set of scores, `stop_on` first."""
        values = self._score(scores)
        found = {"effectiveness": float(values.mean())}
        if self.champions is not None:
            alpha = self.objective.alpha
            profile = risk_profile(values, self.champions.single().values[0], alpha=alpha)
            found["u_risk"] = profile.u_risk
            # no spread at all means no risk and no reward
            found["t_risk"] = 0.0 if np.isnan(profile.t_risk) else profile.t_risk
            found["geo_risk"] = geo_risk(values, self.champions.values, alpha=alpha)
            found["loss_over_20"] = float(profile.loss_over_20)
        return {self.stop_on: found.pop(self.stop_on), **found}

    def record(self, scores: npt.ArrayLike) -> dict[str, float]:
        """`evaluate`, kept as the next round of the history."""
        found = self.evaluate(scores)
        self.history.append(found)
        return found

    def lightgbm(self, scores: npt.NDArray[Any], _: Any) -> list[tuple[str, float, bool]]:
        """The monitor as LightGBM's `feval`."""
        return [(name, value, WATCHED[name]) for name, value in self.record(scores).items()]
