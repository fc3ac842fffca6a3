"""Binary preference, which looks at judged documents only."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.measure import Conditions, Measure, TopicScores, exact, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryPreference(Measure):
    """``bpref`` as in trec_eval: the share of judged non-relevant documents ranked below.

    Thesis Eq. 2.20 with grades made binary. A relevant document with no judged non-relevant one
    above it counts fully, also where none is judged at all. A negative grade takes no part, as in
    trec_eval, where it means "in the pool but not judged".
    """

    NAME: ClassVar[str] = "bpref"

    rel: float | None = None

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Bpref on every topic."""
        gains = relevant_from(self.rel, conditions)
        return exact(self.kernel("bpref", judged, conditions, gains=gains))
