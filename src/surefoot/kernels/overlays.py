"""Sums over topics that every overlay is made of, in one pass over the scores."""

import numpy as np
import numpy.typing as npt

from surefoot import _kernels

FloatArray = npt.NDArray[np.float64]

# columns of `difference_moments`
MOMENTS = (
    "count",
    "wins",
    "losses",
    "loss_over",
    "positive",
    "negative",
    "mean_positive",
    "m2_positive",
    "mean_negative",
    "m2_negative",
)


def difference_moments(
    values: FloatArray,
    baseline: FloatArray,
    *,
    tolerance: float = 0.0,
    threshold: float = 0.2,
    threads: int = 0,
) -> FloatArray:
    """Moments of the differences to a baseline, one row a system with the columns `MOMENTS`.

    Parameters
    ----------
    values : (n_systems, n_topics) float array
        Scores; a topic counts where neither it nor the baseline is NaN.
    baseline : (n_topics,) float array
        The champion's scores.
    tolerance : float
        A difference of at most this size is a tie in `wins` and `losses`.
    threshold : float
        `loss_over` counts losses of more than this share of the baseline's score.
    threads : int
        0 uses all cores; the sums do not depend on it.
    """
    out: FloatArray = _kernels.difference_moments(
        np.ascontiguousarray(values, dtype=np.float64),
        np.ascontiguousarray(baseline, dtype=np.float64),
        tolerance,
        threshold,
        threads,
    )
    return out


def topic_totals(values: FloatArray, *, threads: int = 0) -> tuple[FloatArray, FloatArray]:
    """(sum, count) over the systems that have each topic."""
    out: FloatArray = _kernels.topic_totals(np.ascontiguousarray(values), threads)
    return out[0], out[1]


def z_sums(
    values: FloatArray,
    topic_sum: FloatArray,
    topic_count: FloatArray,
    size: int,
    add_self: npt.NDArray[np.bool_],
    *,
    threads: int = 0,
) -> FloatArray:
    """Sums of the standardised deviations of ZRisk, one row a system.

    Parameters
    ----------
    values : (n_systems, n_topics) float array
        Scores of the systems to measure.
    topic_sum, topic_count : (n_topics,) float arrays
        `topic_totals` of the population.
    size : int
        Number of systems in the population.
    add_self : (n_systems,) bool array
        Where the system is not a member of the population and joins it for its own row.
    threads : int
        0 uses all cores; the sums do not depend on it.

    Returns
    -------
    (n_systems, 5) float array
        Sum of the positive z, sum of the negative z, the system's total score, its number of
        topics, and the number of cells whose expectation is negative (z undefined).
    """
    out: FloatArray = _kernels.z_sums(
        np.ascontiguousarray(values),
        np.ascontiguousarray(topic_sum),
        np.ascontiguousarray(topic_count),
        float(size),
        np.ascontiguousarray(add_self).astype(np.uint8),
        threads,
    )
    return out
