"""TRisk: URisk in units of its standard error, with the exact t distribution behind it."""

import numpy as np
import numpy.typing as npt

from surefoot.overlays.differences import Differences
from surefoot.overlays.u_risk import u_risk

FloatArray = npt.NDArray[np.float64]

# differences that vary by less than this share of their size are equal but for rounding
_ROUNDING = 1e-12


def sum_of_squares(d: Differences, alpha: float) -> FloatArray:
    """Sum of squared deviations of the risk-adjusted differences x from their mean.

    The three groups (gains, losses counted 1 + alpha times, ties at zero) each contribute their
    own spread and the distance of their mean from the mean of all.
    """
    mean = np.nan_to_num(u_risk(d, alpha))
    weight = 1 + alpha
    zero = d.count - d.positive - d.negative
    total: FloatArray = (
        d.m2_positive
        + weight**2 * d.m2_negative
        + d.positive * (d.mean_positive - mean) ** 2
        + d.negative * (weight * d.mean_negative - mean) ** 2
        + zero * mean**2
    )
    size = np.maximum(np.abs(d.mean_positive), np.abs(weight * d.mean_negative))
    return np.where(total <= d.count * (_ROUNDING * size) ** 2, 0.0, total)


def se_parametric(d: Differences, alpha: float) -> FloatArray:
    """Standard error of URisk as that of a sample mean; NaN below two topics.

    Notes
    -----
    SE = s_x / sqrt(c) with the divisor c - 1 in s_x (Dincer et al. 2014, Eq. 12, which prints c;
    all 32 standard errors of Table 1 there need c - 1).
    """
    out = np.full(d.count.shape, np.nan)
    np.divide(sum_of_squares(d, alpha), d.count - 1, out=out, where=d.count > 1)
    error: FloatArray = np.sqrt(out / np.maximum(d.count, 1))
    return error


def se_jackknife(d: Differences, alpha: float) -> FloatArray:
    """Standard error of URisk by leaving out one topic at a time; NaN below two topics.

    Notes
    -----
    var_J = (c - 1)/c sum_i (theta_(i) - theta_(.))^2 (Dincer et al. 2014, Eqs. 16-17). URisk is a
    mean, so theta_(i) - theta_(.) = -(x_i - mean) / (c - 1) and the c estimates need not be formed.
    """
    n = d.count
    estimates = np.full(n.shape, np.nan)  # sum over i of (theta_(i) - theta_(.))^2
    np.divide(sum_of_squares(d, alpha), (n - 1) ** 2, out=estimates, where=n > 1)
    error: FloatArray = np.sqrt((n - 1) / np.maximum(n, 1) * estimates)
    return error


def t_risk(d: Differences, alpha: float) -> FloatArray:
    """URisk / SE(URisk) (Dincer et al. 2014, Eq. 10).

    Zero where no topic differs, infinite where every topic differs by the same amount; NaN below
    two topics, where it is undefined.
    """
    mean, error = u_risk(d, alpha), se_parametric(d, alpha)
    limit = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))  # as the error goes to zero
    out = np.where(d.count > 1, limit, np.nan)
    np.divide(mean, error, out=out, where=error > 0)
    return out


def p_value(t: FloatArray, df: FloatArray) -> FloatArray:
    """Two-sided p of a t statistic, exact Student distribution; NaN where t is."""
    from scipy.special import stdtr

    out: FloatArray = 2 * stdtr(np.maximum(df, 1.0), -np.abs(t))
    return np.where(np.isnan(t), np.nan, out)


def critical_t(df: npt.ArrayLike, level: float) -> FloatArray:
    """Two-sided critical value: t(1 - level/2, df), not the papers' rounded 2; NaN below df 1."""
    from scipy.special import stdtrit

    freedom = np.asarray(df, dtype=np.float64)
    out: FloatArray = stdtrit(np.maximum(freedom, 1.0), 1 - level / 2)
    return np.where(freedom >= 1, out, np.nan)


def errors_agree(parametric: FloatArray, jackknife: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether both standard errors agree, the condition for inference on TRisk.

    Dincer et al. 2014, Sections 3.1 and 3.3. For a mean of independent topics the two are the same
    number, so this fails only where rounding has eaten the result; it cannot vouch for the t
    distribution itself.
    """
    out: npt.NDArray[np.bool_] = np.isclose(parametric, jackknife, rtol=1e-6, atol=0.0)
    return out
