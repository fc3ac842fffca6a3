"""R-precision."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.measure import Conditions, Measure, TopicScores, exact, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class RPrecision(Measure):
    """``Rprec``: precision at rank R, the number of known relevant documents."""

    NAME: ClassVar[str] = "Rprec"

    rel: float | None = None

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """R-precision on every topic."""
        gains = relevant_from(self.rel, conditions)
        return exact(self.kernel("r_precision", judged, conditions, gains=gains))
