"""Moments of ranking measures under independent graded labels, and draws of many studies.

A block of queries is held in compressed rows: the items of query x are ``item_offset[x]`` to
``item_offset[x + 1]``, and each ranking lists items by their number in the block, best first.
"""

import numpy as np
import numpy.typing as npt

from surefoot import _kernels

FloatArray = npt.NDArray[np.float64]
Offsets = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]

WHOLE_RANKING = np.iinfo(np.int64).max


def err_moments(
    probability: FloatArray,
    gain: FloatArray,
    offset: Offsets,
    items: Items,
    *,
    depth: int | None = None,
    threads: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of each query's ERR.

    Parameters
    ----------
    probability : (n_items, n_grades) array
        p(y | x, z); a broadcast row (stride 0) is read without being copied.
    gain : (n_grades,) array
        Gain of each grade, within [0, 1].
    offset, items
        One ranking of every query.
    depth : int, optional
        Cut-off.
    """
    queries = len(offset) - 1
    mean, variance = np.empty(queries), np.empty(queries)
    cut = WHOLE_RANKING if depth is None else depth
    _kernels.active_err_moments(probability, gain, offset, items, cut, mean, variance, threads)
    return mean, variance


def err_covariance(
    probability: FloatArray,
    gain: FloatArray,
    item_offset: Offsets,
    offset_a: Offsets,
    items_a: Items,
    offset_b: Offsets,
    items_b: Items,
    *,
    depth: int | None = None,
    threads: int = 0,
) -> FloatArray:
    """Covariance of the ERR of two rankings, one a query."""
    covariance = np.empty(len(item_offset) - 1)
    cut = WHOLE_RANKING if depth is None else depth
    _kernels.active_err_covariance(
        probability,
        gain,
        item_offset,
        offset_a,
        items_a,
        offset_b,
        items_b,
        cut,
        covariance,
        threads,
    )
    return covariance


def linear_moments(
    probability: FloatArray,
    gain: FloatArray,
    item_offset: Offsets,
    discount: FloatArray,
    offset_a: Offsets,
    items_a: Items,
    offset_b: Offsets | None = None,
    items_b: Items | None = None,
    *,
    threads: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of a sum of discounted gains, or of the difference of two such sums.

    Parameters
    ----------
    discount : (depth,) array
        Weight of each rank; items below the last weight do not count.
    """
    queries = len(item_offset) - 1
    mean, variance = np.empty(queries), np.empty(queries)
    if offset_b is None or items_b is None:
        offset_b, items_b = np.zeros(queries + 1, np.int64), np.zeros(0, np.int32)
    _kernels.active_linear_moments(
        probability,
        gain,
        item_offset,
        discount,
        offset_a,
        items_a,
        offset_b,
        items_b,
        mean,
        variance,
        threads,
    )
    return mean, variance


def uniform_draws(seed: int, study: int, first: int, count: int) -> FloatArray:
    """Uniform numbers `first`, `first` + 1, ... of one study, on the open interval (0, 1)."""
    out = np.empty(count)
    _kernels.active_uniform_draws(seed, study, first, out)
    return out


def replacement_studies(
    cumulative: FloatArray,
    cost: FloatArray,
    budgets: FloatArray,
    *,
    studies: int,
    limit: int,
    look_up: bool = True,
    seed: int = 0,
    first_study: int = 0,
    threads: int = 0,
) -> tuple[Items, Items]:
    """Algorithm 1 many times over, drawing with replacement.

    Parameters
    ----------
    cumulative : (n_queries,) array
        Running sum of the sampling distribution.
    cost : (n_queries,) array
        Price of labelling each query.
    budgets : (n_budgets,) array
        Ascending; a study with a small budget is the beginning of the one with a larger budget.
    studies, limit : int
        How many studies, and the most draws of one.
    look_up : bool
        Whether a query drawn again is looked up instead of paid for again.

    Returns
    -------
    draws : (studies, limit) int array
        Queries in the order drawn, -1 beyond the end.
    counts : (studies, n_budgets) int array
        How many draws each budget pays for.
    """
    draws = np.empty((studies, limit), np.int32)
    counts = np.empty((studies, len(budgets)), np.int32)
    _kernels.active_replacement_studies(
        cumulative, cost, budgets, look_up, seed, first_study, draws, counts, threads
    )
    return draws, counts


def priority_studies(
    q: FloatArray,
    cost: FloatArray,
    budgets: FloatArray,
    *,
    studies: int,
    limit: int,
    seed: int = 0,
    first_study: int = 0,
    threads: int = 0,
) -> tuple[Items, Items, FloatArray]:
    """Many studies drawn without replacement by priority; arguments as `replacement_studies`.

    Returns
    -------
    draws, counts
        As for `replacement_studies`.
    thresholds : (studies, n_budgets) array
        Priority of the first query left out; 0 where none is.
    """
    draws = np.empty((studies, limit), np.int32)
    counts = np.empty((studies, len(budgets)), np.int32)
    thresholds = np.empty((studies, len(budgets)))
    _kernels.active_priority_studies(
        q, cost, budgets, seed, first_study, draws, counts, thresholds, threads
    )
    return draws, counts, thresholds
