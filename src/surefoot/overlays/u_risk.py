"""FRisk, FReward, UGain and URisk: what a challenger loses and gains against a champion."""

import numpy as np
import numpy.typing as npt

from surefoot.overlays.differences import Differences

FloatArray = npt.NDArray[np.float64]


def per_topic(total: FloatArray, count: FloatArray) -> FloatArray:
    """`total / count`, NaN where there is no topic."""
    out = np.full(np.shape(count), np.nan)
    np.divide(total, count, out=out, where=count > 0)
    return out


def f_risk(d: Differences) -> FloatArray:
    """Mean loss over all topics, a loss counted positive (Dincer et al. 2014, Eq. 1)."""
    return per_topic(-d.negative * d.mean_negative, d.count) + 0.0  # no minus zero


def f_reward(d: Differences) -> FloatArray:
    """Mean gain over all topics (Dincer et al. 2014, Eq. 2)."""
    return per_topic(d.positive * d.mean_positive, d.count)


def u_gain(d: Differences) -> FloatArray:
    """Mean difference, FReward - FRisk (Dincer et al. 2014, Eqs. 3 and 5)."""
    return u_risk(d, 0.0)


def u_risk(d: Differences, alpha: float) -> FloatArray:
    """Mean difference with every loss counted 1 + alpha times.

    Parameters
    ----------
    d : Differences
        Sums over topics.
    alpha : float
        How much more a loss counts than a gain; 0 gives UGain.

    Notes
    -----
    URisk = (sum of gains + (1 + alpha) sum of losses) / c, losses being negative (Dincer et al.
    2014, Eq. 4). Benham 2023, Eqs. 2.39 and 3.1 print a minus before the second sum, which would
    count losses as gains; the worked example there (-1.480) follows the form used here.
    """
    gains, losses = d.positive * d.mean_positive, (1 + alpha) * d.negative * d.mean_negative
    total = gains + losses
    # what rounding leaves of gains that equal losses is not a difference
    return per_topic(np.where(np.abs(total) <= 1e-14 * gains, 0.0, total), d.count)


def break_even_alpha(d: Differences) -> FloatArray:
    """The alpha at which URisk is zero: gains pay for losses counted up to 1 + alpha times.

    Negative where losses outweigh gains as they stand, infinite without any loss, NaN without any
    difference.
    """
    risk, gain = f_risk(d), u_gain(d)
    out = np.where(gain > 0, np.inf, np.nan)
    np.divide(gain, risk, out=out, where=risk > 0)
    return out
