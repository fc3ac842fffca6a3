"""How large and how small a query's value can be, whatever the labels say."""

import numpy as np
import numpy.typing as npt

from surefoot.active.measure import GradedMeasure
from surefoot.active.moments import values
from surefoot.data.pool import Pool

FloatArray = npt.NDArray[np.float64]


def value_bounds(pool: Pool, measure: GradedMeasure) -> tuple[FloatArray, FloatArray]:
    """Bounds of every ranking's value, then of the first minus each other.

    Returns
    -------
    low, high : (2 n_rankings - 1, n_topics) arrays
        Sharp for sums of discounted gains. For ERR a difference is bounded by what the lists can
        reach below the beginning that they have in common, where they are equal.
    """
    rankings, m = len(pool.rankings), len(pool.topics)
    if measure.normalised:
        top = np.ones((rankings, m))
    else:
        # every measure grows with every grade
        top = values(pool, measure, np.full(len(pool.docs), pool.grades - 1, np.int64))
    low, high = np.zeros((2 * rankings - 1, m)), np.zeros((2 * rankings - 1, m))
    high[:rankings] = top
    for r in range(1, rankings):
        row = rankings + r - 1
        if measure.name == "ERR":
            low[row], high[row] = _err_difference(pool, measure, r)
        elif measure.normalised:
            low[row], high[row] = -1.0, 1.0
        else:
            low[row], high[row] = _linear_difference(pool, measure, r)
    return low, high


def _positions(pool: Pool, r: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Query and rank (from 0) of each entry of a ranking."""
    offset = pool.offsets[r]
    size = np.diff(offset)
    query = np.repeat(np.arange(len(size)), size)
    return query, np.arange(len(pool.items[r])) - np.repeat(offset[:-1], size)


def _linear_difference(pool: Pool, measure: GradedMeasure, r: int) -> tuple[FloatArray, FloatArray]:
    """All items that the first ranking favours at the top grade, the others at the lowest."""
    weight = np.zeros(len(pool.docs))
    for sign, k in ((1.0, 0), (-1.0, r)):
        _, rank = _positions(pool, k)
        discount = measure.discounts(int(rank.max(initial=-1)) + 1)
        padded = np.zeros(int(rank.max(initial=-1)) + 1)
        padded[: len(discount)] = discount
        weight[pool.items[k]] += sign * padded[rank]
    weight *= measure.gains(pool.grades)[-1]
    owner, m = pool.topic_of_item, len(pool.topics)
    high = np.bincount(owner, weights=np.maximum(weight, 0), minlength=m).astype(np.float64)
    low = np.bincount(owner, weights=np.minimum(weight, 0), minlength=m).astype(np.float64)
    return low, high


def _err_difference(pool: Pool, measure: GradedMeasure, r: int) -> tuple[FloatArray, FloatArray]:
    """What each list can add from the first rank on at which the two differ."""
    m = len(pool.topics)
    size = [np.diff(pool.offsets[k]) for k in (0, r)]
    if measure.depth is not None:
        size = [np.minimum(s, measure.depth) for s in size]
    shorter = np.minimum(*size)
    query, rank = _positions(pool, 0)
    inside = rank < shorter[query]
    query, rank = query[inside], rank[inside]
    differs = (
        pool.items[0][pool.offsets[0][query] + rank] != pool.items[r][pool.offsets[r][query] + rank]
    )
    first = np.where(size[0] == size[1], np.iinfo(np.int64).max, shorter)
    np.minimum.at(first, query[differs], rank[differs])
    longest = int(max(s.max(initial=0) for s in size))
    gain = float(measure.gains(pool.grades)[-1])
    rest = np.zeros(longest + 1)  # ERR from rank i on, everything at the top grade
    for i in range(longest - 1, -1, -1):
        rest[i] = gain / (i + 1) + (1 - gain) * rest[i + 1]
    reach = rest[np.minimum(first, longest)]
    reach[first >= np.maximum(*size)] = 0.0
    out = [np.where(first < s, reach, 0.0) for s in size]
    return -out[1].reshape(m), out[0].reshape(m)
