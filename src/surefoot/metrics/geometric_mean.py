"""The geometric mean over topics, which bad topics pull down."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.metrics.measure import Conditions, Measure, TopicScores

FLOOR = 1e-5
"""A score below this counts as this, as in trec_eval: one zero would make the whole mean zero."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricMean(Measure):
    """``GM(AP)``: per topic the inner measure; over topics exp(mean(log(max(score, 1e-5)))).

    Thesis Eq. 2.17, with trec_eval's floor.
    """

    NAME: ClassVar[str] = "GM"
    SUMMARY: ClassVar[str] = "geometric"

    of: Measure

    def __post_init__(self) -> None:
        if self.of.SUMMARY != "mean":
            raise MeasureError(f"{self.of} has no geometric mean")

    @property
    def has_bounds(self) -> bool:
        """As the inner measure."""
        return self.of.has_bounds

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """The inner measure on every topic."""
        return self.of.score(judged, conditions)

    def __str__(self) -> str:
        return f"GM({self.of})"
