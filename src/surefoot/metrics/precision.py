"""Precision: the share of relevant documents among the first k, or among all retrieved."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.kernels.measures import Gains
from surefoot.metrics.measure import Conditions, Measure, TopicScores, bounded, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision(Measure):
    """``P@k``: relevant documents among the first k, divided by k even for a shorter list.

    Thesis Eq. 2.1. The bounds count the unjudged documents that were shown; ranks that a short list
    leaves empty show nothing and gain nothing.
    """

    NAME: ClassVar[str] = "P"
    HAS_BOUNDS: ClassVar[bool] = True

    rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=True)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Precision on every topic."""
        gains = self.gains(judged, conditions)
        return bounded(self.kernel("precision", judged, conditions, gains=gains))

    def gains(self, judged: JudgedRankings, conditions: Conditions) -> Gains:
        """Gains of these judgments."""
        return relevant_from(self.rel, conditions)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPrecision(Measure):
    """``SetP``: the share of relevant documents among all retrieved."""

    NAME: ClassVar[str] = "SetP"
    HAS_BOUNDS: ClassVar[bool] = True

    rel: float | None = None

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Set precision on every topic."""
        gains = relevant_from(self.rel, conditions)
        return bounded(self.kernel("set_precision", judged, conditions, gains=gains))
