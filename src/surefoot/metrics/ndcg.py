"""Normalised discounted cumulated gain."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.cumulated_gain import check_discount, check_top, cumulated
from surefoot.metrics.gains import GainName, check_gain
from surefoot.metrics.measure import Conditions, Measure, TopicScores, exact


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalisedGain(Measure):
    """``nDCG`` or ``nDCG@k``: DCG divided by that of the ideal ranking (thesis Eq. 2.19).

    The ideal ranking holds all judged documents of the topic, best first, and is cut at k as well.
    A topic without a gain scores 0. Options as in `DiscountedGain`. No residual: the ideal itself
    depends on what is unjudged.
    """

    NAME: ClassVar[str] = "nDCG"

    gain: GainName = "linear"
    rel: float | None = None
    max_rel: float | None = None
    discount: str = "log2"
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)
        check_gain(self.gain)
        check_top(self.max_rel)
        check_discount(self.discount)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Normalised gain on every topic."""
        gains = cumulated(self.gain, self.rel, self.max_rel, judged, conditions)
        return exact(
            self.kernel("normalised_gain", judged, conditions, gains=gains, discount=self.discount)
        )
