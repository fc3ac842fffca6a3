"""The sign test."""

import numpy as np
import numpy.typing as npt

from surefoot.inference.outcome import Outcome, rounded, without_topics


def sign_test(x: npt.ArrayLike) -> Outcome:
    """Two-sided sign test of each series, (n_series, n_topics) with NaN for missing.

    The statistic is the smaller of the numbers of wins and losses; differences of zero are left
    out, after rounding.

    References
    ----------
    Thesis Eqs. 2.21-2.22; the doubled p-value is capped at 1 (errata thesis-12).
    """
    from scipy.special import bdtr

    series = rounded(np.atleast_2d(np.asarray(x, dtype=np.float64)))
    wins, losses = (series > 0).sum(axis=1), (series < 0).sum(axis=1)
    n = wins + losses
    least = np.minimum(wins, losses)
    p = np.minimum(2.0 * bdtr(least, np.maximum(n, 1), 0.5), 1.0)  # Eq. 2.22, doubled
    p[n == 0] = 1.0
    return without_topics(
        Outcome(
            least.astype(np.float64),
            p,
            tuple("" if k else "no difference on any topic" for k in n),
        ),
        series,
    )
