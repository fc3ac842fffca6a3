"""A population of topics that looks like the observed scores: new topics for the same systems."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError

FloatArray = npt.NDArray[np.float64]
Margins = Literal["smoothed", "beta"]
MARGINS: tuple[Margins, ...] = ("smoothed", "beta")
Copula = Literal["empirical", "gaussian"]
COPULAS: tuple[Copula, ...] = ("empirical", "gaussian")


@dataclass(frozen=True, slots=True)
class Population:
    """Margins of each system tied together by a copula.

    Parameters
    ----------
    margins : str
        "smoothed": the observed scores, spread evenly half way to their neighbours; scores that
        occur more than once stay atoms. "beta": a beta distribution with atoms at 0 and 1.
    copula : str
        "empirical": the ranks of an observed topic, moved together within their cell. "gaussian":
        normal scores with the correlations of the observed ones; simpler, but it pulls apart
        systems that agree closely.
    ordered : (n_systems, n_topics) float array
        Sorted scores of each system.
    parameters : (n_systems, 4) float array
        Share of zeros, share of ones, and the two shapes of the beta.
    ranks : (n_systems, n_topics) int array
        From 0, in the order of the topics.
    factor : (n_systems, n_systems) float array
        Square root of the Gaussian copula's correlation.

    References
    ----------
    Urbano and Nagler 2018: stochastic simulation of test collections.
    """

    margins: str
    copula: str
    ordered: FloatArray = field(repr=False)
    parameters: FloatArray = field(repr=False)
    ranks: npt.NDArray[np.intp] = field(repr=False)
    factor: FloatArray = field(repr=False)

    def draw(self, n_topics: int, n_sets: int, rng: np.random.Generator) -> FloatArray:
        """(n_systems, n_sets, n_topics) scores on new topics."""
        k, n = self.ordered.shape
        total = n_sets * n_topics
        if self.copula == "empirical":
            topic = rng.integers(0, n, size=total)
            u = (self.ranks[:, topic] + rng.random(total)) / n
        else:
            from scipy.special import ndtr

            u = ndtr(self.factor @ rng.standard_normal((k, total)))
        out = np.empty((k, total))
        for i in range(k):
            if self.margins == "beta":
                out[i] = _beta_quantiles(self.parameters[i], u[i])
            else:
                out[i] = _smoothed(self.ordered[i], u[i])
        return out.reshape(k, n_sets, n_topics)


def fit_population(
    scores: npt.ArrayLike, *, margins: str = "smoothed", copula: str = "empirical"
) -> Population:
    """Fit margins and copula to (n_systems, n_topics) complete scores."""
    from scipy.special import ndtri

    x = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    if margins not in MARGINS:
        raise InputError(f"unknown margins {margins!r}. Hint: one of {', '.join(MARGINS)}")
    if copula not in COPULAS:
        raise InputError(f"unknown copula {copula!r}. Hint: one of {', '.join(COPULAS)}")
    k, n = x.shape
    if n < 5:
        raise InputError(f"a simulation needs five topics to learn from, but got {n}")
    parameters = np.zeros((k, 4))
    if margins == "beta":
        if x.min() < 0 or x.max() > 1:
            raise InputError(
                "beta margins need scores between 0 and 1. Hint: choose smoothed margins"
            )
        parameters = np.array([_zero_one_beta(row) for row in x])
    normal = ndtri((_mid_ranks(x) - 0.5) / n)
    normal -= normal.mean(axis=1, keepdims=True)
    size = np.sqrt((normal**2).sum(axis=1, keepdims=True))
    normal /= np.where(size > 0, size, 1.0)
    correlation = normal @ normal.T
    np.fill_diagonal(correlation, 1.0)
    weight, vectors = np.linalg.eigh(correlation)
    factor = vectors * np.sqrt(np.maximum(weight, 0.0))
    # tied scores are one atom of the margin, so the order among them does not matter
    ranks = np.argsort(np.argsort(x, axis=1, kind="stable"), axis=1, kind="stable")
    return Population(margins, copula, np.sort(x, axis=1), parameters, ranks, factor)


def _mid_ranks(x: FloatArray) -> FloatArray:
    """Ranks from 1, averaged over ties, of each row."""
    out = np.empty_like(x)
    for row, ranks in zip(x, out, strict=True):
        _, inverse, counts = np.unique(row, return_inverse=True, return_counts=True)
        last = np.cumsum(counts)
        ranks[:] = (last - (counts - 1) / 2)[inverse]
    return out


def _smoothed(ordered: FloatArray, u: FloatArray) -> FloatArray:
    """Quantiles: each score's share of chance spread half way to its neighbours, atoms kept."""
    n = len(ordered)
    half = np.diff(ordered) / 2
    low = ordered - np.concatenate([[0.0], half])
    high = ordered + np.concatenate([half, [0.0]])
    tied = np.zeros(n, dtype=bool)
    tied[1:] |= np.diff(ordered) == 0
    tied[:-1] |= np.diff(ordered) == 0
    low[tied] = high[tied] = ordered[tied]
    position = u * n
    i = np.minimum(position.astype(np.intp), n - 1)
    values: FloatArray = low[i] + (position - i) * (high[i] - low[i])
    return values


def _beta_quantiles(parameters: FloatArray, u: FloatArray) -> FloatArray:
    from scipy.special import betaincinv

    zeros, ones, a, b = parameters
    inner = np.clip((u - zeros) / max(1 - zeros - ones, 1e-12), 0.0, 1.0)
    values: FloatArray = betaincinv(a, b, inner)
    values[u < zeros] = 0.0
    values[u >= 1 - ones] = 1.0
    return values


def _zero_one_beta(row: FloatArray) -> tuple[float, float, float, float]:
    """Shares of zeros and ones, and the beta that has the mean and variance of the rest."""
    zeros, ones = float((row == 0).mean()), float((row == 1).mean())
    inner = row[(row > 0) & (row < 1)]
    if len(inner) < 2 or inner.var() == 0:
        return zeros, ones, 1.0, 1.0
    mean, variance = float(inner.mean()), float(inner.var(ddof=1))
    concentration = max(mean * (1 - mean) / variance - 1, 1e-3)
    return zeros, ones, mean * concentration, (1 - mean) * concentration
