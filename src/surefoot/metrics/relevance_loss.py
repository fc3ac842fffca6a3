"""R-Loss: relevant documents that a champion shows and a challenger loses."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.metrics.measure import Conditions, Measure, TopicScores, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceLoss(Measure):
    """``R-Loss@k``: max(0, relevant in the baseline's first k - relevant in the run's first k).

    A net count, per topic; summed over topics, as in the literature on risk-averse query expansion.
    """

    NAME: ClassVar[str] = "R-Loss"
    SUMMARY: ClassVar[str] = "sum"

    rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=True)

    def relevant_shown(
        self, judged: JudgedRankings, conditions: Conditions
    ) -> npt.NDArray[np.float64]:
        """Relevant documents among the first k, on every topic."""
        gains = relevant_from(self.rel, conditions)
        return np.ascontiguousarray(self.kernel("counted", judged, conditions, gains=gains)[:, 0])

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """R-Loss is between two runs; see `score_pair`."""
        raise MeasureError(
            f"{self} compares with a second run. Hint: --baseline NAME, one of the runs"
        )

    def score_pair(
        self, baseline: JudgedRankings, judged: JudgedRankings, conditions: Conditions
    ) -> TopicScores:
        """Loss of `judged` against `baseline` on every topic."""
        lost = self.relevant_shown(baseline, conditions) - self.relevant_shown(judged, conditions)
        value = np.maximum(lost, 0.0)
        return TopicScores(value, value, value)
