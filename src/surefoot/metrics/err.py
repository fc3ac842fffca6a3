"""Expected reciprocal rank."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.kernels.measures import Gains
from surefoot.metrics.cumulated_gain import check_top
from surefoot.metrics.gains import top_grade
from surefoot.metrics.measure import Conditions, Measure, TopicScores, bounded

VARIANTS = ("chapelle", "thesis")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedReciprocalRank(Measure):
    """``ERR`` or ``ERR@k``: the expected 1/rank at which a user is satisfied.

    Chapelle et al. 2009: a document of grade g satisfies with probability (2^g - 1) / 2^max. The
    thesis' Eq. 2.10 has (2^r - 1) / 2 for r = g / max instead (``variant='thesis'``): equal for
    binary judgments only (grade 2 of 4: .2071 against .1875).
    """

    NAME: ClassVar[str] = "ERR"
    HAS_BOUNDS: ClassVar[bool] = True

    max_rel: float | None = None
    variant: str = "chapelle"
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)
        check_top(self.max_rel)
        if self.variant not in VARIANTS:
            raise MeasureError(
                f"variant must be one of {', '.join(VARIANTS)}, but got {self.variant!r}"
            )

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Expected reciprocal rank on every topic."""
        gains = self.gains(judged, conditions)
        return bounded(self.kernel("expected_reciprocal_rank", judged, conditions, gains=gains))

    def gains(self, judged: JudgedRankings, conditions: Conditions) -> Gains:
        """Probabilities of satisfaction under these judgments."""
        top = top_grade(self.max_rel, judged.max_grade)
        if self.variant == "thesis":
            return Gains(kind="thesis", top=top, full=0.5)
        scale = 2.0**-top
        return Gains(kind="exponential", top=top, scale=scale, full=1.0 - scale)
