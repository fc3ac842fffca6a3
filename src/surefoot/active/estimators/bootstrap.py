"""Bootstrap intervals: the draws of one study resampled."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def bootstrap_interval(
    statistic: Callable[[npt.NDArray[np.int64]], FloatArray],
    draws: int,
    *,
    confidence: float,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[float, float]:
    """Percentile interval.

    Parameters
    ----------
    statistic : callable
        Takes an (n_resamples, n_draws) array of draw numbers, returns one estimate a row.
    draws : int
        Number of draws of the study.
    """
    rng = np.random.default_rng(seed)
    values = []
    for begin in range(0, resamples, 200):
        rows = min(200, resamples - begin)
        values.append(statistic(rng.integers(0, draws, (rows, draws))))
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(values), [tail, 1 - tail])
    return float(low), float(high)
