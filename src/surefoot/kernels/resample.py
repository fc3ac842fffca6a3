"""Bootstrap resampling of topics, shared by all series, and order statistics of the replicates."""

import numpy as np
import numpy.typing as npt

from surefoot import _kernels

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def resample_indices(
    n_topics: int, n_resamples: int, *, seed: int, first: int = 0
) -> npt.NDArray[np.uint32]:
    """(n_resamples, n_topics) topic numbers of resamples `first`, `first + 1`, ...

    Resample b is a function of (seed, b, n_topics) alone.
    """
    drawn: npt.NDArray[np.uint32] = _kernels.resample_indices(seed, n_topics, first, n_resamples)
    return drawn


def bootstrap_means(
    centred: FloatArray,
    *,
    seed: int,
    first: int,
    count: int,
    column: int,
    means: FloatArray,
    student: FloatArray | None,
    threads: int = 0,
) -> None:
    """Fill columns [column, column + count) with the statistics of resamples `first` and on.

    Parameters
    ----------
    centred : (n_series, n_topics) float array
        Series with their mean taken off, without NaN.
    means : (n_series, n_columns) float array
        Receives the mean of each resample.
    student : (n_series, n_columns) float array, optional
        Receives the mean over its standard error, both of the resample; infinite where a resample
        has no spread.
    """
    x = np.ascontiguousarray(centred, dtype=np.float64)
    _kernels.bootstrap_means(x, seed, first, count, column, means, student, threads)


def order_statistics(rows: FloatArray, ranks: IntArray, *, threads: int = 0) -> FloatArray:
    """Values that would stand at `ranks` (from 0; one row of ranks a row) if rows were sorted."""
    out = np.empty(ranks.shape)
    _kernels.order_statistics(rows, np.ascontiguousarray(ranks, dtype=np.int64), out, threads)
    return out


def count_below(
    rows: FloatArray, tolerance: FloatArray, *, threads: int = 0
) -> tuple[IntArray, IntArray]:
    """How many values of each row are below -tolerance, and how many within tolerance of 0."""
    out = np.empty((len(rows), 2), dtype=np.int64)
    _kernels.count_below(rows, np.ascontiguousarray(tolerance, dtype=np.float64), out, threads)
    return out[:, 0], out[:, 1]
