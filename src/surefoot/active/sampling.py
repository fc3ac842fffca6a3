"""Which queries to label: the sampling distributions of Sawade et al. 2012 and their variants."""

import numpy as np
import numpy.typing as npt

from surefoot.active.moments import Moments
from surefoot.errors import InputError

FloatArray = npt.NDArray[np.float64]

VARIANTS = ("active", "passive", "uniD", "uniC")
FLOOR = 0.001
# a study that may stop early pays for every large weight with a wider interval
SEQUENTIAL_FLOOR = 0.3


def introspective(moments: Moments, p: FloatArray, *, compare: bool) -> FloatArray:
    """R_theta of the ranking, or Delta_theta of the first against each other (section 4)."""
    expected = moments.difference_mean if compare else moments.mean[:1]
    out: FloatArray = expected @ p
    return out


def spread(moments: Moments, p: FloatArray, *, compare: bool) -> FloatArray:
    """E[(L - R_theta)^2 | x] of Eq. 11, or E[(delta - Delta_theta)^2 | x] of Eq. 12.

    With more than two rankings, the sum over the comparisons of the first with each other, which
    minimises the sum of their variances by the same argument (Lemma 1).
    """
    centre = introspective(moments, p, compare=compare)[:, None]
    if compare:
        mean, variance = moments.difference_mean, moments.difference_variance
    else:
        mean, variance = moments.mean[:1], moments.variance[:1]
    out: FloatArray = (variance + (mean - centre) ** 2).sum(axis=0)
    return out


def sampling_distribution(
    variant: str,
    spread: FloatArray,
    cost: FloatArray,
    p: FloatArray,
    *,
    floor: float = FLOOR,
) -> FloatArray:
    """q of a variant of Sawade et al. 2012, Section 5.

    Parameters
    ----------
    variant : str
        ``active`` (Eqs 11 and 12); ``uniD``: the same with `spread` computed from uniform labels;
        ``uniC``: costs taken as equal; ``passive``: q = p.
    spread : (n_topics,) array
        From `spread`.
    cost, p : (n_topics,) arrays
        Price of each query, and the distribution of queries.
    floor : float
        q is at least about `floor` times p, so that Eq. 6 stays consistent whatever the model
        believes (errata Active-5). 0 leaves q* as it is.
    """
    if variant not in VARIANTS:
        raise InputError(f"variant must be one of {', '.join(VARIANTS)}, got {variant!r}")
    if not 0 <= floor < 1:
        raise InputError(f"floor must be at least 0 and below 1, got {floor:g}")
    if variant == "passive":
        return p.copy()
    price = np.ones_like(cost) if variant == "uniC" else cost
    q = p * np.sqrt(spread / price)  # Eqs 11, 12; Lemma 1
    total = q.sum()
    if not total > 0:
        # the model is certain that all queries are alike: only the price is left to choose by
        q = p / np.sqrt(price)
        total = q.sum()
    q = np.maximum(q / total, floor * p)
    normalised: FloatArray = q / q.sum()
    return normalised


def optimal_draws(budget: float, q: FloatArray, cost: FloatArray) -> float:
    """n* of Eqs 9 and 10: draws that the budget pays for on average, each paid in full."""
    return budget / float(cost @ q)


def relative_cost(q: FloatArray, spread: FloatArray, cost: FloatArray, p: FloatArray) -> float:
    """Cost of a given accuracy with q over its cost with p, if the model is right (Lemma 1)."""
    reached = float((p**2 * spread / q)[p > 0].sum()) * float(cost @ q)
    passive = float(p @ spread) * float(cost @ p)
    return reached / passive if passive > 0 else 1.0
