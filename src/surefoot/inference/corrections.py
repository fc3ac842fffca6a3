"""Corrections of p-values for many comparisons: Bonferroni, Holm and Benjamini-Hochberg."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError

Correction = Literal["none", "bonferroni", "holm", "bh"]
CORRECTIONS: tuple[Correction, ...] = ("none", "bonferroni", "holm", "bh")


def adjust(p_values: npt.ArrayLike, method: str) -> npt.NDArray[np.float64]:
    """Adjusted p-values, in the order given; NaN stays NaN and does not count as a comparison.

    A hypothesis is rejected at level a exactly when its adjusted p-value is at most a.

    Parameters
    ----------
    p_values : array of floats in [0, 1] or NaN
    method : {"none", "bonferroni", "holm", "bh"}
        "bonferroni" and "holm" control the chance of any false rejection (Holm rejects at least as
        much), "bh" the expected share of false ones among the rejections.

    References
    ----------
    Thesis, Section 2.3.3 and Eq. 2.29, where the rank i counts from 1: the smallest of m p-values
    is compared with a / m. Algorithm 2.2 as printed counts from 0 and compares it with a / (m + 1).
    Benjamini and Hochberg 1995.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03], "holm").round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.array(p_values, dtype=np.float64)
    if method not in CORRECTIONS:
        raise InputError(f"unknown correction {method!r}. Hint: one of {', '.join(CORRECTIONS)}")
    present = ~np.isnan(p)
    if ((p[present] < 0) | (p[present] > 1)).any():
        raise InputError("p-values must lie between 0 and 1")
    m = int(present.sum())
    if method == "none" or m == 0:
        return p
    flat = p[present]
    if method == "bonferroni":
        adjusted = np.minimum(flat * m, 1.0)
    else:
        order = np.argsort(flat, kind="stable")
        rank = np.arange(1, m + 1)
        if method == "holm":
            # Eq. 2.29: p_(i) is compared with a / (m - i + 1), and no later one may do better
            steps = np.maximum.accumulate(flat[order] * (m - rank + 1))
        else:
            steps = np.minimum.accumulate((flat[order] * m / rank)[::-1])[::-1]
        adjusted = np.empty(m)
        adjusted[order] = np.minimum(steps, 1.0)
    p[present] = adjusted
    return p


def thresholds(p_values: npt.ArrayLike, method: str, level: float) -> npt.NDArray[np.float64]:
    """What each p-value must stay below for its hypothesis to be rejected, the others as they are.

    The adjusted value of an entry below its threshold is below `level`, of one above it is not.
    NaN entries count as no comparison and have the threshold that a further hypothesis would have.
    """
    p = np.array(p_values, dtype=np.float64)
    out = np.empty(len(p))
    for i in range(len(p)):
        others = np.sort(np.delete(p, i))
        others = others[~np.isnan(others)]
        m = len(others) + 1
        if method == "none":
            out[i] = level
        elif method == "bonferroni":
            out[i] = level / m
        elif method == "holm":
            # the others that are rejected before this one is looked at
            passing = others * (m - np.arange(len(others))) < level
            out[i] = level / (m - np.logical_and.accumulate(passing).sum())
        else:
            # the k-th smallest is below k level / m when k - 1 of the others are
            k = np.arange(1, m + 1)
            enough = np.searchsorted(others, k * level / m, side="left") >= k - 1
            out[i] = k[enough].max() * level / m
    return out
