"""Risk per boosting round, on held-out queries: what callbacks report and early stopping reads."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.features import FeatureData
from surefoot.errors import InputError
from surefoot.learn.champion import Champions
from surefoot.learn.measures import score_queries
from surefoot.learn.objectives import Objective, Reduce
from surefoot.learn.profile import Doubles, geo_risk_of, standardised_deviations

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
        check_watched(self.stop_on, champion=self.champions is not None)
        measure = self.objective.learning_measure().build(self.data.offsets, self.data.labels)
        offsets, threads = self.data.offsets, self.threads
        self._score = lambda scores: score_queries(measure, offsets, scores, threads=threads)

    def evaluate(self, scores: npt.ArrayLike) -> dict[str, float]:
        """All watched values of one set of scores, `stop_on` first."""
        champion, baselines = None, 0
        if self.champions is not None:
            champion, baselines = self.champions.single().values[0], len(self.champions.names)
        return watch(
            self._score(scores),
            champion,
            alpha=self.objective.alpha,
            baselines=baselines,
            first=self.stop_on,
        )

    def record(self, scores: npt.ArrayLike) -> dict[str, float]:
        """`evaluate`, kept as the next round of the history."""
        found = self.evaluate(scores)
        self.history.append(found)
        return found

    def lightgbm(self, scores: npt.NDArray[Any], _: Any) -> list[tuple[str, float, bool]]:
        """The monitor as LightGBM's `feval`."""
        return [(name, value, WATCHED[name]) for name, value in self.record(scores).items()]

    def xgboost(self, scores: npt.NDArray[Any], _: Any) -> list[tuple[str, float]]:
        """The monitor as XGBoost's `custom_metric`."""
        return list(self.record(scores).items())


def check_watched(name: str, *, champion: bool) -> None:
    """Refuse what cannot be watched."""
    if name not in WATCHED:
        raise InputError(f"cannot stop on {name!r}. Hint: {', '.join(WATCHED)}")
    if not champion and name != "effectiveness":
        raise InputError(f"stopping on {name} needs a champion's validation scores")


def watch(
    values: Doubles,
    champion: Doubles | None,
    *,
    alpha: float,
    baselines: int = 1,
    first: str = "effectiveness",
    reduce: Reduce | None = None,
) -> dict[str, float]:
    """All watched values, from sums that add up over workers.

    Parameters
    ----------
    values : (n_queries,) float array
        Effectiveness of each query (of this worker).
    champion : (n_queries,) float array, optional
        The mean of the baselines.
    baselines : int
        How many they are: GeoRisk's population is they and the model.
    first : str
        The value to report first, where boosters look for early stopping.
    """
    add_up: Reduce = reduce if reduce is not None else (lambda sums: sums)
    mine = np.zeros(6)
    mine[:2] = values.size, values.sum()
    if champion is not None:
        delta = values - champion
        x = np.where(delta < 0, (1.0 + alpha) * delta, delta)
        column = values + baselines * champion
        large = delta < -0.2 * champion - 1e-12
        mine[2:] = x.sum(), (x * x).sum(), large.sum(), column.sum()
    count, total, total_x, squares, losses, grand = add_up(mine).tolist()
    found = {"effectiveness": total / count}
    if champion is not None:
        spread = (squares - total_x * total_x / count) / (count - 1.0) if count > 1 else 0.0
        found["u_risk"] = total_x / count
        # no spread at all means no risk and no reward
        steady = spread <= 1e-18
        found["t_risk"] = 0.0 if steady else total_x / math.sqrt(count * spread)
        z = standardised_deviations(values, column, total, grand)
        z_sum = float(add_up(np.array([np.where(z < 0, (1.0 + alpha) * z, z).sum()]))[0])
        found["geo_risk"] = geo_risk_of(total / count, z_sum / count)
        found["loss_over_20"] = losses
    return {first: found.pop(first), **found}
