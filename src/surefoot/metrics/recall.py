"""Recall: the share of the known relevant documents that the ranking found."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.measure import Conditions, Measure, TopicScores, exact, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Measure):
    """``R@k``, or ``R`` over the whole ranking: thesis Eq. 2.2; 0 where nothing is relevant."""

    NAME: ClassVar[str] = "R"

    rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Recall on every topic."""
        gains = relevant_from(self.rel, conditions)
        return exact(self.kernel("recall", judged, conditions, gains=gains))
