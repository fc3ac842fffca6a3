"""Reciprocal rank of the first relevant document."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.measure import Conditions, Measure, TopicScores, bounded, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class ReciprocalRank(Measure):
    """``RR`` or ``RR@k``: 1 / rank of the first relevant document, else 0. Thesis Eq. 2.4."""

    NAME: ClassVar[str] = "RR"
    HAS_BOUNDS: ClassVar[bool] = True

    rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Reciprocal rank on every topic."""
        gains = relevant_from(self.rel, conditions)
        return bounded(self.kernel("reciprocal_rank", judged, conditions, gains=gains))
