"""Pareto-smoothed importance sampling: steadier weights, and a number that says when to doubt them.

The tail of importance weights is replaced by the expected order statistics of a generalised Pareto
distribution fitted to it; its shape k-hat tells how many moments the weights have.

References
----------
Vehtari, Simpson, Gelman, Yao, Gabry (2024), Pareto smoothed importance sampling, JMLR 25(72).
Zhang, Stephens (2009), A new and efficient estimation method for the generalized Pareto
distribution, Technometrics 51(3).
"""

import math

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# Above this, importance sampling estimates cannot be trusted (Vehtari et al. 2024, Sect. 2.3).
UNRELIABLE_KHAT = 0.7


def tail_length(n_draws: int, relative_efficiency: float = 1.0) -> int:
    """Number of largest weights that are smoothed (Vehtari et al. 2024, Sect. 2.2)."""
    return math.ceil(min(0.2 * n_draws, 3.0 * math.sqrt(n_draws / relative_efficiency)))


def fit_generalized_pareto(exceedances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shape k and scale sigma of a generalised Pareto distribution, by Zhang and Stephens (2009).

    Parameters
    ----------
    exceedances : (..., n) float array
        Positive exceedances over the threshold, ascending along the last axis.

    Returns
    -------
    shape, scale : (...) float arrays
        Shape is positive for heavy tails and carries the weak prior of Vehtari et al. (2024,
        Appendix G), which draws it to 0.5 with the weight of ten observations.
    """
    x = np.asarray(exceedances, dtype=np.float64)
    n = x.shape[-1]
    n_grid = 30 + math.isqrt(n)
    # Zhang and Stephens 2009, Eq. 5 and the grid below it, with theta written as b
    grid = 1.0 - np.sqrt(n_grid / (np.arange(1, n_grid + 1) - 0.5))
    quartile = x[..., int(n / 4 + 0.5) - 1]
    b = 1.0 / x[..., -1, None] + grid / (3.0 * quartile[..., None])
    k = np.empty_like(b)
    for column in range(n_grid):  # a loop over the short grid keeps memory at that of x
        k[..., column] = np.log1p(-b[..., column, None] * x).mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        profile = n * (np.log(-b / k) - k - 1.0)
    profile = np.where(np.isfinite(profile), profile, -np.inf)
    weight = np.exp(profile - profile.max(axis=-1, keepdims=True))
    b_mean = (b * weight).sum(axis=-1) / weight.sum(axis=-1)
    shape = np.log1p(-b_mean[..., None] * x).mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = -shape / b_mean
    return (n * shape + 5.0) / (n + 10.0), scale


def smooth_tail(
    tail: FloatArray, cutoff: npt.NDArray[np.float64] | float
) -> tuple[FloatArray, FloatArray]:
    """Replace log weights above a cutoff by log order statistics of the fitted Pareto tail.

    Parameters
    ----------
    tail : (..., n) float array
        Log weights above the cutoff, ascending along the last axis; the largest of all weights
        should be near 0 so that exponentials neither overflow nor vanish.
    cutoff : (...) float array
        Largest log weight that is not in the tail.

    Returns
    -------
    smoothed : (..., n) float array
        New log weights, never above the largest raw one.
    khat : (...) float array
        Infinite where the tail cannot be fitted; the weights are then left as they are.
    """
    n = tail.shape[-1]
    cutoff = np.asarray(cutoff, dtype=np.float64)
    if n < 5:
        return tail.copy(), np.full(tail.shape[:-1], np.inf)
    base = np.exp(np.maximum(cutoff, np.log(np.finfo(np.float64).tiny)))
    exceedances = np.exp(tail) - base[..., None]
    # constant tails (identical weights) need no smoothing and have k-hat of a bounded tail
    flat = tail[..., -1] - tail[..., 0] < 1e-12
    # the first quarter may tie with the cutoff, as it does after resampling with replacement
    safe = (exceedances[..., int(n / 4 + 0.5) - 1] > 0) & ~flat
    fitted = np.where(safe[..., None], exceedances, np.arange(1.0, n + 1.0))
    shape, scale = fit_generalized_pareto(fitted)
    p = (np.arange(n) + 0.5) / n
    k = shape[..., None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quantile = np.where(
            np.abs(k) < 1e-12,
            -scale[..., None] * np.log1p(-p),
            scale[..., None] * np.expm1(-k * np.log1p(-p)) / k,
        )
        smoothed = np.log(base[..., None] + quantile)
    usable = safe & np.isfinite(smoothed).all(axis=-1) & np.isfinite(shape)
    smoothed = np.where(usable[..., None], np.minimum(smoothed, tail[..., -1:]), tail)
    return smoothed, np.where(usable, shape, np.where(flat, -np.inf, np.inf))


def psis_smooth(
    log_weights: npt.ArrayLike, *, relative_efficiency: float = 1.0
) -> tuple[FloatArray, float]:
    """Pareto-smooth one set of importance weights.

    Parameters
    ----------
    log_weights : (n_draws,) array_like
        Unnormalised log importance weights; minus infinity is a weight of zero.
    relative_efficiency : float
        Effective draws per draw where the draws come from a Markov chain; 1 for independent ones.

    Returns
    -------
    smoothed : (n_draws,) float array
        Log weights in the original order, normalised: their exponentials sum to one.
    khat : float
        Estimated shape of the tail: up to 0.5 good, above 0.7 the estimates cannot be trusted,
        infinite when there are too few draws to tell, minus infinity when all weights are equal.

    Notes
    -----
    Vehtari et al. (2024), Algorithm 1: tail of ``min(0.2 S, 3 sqrt(S / r_eff))`` draws, smoothed
    weights truncated at the largest raw one.
    """
    raw = np.array(log_weights, dtype=np.float64)
    if raw.ndim != 1 or raw.size == 0:
        raise ValueError(f"log_weights must be one-dimensional and not empty, got {raw.shape}")
    if np.isnan(raw).any() or not np.isfinite(raw.max()):
        raise ValueError("log_weights must have a finite maximum and no NaN")
    raw -= raw.max()
    size = tail_length(raw.size, relative_efficiency)
    khat = np.inf
    if raw.size > size >= 5:
        cutoff = np.partition(raw, raw.size - size - 1)[raw.size - size - 1]
        chosen = np.flatnonzero(raw > cutoff)  # fewer than `size` where weights are tied
        if chosen.size:
            order = chosen[np.argsort(raw[chosen], kind="stable")]
            smoothed, shape = smooth_tail(raw[order], cutoff)
            raw[order] = smoothed
            khat = float(shape)
        elif cutoff == raw.max():
            khat = -np.inf
    return raw - _log_sum_exp(raw), khat


def _log_sum_exp(values: FloatArray) -> float:
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))
