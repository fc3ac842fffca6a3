"""Cumulated gain, with and without a discount for the rank."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.kernels.measures import Gains
from surefoot.metrics.gains import GainName, check_gain, gains_of, top_grade
from surefoot.metrics.measure import Conditions, Measure, TopicScores, bounded

DISCOUNTS = ("log2", "letor")


@dataclass(frozen=True, slots=True, kw_only=True)
class CumulatedGain(Measure):
    """``CG@k``: the sum of the gains of the first k documents (thesis Eq. 2.13)."""

    NAME: ClassVar[str] = "CG"
    HAS_BOUNDS: ClassVar[bool] = True

    gain: GainName = "linear"
    rel: float | None = None
    max_rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)
        check_gain(self.gain)
        check_top(self.max_rel)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Cumulated gain on every topic."""
        return bounded(
            self.kernel("cumulated_gain", judged, conditions, gains=self.gains(judged, conditions))
        )

    def gains(self, judged: JudgedRankings, conditions: Conditions) -> Gains:
        """Gains of these judgments."""
        return cumulated(self.gain, self.rel, self.max_rel, judged, conditions)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscountedGain(Measure):
    """``DCG`` or ``DCG@k``: gains divided by log2(rank + 1) (thesis Eqs. 2.14, 2.15).

    Linear gain by default, as in trec_eval and the thesis; ``gain='exp'`` is 2^grade - 1, as in
    gdeval and the learning-to-rank tools. ``discount='letor'`` leaves ranks 1 and 2 undiscounted
    and divides by log2(rank) from there, as Microsoft's LETOR scripts do.
    """

    NAME: ClassVar[str] = "DCG"
    HAS_BOUNDS: ClassVar[bool] = True

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
        """Discounted cumulated gain on every topic."""
        return bounded(
            self.kernel(
                "cumulated_gain",
                judged,
                conditions,
                gains=self.gains(judged, conditions),
                discount=self.discount,
            )
        )

    def gains(self, judged: JudgedRankings, conditions: Conditions) -> Gains:
        """Gains of these judgments."""
        return cumulated(self.gain, self.rel, self.max_rel, judged, conditions)


def cumulated(
    gain: GainName,
    rel: float | None,
    max_rel: float | None,
    judged: JudgedRankings,
    conditions: Conditions,
) -> Gains:
    """Gains that add up, so not scaled to [0, 1]."""
    level = conditions.level if rel is None else rel
    top = top_grade(max_rel, judged.max_grade)
    return gains_of(gain, top=top, level=level, unit=False)


def check_top(max_rel: float | None) -> None:
    """Refuse a largest grade that is not one."""
    if max_rel is not None and not 0 < max_rel < float("inf"):
        raise MeasureError(f"max_rel must be above 0, but got {max_rel:g}")


def check_discount(discount: str) -> None:
    """Refuse an unknown discount."""
    if discount not in DISCOUNTS:
        raise MeasureError(f"discount must be one of {', '.join(DISCOUNTS)}, but got {discount!r}")
