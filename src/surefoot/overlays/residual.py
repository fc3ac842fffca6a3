"""Risk when scores are only known within bounds: what no further judgment can change.

From the bounds of scores alone, each cell's are an interval of its own. Champion and challenger
share unjudged documents, so some combinations allowed here cannot occur: the ranges are
conservative, they enclose the truth and may be wider than it.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Certainty:
    """How many topics are decided whatever the unjudged documents are."""

    losses: int
    wins: int
    ties: int
    undecided: int


def certainty(low: FloatArray, high: FloatArray) -> Certainty:
    """Count topics whose difference lies in [low, high] by what is certain about them."""
    known = ~np.isnan(low) & ~np.isnan(high)
    losses = int(np.count_nonzero(known & (high < 0)))
    wins = int(np.count_nonzero(known & (low > 0)))
    ties = int(np.count_nonzero(known & (low == 0) & (high == 0)))
    return Certainty(losses, wins, ties, int(known.sum()) - losses - wins - ties)


def difference_bounds(
    system: tuple[FloatArray, FloatArray], champion: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the difference from the (lower, upper) bounds of both scores."""
    return system[0] - champion[1], system[1] - champion[0]


def t_range(low: FloatArray, high: FloatArray) -> tuple[float, float]:
    """Range of t = mean / (s / sqrt(n)) over all x with low <= x <= high.

    Parameters
    ----------
    low, high : (n,) float arrays
        Bounds of each topic's risk-adjusted difference, without NaN.

    Returns
    -------
    lowest, highest : float
        Enclosing values: infinite where a completion without variance exists, NaN below two topics.

    Notes
    -----
    t is an increasing function of rho = sum(x) / (sqrt(n) |x|), the cosine between x and the vector
    of ones. Where sums above zero are possible, rho is quasi-concave there, and its maximum is at
    x_i = clip(lambda, low_i, high_i) for one lambda, found exactly from the sorted bounds. Where no
    completion has a sum above zero the highest t is the least negative one: a quasi-concave
    function is then minimised over the box, which puts all topics but at most one at an end of
    their bounds; letting that one take a chord between its ends gives a bound that encloses and is
    attained but for that single topic.
    """
    if len(low) < 2:
        return float("nan"), float("nan")
    n = len(low)
    highest = _t(_highest_cosine(low, high), n)
    lowest = -_t(_highest_cosine(-high, -low), n)
    return lowest + 0.0, highest + 0.0  # no minus zero


def _t(rho: float, n: int) -> float:
    """The t statistic of a sample whose cosine with the ones is rho."""
    rest = 1.0 - rho * rho
    if rest <= 1e-15:
        return float(np.copysign(np.inf, rho))
    return float(np.sqrt(n - 1) * rho / np.sqrt(rest))


def _highest_cosine(low: FloatArray, high: FloatArray) -> float:
    n = len(low)
    if high.sum() > 0:
        return _highest_positive(low, high) / math.sqrt(n)
    return -_lowest_positive(-high, -low) / math.sqrt(n)


def _highest_positive(low: FloatArray, high: FloatArray) -> float:
    """Maximum of sum(x)/|x| where some sum is above zero: x_i = clip(lambda, low_i, high_i)."""
    edges = np.unique(np.concatenate([low, high, [0.0]]))
    edges = edges[edges >= 0]
    nexts = np.append(edges[1:], edges[-1])
    order_low, order_high = np.sort(low), np.sort(high)
    # for lambda in [edge, next]: topics with low > edge stay at low, with high <= edge at high
    at_low = np.searchsorted(order_low, edges, side="right")
    at_high = np.searchsorted(order_high, edges, side="right")
    # so that sum(x) = a + k lambda and sum(x^2) = b + k lambda^2, stationary at lambda = b / a
    a = _sums_from(order_low)[at_low] + _sums_to(order_high)[at_high]
    b = _sums_from(order_low**2)[at_low] + _sums_to(order_high**2)[at_high]
    k = at_low - at_high
    stationary = nexts.copy()
    np.divide(b, a, out=stationary, where=a > 0)
    best = 0.0
    for point in (edges, nexts, np.clip(stationary, edges, nexts)):
        norm = np.sqrt(np.maximum(b + k * point**2, 0.0))
        ratio = np.zeros(len(point))
        np.divide(a + k * point, norm, out=ratio, where=norm > 0)
        best = max(best, float(ratio.max()))
    return best


def _sums_from(ordered: FloatArray) -> FloatArray:
    """Sums of ordered[i:], for i = 0..n."""
    return np.append(np.cumsum(ordered[::-1])[::-1], 0.0)


def _sums_to(ordered: FloatArray) -> FloatArray:
    """Sums of ordered[:i], for i = 0..n."""
    return np.insert(np.cumsum(ordered), 0, 0.0)


def _lowest_positive(low: FloatArray, high: FloatArray) -> float:
    """A lower bound, tight but for one topic, of sum(y)/|y| where no sum is below zero.

    With A = sum(y) and B = sum(y^2), a topic moved from its lower to its upper end raises A by its
    width and B by width x (low + high). Taking topics by falling low + high traces the largest B
    for every A, piecewise linear; A / sqrt(B) is least on that path.
    """
    slope = low + high
    order = np.argsort(-slope, kind="stable")
    slope, width = slope[order], (high - low)[order]
    a = low.sum() + np.insert(np.cumsum(width), 0, 0.0)
    b = (low**2).sum() + np.insert(np.cumsum(width * slope), 0, 0.0)
    # along one segment B = B0 + (A - A0) slope, and A^2 / B is least at A = 2 (A0 - B0 / slope)
    middle = np.zeros(len(slope))
    np.divide(b[:-1], slope, out=middle, where=slope != 0)
    middle = np.clip(2 * (a[:-1] - middle), a[:-1], a[1:])
    points = np.concatenate([a, middle])
    squares = np.concatenate([b, b[:-1] + (middle - a[:-1]) * slope])
    # no topic differs: the ratio is 0 by convention, as in t_risk
    ratio = np.zeros(len(points))
    np.divide(points, np.sqrt(np.maximum(squares, 0.0)), out=ratio, where=squares > 1e-300)
    return float(max(ratio.min(), 0.0))
