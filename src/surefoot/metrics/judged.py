"""How many of the first k documents were judged at all."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.kernels.measures import Gains
from surefoot.metrics.measure import Conditions, Measure, TopicScores, exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Measure):
    """``Judged@k``: the judged share of the first k documents, of all of them without a k.

    A list shorter than k is divided by its own length: what it does not show cannot be unjudged.
    """

    NAME: ClassVar[str] = "Judged"

    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Judged share on every topic."""
        return exact(self.kernel("judged", judged, conditions, gains=Gains(kind="judged")))
