"""Eq. 6 with the model's predictions as a control variate (prediction-powered)."""

import numpy as np
import numpy.typing as npt

from surefoot.active.estimators.estimate import Estimate, ratio

FloatArray = npt.NDArray[np.float64]


def fitted_slope(cross: FloatArray, power: FloatArray) -> FloatArray:
    """Least-squares slope within [0, 1].

    A model on the scale of the measure has its best slope there; without the bounds a few heavy
    draws can send the slope of a useless model far off.
    """
    slope = np.zeros_like(cross)
    np.divide(cross, power, out=slope, where=power > 1e-300)
    return np.clip(slope, 0.0, 1.0)


def regression_mean(
    weight: FloatArray,
    value: FloatArray,
    predicted: FloatArray,
    predicted_mean: float,
    count: FloatArray,
    *,
    slope: float | None = None,
) -> Estimate:
    """Eq. 6 corrected by what the predictions missed on the drawn queries.

    Parameters
    ----------
    weight, value, count
        As for `weighted_mean`.
    predicted : (n_studies, n_draws) array
        The model's expectation of `value` for each draw.
    predicted_mean : float
        The same over the whole pool, which costs no label.
    slope : float, optional
        How far to trust the predictions: 1 is the difference estimator, 0 is Eq. 6; by default the
        slope that minimises the estimated variance, kept between the two (as PPI++, Angelopoulos
        et al. 2023).
    """
    total = weight.sum(axis=1)
    mean = ratio((weight * value).sum(axis=1), total)
    seen = ratio((weight * predicted).sum(axis=1), total)
    residual = value - mean[:, None]
    deviation = predicted - seen[:, None]
    squared = weight**2
    fitted = 0 if slope is not None else 1
    if slope is None:
        power = (squared * deviation**2).sum(axis=1)
        beta = fitted_slope((squared * residual * deviation).sum(axis=1), power)
    else:
        beta = np.full_like(total, slope)
    left = residual - beta[:, None] * deviation
    free = count - 1 - fitted
    variance = ratio((squared * left**2).sum(axis=1), total**2) * ratio(count, np.maximum(free, 0))
    return Estimate(mean + beta * (predicted_mean - seen), np.sqrt(variance), free)
