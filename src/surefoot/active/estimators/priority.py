"""Estimates from priority samples, which never draw a query twice."""

import numpy as np
import numpy.typing as npt

from surefoot.active.estimators.estimate import Estimate, ratio
from surefoot.active.estimators.regression import fitted_slope

FloatArray = npt.NDArray[np.float64]


def inclusion(q: FloatArray, threshold: FloatArray) -> FloatArray:
    """Probability that a priority q/u exceeds the threshold; 1 where nothing is left out."""
    out = np.ones(np.broadcast(q, threshold).shape)
    np.divide(q, threshold, out=out, where=threshold > 0)
    return np.minimum(out, 1.0)


def priority_mean(
    p: FloatArray,
    chance: FloatArray,
    value: FloatArray,
    *,
    predicted: FloatArray | None = None,
    predicted_mean: float = 0.0,
) -> Estimate:
    """Hajek mean of a priority sample, optionally with a control variate.

    Given the threshold, queries are included independently, so the terms of the Horvitz-Thompson
    sums are uncorrelated and their variance is a plain sum (Duffield, Lund and Thorup 2007).

    Parameters
    ----------
    p : (n_studies, n_draws) array
        p(x_j) of each query drawn, 0 beyond a study's end.
    chance : (n_studies, n_draws) array
        From `inclusion`.
    value, predicted, predicted_mean
        As for `regression_mean`.
    """
    weight = p / chance
    used = weight > 0
    total = weight.sum(axis=1)
    mean = ratio((weight * value).sum(axis=1), total)
    left = value - mean[:, None]
    uncertain = weight**2 * (1 - chance)
    free = (used & (chance < 1)).sum(axis=1).astype(np.float64)
    if predicted is not None:
        seen = ratio((weight * predicted).sum(axis=1), total)
        deviation = predicted - seen[:, None]
        power = (uncertain * deviation**2).sum(axis=1)
        beta = fitted_slope((uncertain * left * deviation).sum(axis=1), power)
        left = left - beta[:, None] * deviation
        mean = mean + beta * (predicted_mean - seen)
        free = free - 1
    # nothing uncertain left: the census has no error
    correction = np.where(free > 1, free / np.maximum(free - 1, 1), np.nan)
    squares = (uncertain * left**2).sum(axis=1)
    variance = np.where(squares > 0, ratio(squares, total**2) * correction, 0.0)
    variance = np.where(total > 0, variance, np.nan)
    degrees = np.where(squares > 0, free - 1, np.inf)
    return Estimate(mean, np.sqrt(variance), degrees)
