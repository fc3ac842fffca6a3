"""LambdaMART gradients with every pair written out and every swap carried out."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
# gains in ranked order -> effectiveness
Measure = Callable[[Array], float]


def ndcg(ideal: Sequence[float], cutoff: int) -> Measure:
    """Sum of gain / log2(rank + 1) down to the cut-off, over that of the ideal order."""
    best = sorted(ideal, reverse=True)[:cutoff]
    total = sum(g / math.log2(r + 2) for r, g in enumerate(best))

    def measure(gain: Array) -> float:
        got = sum(g / math.log2(r + 2) for r, g in enumerate(gain[:cutoff]))
        return float(got / total) if total > 0 else 0.0

    return measure


def rank_biased_precision(p: float, cutoff: int) -> Measure:
    """(1 - p) sum of p^(rank - 1) gain."""
    return lambda gain: float(sum((1 - p) * p**r * g for r, g in enumerate(gain[:cutoff])))


def average_precision(cutoff: int) -> Measure:
    """Mean over the relevant documents of the precision at their rank, zero beyond the cut-off."""

    def measure(gain: Array) -> float:
        relevant = float(np.sum(gain))
        hits = 0.0
        total = 0.0
        for r, g in enumerate(gain[:cutoff]):
            hits += g
            total += hits / (r + 1) if g > 0 else 0.0
        return total / relevant if relevant > 0 else 0.0

    return measure


def expected_reciprocal_rank(cutoff: int) -> Measure:
    """Chapelle et al. 2009."""

    def measure(gain: Array) -> float:
        reach = 1.0
        total = 0.0
        for r, g in enumerate(gain[:cutoff]):
            total += reach * g / (r + 1)
            reach *= 1.0 - g
        return float(total)

    return measure


def inst(expected_total: float) -> Measure:
    """Moffat et al. 2015, Eqs 1-3, with the closed all-zero tail (errata INST-3)."""
    from scipy.special import polygamma

    def measure(gain: Array) -> float:
        weight = 1.0
        outstanding = expected_total
        top = bottom = 0.0
        for i, g in enumerate(gain, start=1):
            top += weight * g
            bottom += weight
            outstanding -= g
            a = i + expected_total + outstanding
            weight *= ((a - 1) / a) ** 2
        a = len(gain) + expected_total + outstanding
        return float(top / (bottom + weight * a * a * polygamma(1, a)))

    return measure


def u_risk_term(value: float, champion: float, alpha: float) -> float:
    """One query's part of URisk: losses weigh 1 + alpha."""
    delta = value - champion
    return delta if delta >= 0 else (1 + alpha) * delta


def geo_risk(value: Array, champions: Array, alpha: float) -> float:
    """GeoRisk of the first row of a systems x topics matrix (Dincer et al. 2016)."""
    row_total, column = value.sum(), value + champions.sum(axis=0)
    expected = row_total * column / column.sum()
    z = np.array(
        [(x - e) / math.sqrt(e) if e > 0 else 0.0 for x, e in zip(value, expected, strict=True)]
    )
    z_risk = z[z > 0].sum() + (1 + alpha) * z[z < 0].sum()
    return math.sqrt(row_total / value.size * normal_cdf(z_risk / value.size))


def geo_risk_refreshed(
    value: Array, champions: Array, alpha: float, topic: int, change: float
) -> float:
    """GeoRisk after one topic's score changed, with only that topic's z renewed."""
    column = value + champions.sum(axis=0)
    expected = value.sum() * column / column.sum()
    z = np.array(
        [(x - e) / math.sqrt(e) if e > 0 else 0.0 for x, e in zip(value, expected, strict=True)]
    )
    e = (value.sum() + change) * (column[topic] + change) / (column.sum() + change)
    z[topic] = (value[topic] + change - e) / math.sqrt(e) if e > 0 else 0.0
    z_risk = z[z > 0].sum() + (1 + alpha) * z[z < 0].sum()
    mean = (value.sum() + change) / value.size
    return math.sqrt(mean * normal_cdf(z_risk / value.size))


def normal_cdf(x: float) -> float:
    """Phi."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def swapped(gain: Array, i: int, j: int) -> Array:
    """Gains after the documents at positions i and j traded places."""
    out = gain.copy()
    out[i], out[j] = out[j], out[i]
    return out


def query_lambdas(
    score: Array,
    label: Array,
    gain: Array,
    measure: Measure,
    change: Callable[[float, float], float],
    *,
    truncation: int,
    sigmoid: float = 1.0,
    normalise: bool = False,
    risk_free_sum: bool = True,
) -> tuple[Array, Array]:
    """Gradient and hessian of one query's documents.

    Parameters
    ----------
    change : callable
        (effectiveness before, after a swap) -> what the swap is worth, not negative.
    risk_free_sum : bool
        Normalise by the lambdas of the measure itself rather than of the objective.
    """
    order = np.argsort(-score, kind="stable")
    ranked = gain[order]
    before = measure(ranked)
    gradient, hessian = np.zeros(score.size), np.zeros(score.size)
    total = 0.0
    spread = score.max() != score.min()
    for i in range(min(score.size - 1, truncation)):
        for j in range(i + 1, score.size):
            a, b = int(order[i]), int(order[j])
            if label[a] == label[b]:
                continue
            high, low = (a, b) if label[a] > label[b] else (b, a)
            after = measure(swapped(ranked, i, j))
            distance = 0.01 + abs(score[high] - score[low]) if normalise and spread else 1.0
            weight = change(before, after) / distance
            p = 1 / (1 + math.exp(sigmoid * (score[high] - score[low])))
            pull = sigmoid * p * weight
            gradient[high] -= pull
            gradient[low] += pull
            curve = sigmoid**2 * p * (1 - p) * weight
            hessian[high] += curve
            hessian[low] += curve
            own = abs(after - before) / distance if risk_free_sum else weight
            total += 2 * sigmoid * p * own
    if normalise and total > 0:
        factor = math.log2(1 + total) / total
        gradient *= factor
        hessian *= factor
    return gradient, hessian
