"""Statistics over topics that the resampling knows how to do fast.

Any callable serves as a statistic. A `FunctionOfMeans` is one whose replicates and jackknife values
follow from means of a few features of each topic, so that it costs no more than a mean.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# (k, n_topics) samples -> (k,) values
AnyStatistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class FunctionOfMeans:
    """A statistic that is a smooth function of means over topics.

    Parameters
    ----------
    features : callable
        Maps a series, (n_topics,), to its features, (n_features, n_topics).
    combine : callable
        Maps means, (n_features, ...), and the number of topics to values of shape (...).
    """

    features: Callable[[FloatArray], FloatArray]
    combine: Callable[[FloatArray, int], FloatArray]

    def __call__(self, samples: FloatArray) -> FloatArray:
        """Value of each sample, (k, n_topics) -> (k,)."""
        means = np.stack([self.features(s).mean(axis=1) for s in samples], axis=1)
        return self.combine(means, samples.shape[1])


def _moments(x: FloatArray) -> FloatArray:
    return np.stack([x, x * x])


def _t_ratio(means: FloatArray, n: int) -> FloatArray:
    variance = (means[1] - means[0] ** 2) * (n / (n - 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: FloatArray = means[0] / np.sqrt(np.maximum(variance, 0.0) / n)
    return np.where(means[0] == 0, 0.0, ratio)


# the mean over its standard error: Student's t, and TRisk when the series is risk-adjusted
T_RATIO = FunctionOfMeans(_moments, _t_ratio)
