"""What a model of relevance expects of each query: mean and variance of the measure."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.active.inst import inst
from surefoot.active.measure import GradedMeasure
from surefoot.data.pool import Pool
from surefoot.kernels import active as kernel

FloatArray = npt.NDArray[np.float64]

SAMPLES = 128


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of every query under p(y | x, z; theta).

    Parameters
    ----------
    mean, variance : (n_rankings, n_topics) arrays
        Of each ranking's value.
    difference_variance : (n_rankings - 1, n_topics) array
        Of the first ranking's value minus that of each other ranking.
    """

    mean: FloatArray
    variance: FloatArray
    difference_variance: FloatArray

    @property
    def difference_mean(self) -> FloatArray:
        """E[delta] of the first ranking against each other."""
        out: FloatArray = self.mean[0] - self.mean[1:]
        return out

    @staticmethod
    def join(parts: "list[Moments]") -> "Moments":
        """The moments of blocks of queries, one after the other."""
        return Moments(
            np.concatenate([p.mean for p in parts], axis=1),
            np.concatenate([p.variance for p in parts], axis=1),
            np.concatenate([p.difference_variance for p in parts], axis=1),
        )


def moments(pool: Pool, measure: GradedMeasure, *, threads: int = 0) -> Moments:
    """Mean and variance by dynamic programming (Sawade et al., Theorem 3), exact for DCG, ERR, RBP.

    nDCG and INST are quotients of sums over the labels and have no such recurrence: their moments
    are those of `SAMPLES` label vectors drawn from the model. The sampling distribution need not be
    exact for the estimate to be consistent, it only has to be positive.
    """
    gain = measure.gains(pool.grades)
    m = len(pool.topics)
    rankings = len(pool.rankings)
    mean, variance = np.empty((rankings, m)), np.empty((rankings, m))
    difference = np.empty((rankings - 1, m))
    if measure.name == "ERR":
        for r in range(rankings):
            mean[r], variance[r] = kernel.err_moments(
                pool.probability,
                gain,
                pool.offsets[r],
                pool.items[r],
                depth=measure.depth,
                threads=threads,
            )
        for r in range(1, rankings):
            covariance = kernel.err_covariance(
                pool.probability,
                gain,
                pool.item_offset,
                pool.offsets[0],
                pool.items[0],
                pool.offsets[r],
                pool.items[r],
                depth=measure.depth,
                threads=threads,
            )
            # identical rankings: the exact 0 may come out a rounding error below it
            difference[r - 1] = np.maximum(variance[0] + variance[r] - 2 * covariance, 0.0)
        return Moments(mean, variance, difference)
    if measure.normalised:
        return _sampled(pool, measure)
    discount = measure.discounts(_longest(pool))
    for r in range(rankings):
        mean[r], variance[r] = kernel.linear_moments(
            pool.probability,
            gain,
            pool.item_offset,
            discount,
            pool.offsets[r],
            pool.items[r],
            threads=threads,
        )
    for r in range(1, rankings):
        _, difference[r - 1] = kernel.linear_moments(
            pool.probability,
            gain,
            pool.item_offset,
            discount,
            pool.offsets[0],
            pool.items[0],
            pool.offsets[r],
            pool.items[r],
            threads=threads,
        )
    return Moments(mean, variance, difference)


def values(pool: Pool, measure: GradedMeasure, grade: npt.NDArray[np.int64]) -> FloatArray:
    """L(r(x), y) of every ranking and query under known labels, (n_rankings, n_topics).

    Parameters
    ----------
    grade : (n_items,) int array
        Label of each item.
    """
    # a known label is a distribution with all its mass on one gain
    gained = measure.gains(pool.grades)[grade][:, None]
    one = np.ones(1)
    out = np.empty((len(pool.rankings), len(pool.topics)))
    discount = measure.discounts(_longest(pool))
    for r, (offset, items) in enumerate(zip(pool.offsets, pool.items, strict=True)):
        if measure.name == "INST":
            out[r] = _inst(pool, measure, gained[:, 0], r)
        elif measure.name == "ERR":
            out[r], _ = kernel.err_moments(gained, one, offset, items, depth=measure.depth)
        else:
            out[r], _ = kernel.linear_moments(
                gained, one, pool.item_offset, discount, offset, items
            )
    if measure.name == "nDCG":
        out *= _reciprocal(ideal(pool.item_offset, gained[:, 0], discount))
    return out


def _sampled(pool: Pool, measure: GradedMeasure) -> Moments:
    """Moments of label vectors drawn from the model; the same pool gives the same."""
    rng = np.random.default_rng(0)
    below = pool.probability.cumsum(axis=1)[:, :-1]
    rankings, m = len(pool.rankings), len(pool.topics)
    # sums of values and differences less the first draw, and of their squares
    centre = total = square = np.empty(0)
    for k in range(SAMPLES):
        grade = (rng.random(len(pool.docs))[:, None] >= below).sum(axis=1)
        found = values(pool, measure, grade)
        both = np.concatenate([found, found[0] - found[1:]])
        if k == 0:
            centre, total, square = both, np.zeros_like(both), np.zeros_like(both)
        total += both - centre
        square += (both - centre) ** 2
    mean = total / SAMPLES
    variance = (square / SAMPLES - mean**2) * (SAMPLES / (SAMPLES - 1))
    variance = np.maximum(variance, 0.0).reshape(2 * rankings - 1, m)
    return Moments((centre + mean)[:rankings], variance[:rankings], variance[rankings:])


def _inst(
    pool: Pool, measure: GradedMeasure, gained: FloatArray, r: int, queries: int = 2000
) -> FloatArray:
    """INST of one ranking of every query, in blocks of rows as long as the longest list."""
    offset, items = pool.offsets[r], pool.items[r]
    size = np.diff(offset)
    if measure.depth is not None:
        size = np.minimum(size, measure.depth)
    score = np.zeros(len(size))
    for begin in range(0, len(size), queries):
        rows = np.arange(begin, min(begin + queries, len(size)))
        rank = np.arange(int(size[rows].max(initial=0)))
        shown = rank < size[rows, None]
        item = items[np.minimum(offset[rows, None] + rank, len(items) - 1)]
        score[rows] = inst(np.where(shown, gained[item], 0.0), measure.wanted)
    return score


def ideal(
    item_offset: npt.NDArray[np.int64], gained: FloatArray, discount: FloatArray
) -> FloatArray:
    """DCG of each query's items in the best order."""
    m = len(item_offset) - 1
    topic = np.repeat(np.arange(m), np.diff(item_offset))
    order = np.lexsort((-gained, topic))
    rank = np.arange(len(order)) - np.repeat(item_offset[:-1], np.diff(item_offset))
    weight = np.zeros(max(int(rank.max(initial=-1)) + 1, len(discount)))
    weight[: len(discount)] = discount
    return sum_by(topic, gained[order] * weight[rank], m)


def sum_by(group: npt.NDArray[np.int64], value: FloatArray, groups: int) -> FloatArray:
    """Sum of the values of each group, also where there is none."""
    return np.bincount(group, weights=value, minlength=groups).astype(np.float64)


def _reciprocal(total: FloatArray) -> FloatArray:
    """1 / total; 0 for a query without anything relevant, whose nDCG is 0."""
    out = np.zeros_like(total)
    np.divide(1.0, total, out=out, where=total > 0)
    return out


def _longest(pool: Pool) -> int:
    """Length of the longest list, the union included (the ideal list of nDCG may be that long)."""
    return int(np.diff(pool.item_offset).max(initial=0))
