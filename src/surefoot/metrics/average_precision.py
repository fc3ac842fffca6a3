"""Average precision."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.measure import Conditions, Measure, TopicScores, exact, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class AveragePrecision(Measure):
    """``AP`` or ``AP@k``: mean precision at the relevant documents, over all known relevant ones.

    Thesis Eq. 2.16 with grades made binary first, which the printed equation forgets (with graded
    values a perfect ranking would score below 1).
    """

    NAME: ClassVar[str] = "AP"

    rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Average precision on every topic."""
        gains = relevant_from(self.rel, conditions)
        return exact(self.kernel("average_precision", judged, conditions, gains=gains))
