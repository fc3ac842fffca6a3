"""Student's t-test of paired differences."""

import numpy as np
import numpy.typing as npt

from surefoot.inference.outcome import Outcome


def t_test(x: npt.ArrayLike) -> Outcome:
    """Two-sided t-test that each series, (n_series, n_topics) with NaN for missing, has mean 0.

    References
    ----------
    Thesis Eq. 2.23: t = mean / (sd / sqrt(n)) on n - 1 degrees of freedom.
    """
    from scipy.special import stdtr

    series = np.atleast_2d(np.asarray(x, dtype=np.float64))
    present = ~np.isnan(series)
    n = present.sum(axis=1)
    filled = np.where(present, series, 0.0)
    mean = filled.sum(axis=1) / np.maximum(n, 1)
    centred = np.where(present, series - mean[:, None], 0.0)
    sd = np.sqrt((centred**2).sum(axis=1) / np.maximum(n - 1, 1))
    size = np.abs(filled).max(axis=1, initial=0.0)
    flat = sd <= 1e-12 * size
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean / (sd / np.sqrt(n))  # Eq. 2.23
    t = np.where(flat, np.where(size > 0, np.copysign(np.inf, mean), 0.0), t)
    p = np.where(np.isinf(t), 0.0, np.minimum(2.0 * stdtr(np.maximum(n - 1, 1), -np.abs(t)), 1.0))
    note = [""] * len(series)
    for i in np.flatnonzero(flat & (n >= 2)):
        note[i] = "the difference is the same on every topic" if size[i] else "no difference at all"
    for i in np.flatnonzero(n < 2):
        t[i] = p[i] = np.nan
        note[i] = "needs two topics at least"
    return Outcome(t, p, tuple(note))
