"""Null distributions by rearrangement: signs of differences, labels within topics, signed ranks."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot import _kernels

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def sign_flips(
    x: FloatArray,
    *,
    limit: FloatArray,
    scale: FloatArray,
    seed: int,
    first: int,
    count: int,
    exact: bool,
    exceed: IntArray,
    largest: FloatArray,
    threads: int = 0,
) -> None:
    """Flip the signs of whole topics, the same flips for every series.

    Parameters
    ----------
    x : (n_series, n_topics) float array
        Differences, 0 where a cell is missing.
    limit, scale : (n_series,) float arrays
    exact : bool
        Take the bits of the flip's number as its signs instead of drawing them.
    exceed : (n_series,) int array
        Grows by the number of flips with |sum| >= limit.
    largest : (n_flips,) float array
        Entries [first, first + count) receive the largest |sum| * scale of the series.
    """
    _kernels.sign_flips(
        np.ascontiguousarray(x, dtype=np.float64),
        np.ascontiguousarray(limit, dtype=np.float64),
        np.ascontiguousarray(scale, dtype=np.float64),
        seed,
        first,
        count,
        exact,
        exceed,
        largest,
        threads,
    )


def permute_labels(
    scores: FloatArray,
    *,
    seed: int,
    first: int,
    count: int,
    largest: FloatArray,
    pair: FloatArray,
    square: FloatArray,
    threads: int = 0,
) -> None:
    """Permute the systems of each topic among themselves.

    Parameters
    ----------
    scores : (n_topics, n_systems) float array
    largest : (n_permutations,) float array
        Entries [first, first + count) receive the range of the systems' sums over topics.
    pair : (n_permutations,) float array
        The same entries receive the absolute difference of two of the sums.
    square : (n_permutations,) float array
        And these the squared deviations of the sums from their mean, added up.
    """
    x = np.ascontiguousarray(scores, dtype=np.float64)
    _kernels.permute_labels(x, seed, first, count, largest, pair, square, threads)


class SignedRanks(NamedTuple):
    """Wilcoxon's rank sums of each series, and what their null distribution needs."""

    plus: FloatArray
    minus: FloatArray
    used: FloatArray
    ties: FloatArray  # sum of t^3 - t over groups of t tied sizes
    exact_p: FloatArray  # two-sided, NaN beyond the limit


def signed_rank(x: FloatArray, *, exact_limit: int, threads: int = 0) -> SignedRanks:
    """Rank sums of the non-zero differences of (n_series, n_topics); NaN cells are skipped."""
    out = np.empty((len(x), 5))
    _kernels.signed_rank(np.ascontiguousarray(x, dtype=np.float64), exact_limit, out, threads)
    return SignedRanks(*out.T)
