"""What each unjudged document could add to a score, for measures that are sums over documents."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.contributions import contributions
from surefoot.metrics.cumulated_gain import CumulatedGain, DiscountedGain
from surefoot.metrics.measure import Conditions, Measure
from surefoot.metrics.precision import Precision
from surefoot.metrics.rbp import RankBiasedPrecision

# their weights depend on the rank alone; those of ERR and INST on the other documents as well
SUMS = (RankBiasedPrecision, CumulatedGain, DiscountedGain, Precision)

# documents worth less are not told apart
_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Worth:
    """Of one run, topic after topic of the judgments.

    Parameters
    ----------
    documents : tuple of dict
        Unjudged document -> what full gain for it adds to the score.
    rest : (n_topics,) float array
        The same for ranks that were not shown, and documents too far down to matter.
    """

    documents: tuple[dict[str, float], ...] = field(repr=False)
    rest: npt.NDArray[np.float64] = field(repr=False)


def unjudged_worth(
    measure: Measure, judged: JudgedRankings, conditions: Conditions | None = None
) -> Worth | None:
    """Worth of the unjudged documents; None for a measure that is no plain sum over documents."""
    conditions = conditions or Conditions()
    if not isinstance(measure, SUMS):
        return None
    found = contributions(measure, judged, conditions)
    full = measure.gains(judged, conditions).full
    unjudged = np.isnan(judged.grade[judged.offsets[found.topic] + found.rank - 1])
    worth = found.weight * full
    documents: tuple[dict[str, float], ...] = tuple({} for _ in judged.topics)
    for k in np.flatnonzero(unjudged & (worth >= _LEAST)):
        topic = int(found.topic[k])
        documents[topic][judged.doc_ids(topic)[found.rank[k] - 1]] = float(worth[k])
    score = measure.score(judged, conditions)
    known = np.array([sum(by_document.values()) for by_document in documents])
    rest = np.where(judged.in_run, np.maximum(score.upper - score.value - known, 0.0), 0.0)
    return Worth(documents, np.where(rest < 1e-12, 0.0, rest))
