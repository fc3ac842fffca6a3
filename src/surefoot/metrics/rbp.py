"""Rank-biased precision."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.kernels.measures import Gains
from surefoot.metrics.cumulated_gain import check_top
from surefoot.metrics.gains import GainName, check_gain, gains_of, top_grade
from surefoot.metrics.measure import Conditions, Measure, TopicScores, bounded


@dataclass(frozen=True, slots=True, kw_only=True)
class RankBiasedPrecision(Measure):
    """``RBP(p=0.8)``: the gain a user sees who goes on to the next rank with probability p.

    Moffat & Zobel 2008; thesis Eqs. 2.6-2.9. Gain is grade / largest grade; ``gain='binary'`` or
    ``rel=`` counts relevant documents as 1. The upper bound gives full gain to unjudged documents
    and to everything beyond the last rank, where the user goes on with probability p^n.
    """

    NAME: ClassVar[str] = "RBP"
    SHOWN: ClassVar[tuple[str, ...]] = ("p",)
    HAS_BOUNDS: ClassVar[bool] = True

    p: float = 0.8
    gain: GainName = "linear"
    rel: float | None = None
    max_rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)
        if not 0 <= self.p < 1:
            raise MeasureError(f"RBP needs 0 <= p < 1, but got p={self.p:g}")
        check_gain(self.gain)
        check_top(self.max_rel)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Rank-biased precision on every topic."""
        gains = self.gains(judged, conditions)
        return bounded(
            self.kernel("rank_biased_precision", judged, conditions, gains=gains, parameter=self.p)
        )

    def gains(self, judged: JudgedRankings, conditions: Conditions) -> Gains:
        """Gains of these judgments."""
        return unit_gains(self.gain, self.rel, self.max_rel, judged, conditions)


def unit_gains(
    gain: GainName,
    rel: float | None,
    max_rel: float | None,
    judged: JudgedRankings,
    conditions: Conditions,
) -> Gains:
    """Gains in [0, 1]; a relevance level of the measure's own makes them binary."""
    top = top_grade(max_rel, judged.max_grade)
    level = conditions.level if rel is None else rel
    name = "binary" if rel is not None and gain == "linear" else gain
    return gains_of(name, top=top, level=level, unit=True)
