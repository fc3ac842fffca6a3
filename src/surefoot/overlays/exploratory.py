"""Topic by topic: which losses stand out, and which topics make the verdict."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.overlays.t_risk import critical_t

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Exploration:
    """What each topic contributes to TRisk; arrays over topics, NaN where a score is missing.

    Parameters
    ----------
    x : array
        Risk-adjusted difference.
    t_r : array
        x / s_x, uncentred (Dincer et al. 2014, Eq. 21).
    t_j : array
        (x - mean) / s_population: the negative of Eq. 23 there, so that a loss is negative as the
        text of Section 5.2 and Figure 2 read it.
    t_without : array
        TRisk without this topic; zero or infinite, as there, where the others all differ alike.
    flagged, flagged_r : bool arrays
        |t_j| and |t_r| beyond the critical value.
    decides : bool array
        Whether TRisk crosses its critical value when this one topic is left out.
    critical : float
        t(1 - level/2, c - 1).
    """

    x: FloatArray
    t_r: FloatArray
    t_j: FloatArray
    t_without: FloatArray
    flagged: BoolArray
    flagged_r: BoolArray
    decides: BoolArray
    critical: float


def explore(x: FloatArray, *, level: float = 0.05) -> Exploration:
    """Standardise each topic's risk-adjusted difference and leave each topic out in turn.

    Parameters
    ----------
    x : (n_topics,) float array
        Risk-adjusted differences, NaN where a score is missing.
    level : float
        Two-sided significance level of the critical value.

    Notes
    -----
    Dincer et al. 2014 find "no differences" between T_R and T_J: T_R is uncentred and uses the
    divisor c - 1, T_J is centred and uses c. Both are given.
    """
    n = int(np.count_nonzero(~np.isnan(x)))
    undefined = np.full(x.shape, np.nan)
    no = np.zeros(x.shape, bool)
    critical = float(critical_t(n - 1, level))
    if n < 2:
        return Exploration(x, undefined, undefined, undefined, no, no, no, critical)
    mean = float(np.nansum(x) / n)
    centred = x - mean
    squares = float(np.nansum(centred**2))
    size = float(np.nanmax(np.abs(x)))
    if squares <= n * (1e-12 * size) ** 2:
        # the same difference everywhere: nothing stands out
        t = np.where(np.isnan(x), np.nan, 0.0)
        return Exploration(x, undefined, t, undefined, no, no, no, critical)
    t_r = x / np.sqrt(squares / (n - 1))
    t_j = centred / np.sqrt(squares / n)
    t_all = mean / np.sqrt(squares / (n - 1) / n)
    t_without = undefined
    decides = no
    if n > 2:
        # leaving out x_i: mean_(i) = mean - (x_i - mean)/(c-1), and its squares shrink
        rest = squares - centred**2 * n / (n - 1)
        others = mean - centred / (n - 1)
        with np.errstate(invalid="ignore"):
            error = np.sqrt(np.where(rest <= 1e-12 * squares, 0.0, rest) / (n - 2) / (n - 1))
            limit = np.where(np.abs(others) <= 1e-12 * size, 0.0, np.copysign(np.inf, others))
        # the other topics all differ alike: as in t_risk
        t_without = np.where(np.isnan(x), np.nan, limit)
        np.divide(others, error, out=t_without, where=error > 0)
        without = float(critical_t(n - 2, level))
        decides = _side(t_without, without) != _side(np.asarray(t_all), critical)
        decides &= ~np.isnan(t_without)
    with np.errstate(invalid="ignore"):
        flagged, flagged_r = np.abs(t_j) > critical, np.abs(t_r) > critical
    return Exploration(x, t_r, t_j, t_without, flagged, flagged_r, decides, critical)


def _side(t: FloatArray, critical: float) -> npt.NDArray[np.int64]:
    """-1 significantly risky, +1 significantly rewarding, 0 neither."""
    with np.errstate(invalid="ignore"):
        out: npt.NDArray[np.int64] = (t > critical).astype(np.int64) - (t < -critical)
    return out
