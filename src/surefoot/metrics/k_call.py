"""k-call: whether the first n documents hold at least k relevant ones."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.metrics.measure import Conditions, Measure, TopicScores, bounded, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class KCall(Measure):
    """``kcall(k=3)@10``: 1 where at least k of the first n documents are relevant, else 0."""

    NAME: ClassVar[str] = "kcall"
    SHOWN: ClassVar[tuple[str, ...]] = ("k",)
    HAS_BOUNDS: ClassVar[bool] = True

    k: int = 1
    rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=True)
        if self.k < 1 or (self.cutoff is not None and self.k > self.cutoff):
            raise MeasureError(
                f"kcall(k=..)@{self.cutoff} needs k between 1 and {self.cutoff}, but got {self.k}"
            )

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """k-call on every topic."""
        gains = relevant_from(self.rel, conditions)
        return bounded(self.kernel("success", judged, conditions, gains=gains, at_least=self.k))
