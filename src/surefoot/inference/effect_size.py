"""Effect sizes of paired comparisons, with intervals."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.inference.noncentral_t import mean_square_nodes

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EffectSizes:
    """Of each comparison; NaN where there is no spread to measure by.

    Parameters
    ----------
    cohen_d : mean difference over the standard deviation of the differences
    cohen_low, cohen_high : its interval, by inversion of the noncentral t distribution
    hedges_g : `cohen_d` freed of its small-sample bias
    glass_delta : mean difference over the standard deviation of the reference system's scores
    glass_low, glass_high : its large-sample interval
    """

    cohen_d: FloatArray
    cohen_low: FloatArray
    cohen_high: FloatArray
    hedges_g: FloatArray
    glass_delta: FloatArray
    glass_low: FloatArray
    glass_high: FloatArray


def effect_sizes(
    differences: npt.ArrayLike, reference: npt.ArrayLike, *, confidence: float = 0.95
) -> EffectSizes:
    """Effect sizes of paired differences against a reference system.

    Parameters
    ----------
    differences : (n_series, n_topics) floats, NaN for missing
    reference : (n_topics,) or (n_series, n_topics) floats
        Scores of the system that Glass's delta takes its unit from.

    References
    ----------
    Cohen 1988 (d_z of paired designs); Hedges 1981; Glass 1976; Sakai 2018, Chapter 5.
    """
    from scipy.special import gammaln, ndtri

    x = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    base = np.broadcast_to(np.asarray(reference, dtype=np.float64), x.shape)
    base = np.where(np.isnan(x), np.nan, base)
    n = (~np.isnan(x)).sum(axis=1)
    mean, sd = _mean_sd(x, n)
    _, unit = _mean_sd(base, n)
    with np.errstate(divide="ignore", invalid="ignore"):
        d = np.where(sd > 0, mean / sd, np.where(mean == 0, 0.0, np.nan))
        glass = np.where(unit > 0, mean / unit, np.nan)
        df = np.maximum(n - 1, 1)
        # Hedges 1981, the exact factor
        bias = np.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / np.sqrt(df / 2)
        glass_error = np.sqrt((sd / unit) ** 2 / n + glass**2 / (2 * df))
    z = float(ndtri(0.5 + confidence / 2))
    low, high = noncentral_interval(d, n, confidence)
    few = n < 2
    for values in (d, glass, low, high):
        values[few] = np.nan
    return EffectSizes(
        d,
        low,
        high,
        d * np.where(df > 1, bias, np.nan),
        glass,
        glass - z * glass_error,
        glass + z * glass_error,
    )


def _mean_sd(x: FloatArray, n: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    filled = np.where(np.isnan(x), 0.0, x)
    mean = filled.sum(axis=1) / np.maximum(n, 1)
    centred = np.where(np.isnan(x), 0.0, x - mean[:, None])
    sd = np.sqrt((centred**2).sum(axis=1) / np.maximum(n - 1, 1))
    sd[sd <= 1e-12 * np.abs(filled).max(axis=1, initial=0.0)] = 0.0
    return mean, sd


def noncentral_interval(
    d: FloatArray, n: npt.NDArray[np.int64], confidence: float
) -> tuple[FloatArray, FloatArray]:
    """Noncentralities whose t distributions have the observed t at their tails, over sqrt(n)."""
    tail = (1.0 - confidence) / 2.0
    t = d * np.sqrt(n)
    low_end, high_end = np.full((2, len(d)), np.nan)
    for count in np.unique(n[n >= 2]):  # one grid for all series of the same size
        members = (n == count) & ~np.isnan(t)
        s, mass = mean_square_nodes(float(count - 1))
        seen = t[members]
        spread = np.sqrt(1.0 + seen**2 / (2 * (count - 1)))
        for chance, ends in ((1.0 - tail, low_end), (tail, high_end)):
            ends[members] = _noncentrality(seen, spread, chance, s, mass) / np.sqrt(count)
    return low_end, high_end


def _noncentrality(
    t: FloatArray, spread: FloatArray, chance: float, s: FloatArray, mass: FloatArray
) -> FloatArray:
    """The noncentrality with P(T <= t) = chance, by Newton's steps kept inside a bracket."""
    from scipy.special import ndtr, ndtri

    low, high = t - 12.0 * spread, t + 12.0 * spread
    guess: FloatArray = t - ndtri(chance) * spread
    for _ in range(60):
        away = t[:, None] * s - guess[:, None]
        above = ndtr(away) @ mass - chance  # falls as the noncentrality grows
        slope = np.exp(-0.5 * away**2) @ mass / np.sqrt(2 * np.pi)
        low, high = np.where(above > 0, guess, low), np.where(above > 0, high, guess)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = guess + above / slope
        new = np.where((step >= low) & (step <= high), step, (low + high) / 2)
        moved = np.abs(new - guess)
        guess = new
        if (moved <= 1e-12 * spread).all():
            break
    return guess
