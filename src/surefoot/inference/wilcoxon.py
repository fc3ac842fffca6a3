"""Wilcoxon's signed-rank test."""

import numpy as np
import numpy.typing as npt

from surefoot.inference.outcome import Outcome, rounded, without_topics
from surefoot.kernels.permute import signed_rank

# with more differences than this the normal approximation is good to the third decimal
EXACT_LIMIT = 100


def wilcoxon(x: npt.ArrayLike, *, exact_limit: int = EXACT_LIMIT, threads: int = 0) -> Outcome:
    """Two-sided signed-rank test of each series, (n_series, n_topics) with NaN for missing.

    The statistic is min(W+, W-). Differences are rounded before ranking (errata thesis-11), zeros
    are left out, ties share their average rank. Up to `exact_limit` differences the null
    distribution is exact, ties included; beyond, normal with corrections for ties and continuity.

    References
    ----------
    Thesis Section 2.3.1, Table 2.6; values at most W count (errata thesis-13).
    """
    from scipy.special import ndtr

    series = np.atleast_2d(np.asarray(x, dtype=np.float64))
    ranks = signed_rank(rounded(series), exact_limit=exact_limit, threads=threads)
    w = np.minimum(ranks.plus, ranks.minus)
    n = ranks.used
    mean = n * (n + 1) / 4
    variance = n * (n + 1) * (2 * n + 1) / 24 - ranks.ties / 48
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.minimum(w + 0.5 - mean, 0.0) / np.sqrt(variance)
    p = np.where(np.isnan(ranks.exact_p), np.minimum(2.0 * ndtr(z), 1.0), ranks.exact_p)
    p[n == 0] = 1.0
    note = [""] * len(series)
    for i in np.flatnonzero(n > exact_limit):
        note[i] = "normal approximation"
    for i in np.flatnonzero(n == 0):
        note[i] = "no difference on any topic"
    return without_topics(Outcome(w, p, tuple(note)), series)
