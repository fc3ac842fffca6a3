"""What every engine returns, and the steps that importance samplers share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.psis import UNRELIABLE_KHAT

FloatArray = npt.NDArray[np.float64]

# below this share of effective draws importance weights are not to be relied on
LEAST_EFFICIENCY = 0.2
# rows that are worked through at a time
_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Sample:
    """Equally weighted draws of a posterior and how well they were made.

    Parameters
    ----------
    draws : mapping
        As in `surefoot.results.posterior.Posterior`.
    method : str
        Name of the engine.
    ess, rhat : mappings
        By the names of `draws`: a number, or one a column for ``system`` and ``topic``.
    khat, efficiency : float
        Of the importance weights; NaN where there are none.
    warnings : tuple of str
        Doubts about these draws.
    """

    draws: dict[str, FloatArray]
    method: str
    ess: Mapping[str, FloatArray | float]
    rhat: Mapping[str, FloatArray | float] = field(default_factory=dict)
    khat: float = float("nan")
    efficiency: float = float("nan")
    warnings: tuple[str, ...] = ()


def systematic_resample(
    weights: FloatArray, n: int, rng: np.random.Generator
) -> npt.NDArray[np.intp]:
    """Indices of ``n`` equally weighted draws, each index within one of its expected count."""
    edges = np.cumsum(weights)
    edges /= edges[-1]
    position = (np.arange(n) + rng.random()) / n
    return np.minimum(np.searchsorted(edges, position, side="right"), len(weights) - 1)


def importance_ess(
    weights: FloatArray, values: FloatArray, *, group: int = 1, resampled: int = 0
) -> FloatArray:
    """Effective sample size of the mean of each column.

    Parameters
    ----------
    weights : (n,) float array
        Normalised weights.
    values : (n,) or (n, p) float array
        Draws.
    group : int
        Consecutive draws that share a hyperparameter value and so are not independent.
    resampled : int
        How many draws `systematic_resample` takes of these; 0 for the weighted mean itself. An
        index is taken a whole number of times, so a draw that should count 1.3 times adds noise
        with the variance of a coin that falls heads with probability 0.3.
    """
    columns = values.reshape(len(weights), -1)
    mean = weights @ columns
    noise = np.zeros(len(weights))
    if resampled:
        part = np.modf(weights * resampled)[0]
        noise = part * (1 - part) / resampled**2
    variance, error = np.zeros(len(mean)), np.zeros(len(mean))
    step = _ROWS * group
    for begin in range(0, len(weights), step):
        rows = slice(begin, begin + step)
        off = columns[rows] - mean
        square = off**2
        variance += weights[rows] @ square
        error += noise[rows] @ square
        if group == 1:
            error += weights[rows] ** 2 @ square
        else:
            terms = (weights[rows, None] * off).reshape(-1, group, len(mean)).sum(axis=1)
            error += (terms**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(error > 0, variance / error, float(len(weights))))


def weight_doubts(khat: float, efficiency: float) -> tuple[str, ...]:
    """What is wrong with importance weights, in words; nothing if they are good."""
    out = []
    if khat > UNRELIABLE_KHAT:
        out.append(f"Pareto k-hat of the importance weights is {khat:.2f}, above 0.7")
    if efficiency < LEAST_EFFICIENCY:
        out.append(f"only {efficiency:.1%} of the weighted draws are effective")
    return tuple(out)
