"""What each rank adds to a score, for models of single ranks."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.kernels.measures import contributions_by_rank
from surefoot.metrics.cumulated_gain import CumulatedGain, DiscountedGain
from surefoot.metrics.err import ExpectedReciprocalRank
from surefoot.metrics.inst import Inst
from surefoot.metrics.measure import Conditions, Measure, ranked
from surefoot.metrics.precision import Precision
from surefoot.metrics.rbp import RankBiasedPrecision


@dataclass(frozen=True, slots=True)
class Contributions:
    """Rows of one run, topic after topic in rank order; unjudged documents are worth nothing.

    `topic` indexes the judgments' topics and `rank` starts at 1; a topic's score is the sum of its
    ``weight * gain``.
    """

    topic: npt.NDArray[np.int64] = field(repr=False)
    rank: npt.NDArray[np.int64] = field(repr=False)
    weight: npt.NDArray[np.float64] = field(repr=False)
    gain: npt.NDArray[np.float64] = field(repr=False)

    @property
    def score(self) -> npt.NDArray[np.float64]:
        """What each rank adds."""
        return self.weight * self.gain


def contributions(
    measure: Measure, judged: JudgedRankings, conditions: Conditions | None = None
) -> Contributions:
    """Weight and gain at each rank, for P, RBP, CG, DCG, ERR and INST."""
    conditions = conditions or Conditions()
    discount = None
    parameter = 0.0
    if isinstance(measure, RankBiasedPrecision):
        name, gains, parameter = "rank_biased_precision", measure.gains, measure.p
    elif isinstance(measure, ExpectedReciprocalRank):
        name, gains = "expected_reciprocal_rank", measure.gains
    elif isinstance(measure, Inst):
        name, gains, parameter = "inst", measure.gains, measure.T
    elif isinstance(measure, DiscountedGain):
        name, gains, discount = "cumulated_gain", measure.gains, measure.discount
    elif isinstance(measure, (CumulatedGain, Precision)):
        name, gains = "cumulated_gain", measure.gains
    else:
        raise MeasureError(f"{measure} is no sum over ranks. Hint: P, RBP, CG, DCG, ERR or INST")
    cutoff = measure.cutoff or 0
    weight, gain = contributions_by_rank(
        name,
        ranked(judged),
        gains=gains(judged, conditions),
        ties=conditions.kernel_ties,
        depth=conditions.depth,
        cutoff=cutoff,
        parameter=parameter,
        discount=discount,
        threads=conditions.threads,
    )
    if isinstance(measure, Precision):
        weight = weight / cutoff
    shown = np.diff(judged.offsets)
    topic = np.repeat(np.arange(len(shown)), shown)
    rank = np.arange(len(weight)) - judged.offsets[topic] + 1
    limit = min(cutoff or len(weight) + 1, conditions.depth or len(weight) + 1)
    keep = rank <= limit
    return Contributions(topic[keep], rank[keep], weight[keep], gain[keep])
