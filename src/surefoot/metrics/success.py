"""Success: whether any of the first k documents is relevant."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.measure import Conditions, Measure, TopicScores, bounded, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Success(Measure):
    """``Success@k``: 1 where one of the first k documents is relevant, else 0."""

    NAME: ClassVar[str] = "Success"
    HAS_BOUNDS: ClassVar[bool] = True

    rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=True)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Success on every topic."""
        gains = relevant_from(self.rel, conditions)
        return bounded(self.kernel("success", judged, conditions, gains=gains))
