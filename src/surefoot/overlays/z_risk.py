"""ZRisk: how a system's profile over topics departs from what a population of systems expects."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.kernels.overlays import topic_totals, z_sums

FloatArray = npt.NDArray[np.float64]

# topics held in memory at once when a value function has to be called from Python
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Deviations:
    """Standardised deviations of each system from expectation, summed over topics.

    Parameters
    ----------
    above, below : (n,) arrays
        Sum of the z above and below zero; NaN where an expectation is negative.
    mean : (n,) array
        The system's mean score over its topics.
    count : (n,) array
        Its number of topics.
    """

    above: FloatArray
    below: FloatArray
    mean: FloatArray
    count: FloatArray


def deviations(
    values: FloatArray,
    population: FloatArray | None = None,
    *,
    member: npt.NDArray[np.bool_] | None = None,
    value: Callable[[FloatArray], FloatArray] | None = None,
    threads: int = 0,
) -> Deviations:
    """Sum z = (x - e) / sqrt(e) over topics, e = S_i T_j / N.

    Parameters
    ----------
    values : (n_systems, n_topics) float array
        Scores of the systems to measure.
    population : (n_population, n_topics) float array, optional
        The baselines; by default the systems themselves.
    member : (n_systems,) bool array, optional
        Whether a system is one of the population. One that is not joins it for its own row, as in
        the single-baseline case of Eq. 8.
    value : callable, optional
        A value function s applied before the division: sum of s(x - e) / sqrt(e), RiskZ (Benham
        2023, Eq. 3.13).

    Notes
    -----
    Dincer et al. 2016, Eqs. 4-8; N is the grand total, so that the deviations of a system sum to
    zero. A topic or system whose scores are all zero expects nothing, and its z are 0. A system is
    measured over the topics it has; a missing score of another system is replaced by the topic's
    mean in T_j.
    """
    baselines = values if population is None else population
    own = np.ones(len(values), bool) if member is None else member
    topic_sum, topic_count = topic_totals(baselines, threads=threads)
    out = z_sums(values, topic_sum, topic_count, len(baselines), ~own, threads=threads)
    above, below, total, count, undefined = out.T.copy()
    if value is not None:
        for i in range(len(values)):
            above[i], below[i] = _valued(
                values[i], topic_sum, topic_count, len(baselines), not own[i], value
            )
    above[undefined > 0] = np.nan
    below[undefined > 0] = np.nan
    mean = np.full(count.shape, np.nan)
    np.divide(total, count, out=mean, where=count > 0)
    return Deviations(above, below, mean, count)


def _valued(
    row: FloatArray,
    topic_sum: FloatArray,
    topic_count: FloatArray,
    size: int,
    join: bool,
    value: Callable[[FloatArray], FloatArray],
) -> tuple[float, float]:
    """Sums of s(x - e) / sqrt(e) above and below zero for one system."""

    def mass(part: slice) -> FloatArray:
        count = topic_count[part] + join
        total = topic_sum[part] + (row[part] if join else 0.0)
        filled = np.zeros(len(count))
        np.divide(total, count, out=filled, where=count > 0)
        return np.where(np.isnan(row[part]), 0.0, filled * (size + join))

    parts = [slice(k, k + _BLOCK) for k in range(0, len(row), _BLOCK)]
    grand = sum(float(mass(part).sum()) for part in parts)
    share = float(np.nansum(row)) / grand if grand else 0.0
    above = below = 0.0
    for part in parts:
        e = share * mass(part)
        use = e > 0
        z = value(row[part][use] - e[use]) / np.sqrt(e[use])
        above += float(z[z > 0].sum())
        below += float(z[z < 0].sum())
    return above, below


def z_risk(d: Deviations, alpha: float) -> FloatArray:
    """Sum of z with every z below zero counted 1 + alpha times.

    Notes
    -----
    The plain sum (Dincer et al. 2016, Eq. 6); Benham 2023, Eq. 2.40 divides by the number of
    topics, which none of the printed tables do. It carries no significance: systems that differ by
    chance alone exceed 2 almost always once alpha is above 0, because losses are multiplied and the
    deviations are not standard normal.
    """
    return d.above + (1 + alpha) * d.below
