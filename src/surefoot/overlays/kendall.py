"""Kendall's rank correlation between the scores that two overlays give to the same systems."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def kendall_tau(first: FloatArray, second: FloatArray) -> float:
    """Kendall's tau-b, which allows for ties; NaN where one side is constant.

    Parameters
    ----------
    first, second : (n,) float arrays
        Scores of the same items; an item with a NaN on either side is left out.
    """
    known = ~np.isnan(first) & ~np.isnan(second)
    x, y = first[known], second[known]
    agreement = 0.0
    ordered_x = ordered_y = 0.0
    for i in range(len(x) - 1):
        a, b = _order(x[i + 1 :], x[i]), _order(y[i + 1 :], y[i])
        agreement += float((a * b).sum())
        ordered_x += float(np.abs(a).sum())
        ordered_y += float(np.abs(b).sum())
    if ordered_x == 0 or ordered_y == 0:
        return float("nan")
    return agreement / float(np.sqrt(ordered_x * ordered_y))


def _order(values: FloatArray, one: np.float64) -> FloatArray:
    """1 above one, -1 below, 0 equal; infinite scores too."""
    out: FloatArray = (values > one).astype(np.float64) - (values < one)
    return out
