"""The paper's estimator: the importance-weighted mean of Eq. 6."""

import numpy as np
import numpy.typing as npt

from surefoot.active.estimators.estimate import Estimate, ratio

FloatArray = npt.NDArray[np.float64]


def weighted_mean(weight: FloatArray, value: FloatArray, count: FloatArray) -> Estimate:
    """Eq. 6 with its delta-method standard error.

    Parameters
    ----------
    weight : (n_studies, n_draws) array
        p(x_j) / q(x_j) of each draw, 0 beyond a study's end.
    value : (n_studies, n_draws) array
        L(r(x_j), y_j), or the difference of two rankings.
    count : (n_studies,) array
        Draws of each study.
    """
    total = weight.sum(axis=1)
    mean = ratio((weight * value).sum(axis=1), total)
    squares = (weight**2 * (value - mean[:, None]) ** 2).sum(axis=1)
    # the variance of a ratio of means, with n - 1 for the mean that was fitted
    variance = ratio(squares, total**2) * ratio(count, np.maximum(count - 1, 0))
    return Estimate(mean, np.sqrt(variance), count - 1)
