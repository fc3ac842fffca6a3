"""BRisk-: risk-adjusted absolute scores, modelled with the systems' hierarchy (thesis, 4.3)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import ModelError
from surefoot.inference.bayes.predictive import central

FloatArray = npt.NDArray[np.float64]


def risk_adjusted(scores: ScoreMatrix, champion: str, r: float) -> ScoreMatrix:
    """Scores with the losses against the champion counted r times.

    Thesis, Eq. 4.5: ``challenger' = challenger - max((r - 1)(champion - challenger), 0)``. The
    champion's own scores stay as they are. Topics that the champion has no score for are dropped,
    because nothing can be adjusted there.
    """
    base = scores.row(champion)
    known = ~np.isnan(base)
    if not known.any():
        raise ModelError(f"the champion {champion!r} has no score on any topic")
    if not known.all():
        scores = scores.select(
            topics=[t for t, kept in zip(scores.topics, known, strict=True) if kept]
        )
        base = base[known]
    penalty = np.maximum((r - 1.0) * (base - scores.values), 0.0)
    return ScoreMatrix(scores.systems, scores.topics, scores.values - penalty)


@dataclass(frozen=True, slots=True)
class SystemRisk:
    """System effects on risk-adjusted scores, negated: higher is riskier (errata thesis-43).

    `mean`, `low`, `high` of each system; `overlaps` whether its interval overlaps the champion's;
    `p_riskier` the probability that it is riskier than the champion; `difference` with its ends,
    system minus champion.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    overlaps: npt.NDArray[np.bool_]
    p_riskier: FloatArray
    difference: FloatArray
    difference_low: FloatArray
    difference_high: FloatArray


def system_risk(effects: FloatArray, champion: int, *, interval: float = 0.95) -> SystemRisk:
    """BRisk- from draws of the system effects of the adjusted scores, (n_draws, n_systems)."""
    risk = np.ascontiguousarray(-effects.T)
    against = risk - risk[champion]
    p_riskier = (against > 0).mean(axis=1) + 0.5 * (against == 0).mean(axis=1)
    mean, difference = risk.mean(axis=1), against.mean(axis=1)
    low, _, high = central(risk, interval)
    difference_low, _, difference_high = central(against, interval)
    overlaps = (low <= high[champion]) & (high >= low[champion])
    return SystemRisk(
        mean, low, high, overlaps, p_riskier, difference, difference_low, difference_high
    )
