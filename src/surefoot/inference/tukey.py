"""Tukey's honestly significant difference on the blocked design: every system, every topic."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.inference.anova import anova
from surefoot.inference.studentized_range import studentized_range_isf, studentized_range_sf

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Tukey:
    """All pairs (0, 1), (0, 2), ..., (1, 2), ...

    Parameters
    ----------
    difference : float array
        Mean of the first system minus mean of the second.
    statistic : float array
        |difference| over the standard error of one mean: a studentised range.
    p_value : float array
        Of each pair alone, Student's t with the pooled residual.
    p_adjusted : float array
        From the studentised range of all systems.
    margin : float
        Half the width of every simultaneous interval.
    """

    difference: FloatArray
    statistic: FloatArray = field(repr=False)
    p_value: FloatArray = field(repr=False)
    p_adjusted: FloatArray = field(repr=False)
    margin: float


def tukey(scores: npt.ArrayLike, *, confidence: float = 0.95) -> Tukey:
    """Compare all pairs of systems of complete (n_systems, n_topics) scores.

    References
    ----------
    Thesis Eqs. 2.30-2.32; Sakai 2018, Section 4.4.3.
    """
    from scipy.special import stdtr

    x = np.asarray(scores, dtype=np.float64)
    table = anova(x)
    n_systems, n_topics = x.shape
    df = float(table.df[2])
    error = float(np.sqrt(table.mean_square[2] / n_topics))  # denominator of Eq. 2.30
    first, second = np.triu_indices(n_systems, 1)
    means = x.mean(axis=1)
    difference = means[first] - means[second]
    with np.errstate(divide="ignore", invalid="ignore"):
        q = np.where(difference == 0, 0.0, np.abs(difference) / error)
    finite = np.where(np.isinf(q), 0.0, q)
    p_adjusted = np.where(np.isinf(q), 0.0, studentized_range_sf(finite, n_systems, df))
    p = np.where(np.isinf(q), 0.0, 2.0 * stdtr(df, -finite / np.sqrt(2.0)))
    margin = studentized_range_isf(1.0 - confidence, n_systems, df) * error
    return Tukey(difference, q, np.minimum(p, 1.0), np.maximum(p_adjusted, p), float(margin))
