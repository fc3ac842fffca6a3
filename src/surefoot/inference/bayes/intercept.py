"""The intercept and the means of the effects, given everything that the data can see.

In sum-to-zero coordinates the likelihood depends on m = b + mean(s) + mean(t) and on contrasts,
and m | b ~ N(b, sd_s^2 / I + sd_t^2 / J). A t prior on b is a mixture of normals, so the density
of m is in closed form, and the draws of b, mean(s) and mean(t) given m are exact.
"""

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.priors import Prior

FloatArray = npt.NDArray[np.float64]


def level_variance(
    sd_system: FloatArray, sd_topic: FloatArray, shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Variances of the mean system effect and of the mean topic effect."""
    return sd_system**2 / shape[0], sd_topic**2 / shape[1]


def log_density_of_level(level: FloatArray, variance: FloatArray, prior: Prior) -> FloatArray:
    """Log density of a level that is N(b, variance) around b, b integrated out."""
    level, variance = np.broadcast_arrays(level, variance)
    terms, _ = _terms(level, variance, prior)
    top = terms.max(axis=0)
    return np.asarray(top + np.log(np.exp(terms - top).sum(axis=0)))


def _terms(level: FloatArray, variance: FloatArray, prior: Prior) -> tuple[FloatArray, FloatArray]:
    """Log density of the level with each component of the prior of b, one row a component."""
    mass, extra = prior.normal_mixture()
    wide, weight = (v.reshape(-1, *[1] * level.ndim) for v in (extra, mass))
    total = wide + variance
    out = (level - prior.location) ** 2 / total
    out += np.log(total)
    out *= -0.5
    out += np.log(weight) - 0.5 * np.log(2 * np.pi)
    return out, extra


def draw_intercept(
    level: FloatArray, variance: FloatArray, prior: Prior, rng: np.random.Generator
) -> FloatArray:
    """b given a level that is N(b, variance)."""
    terms, extra = _terms(level, variance, prior)
    edges = np.cumsum(np.exp(terms - terms.max(axis=0)), axis=0)
    pick = (edges < rng.random(len(level)) * edges[-1]).sum(axis=0)
    wide = extra[np.minimum(pick, len(extra) - 1)]
    # product of N(b; location, wide) and N(b; level, variance)
    gain = wide / (wide + variance)
    mean = prior.location + gain * (level - prior.location)
    return np.asarray(mean + np.sqrt(gain * variance) * rng.standard_normal(len(level)))


def split_level(
    rest: FloatArray, of_systems: FloatArray, of_topics: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """mean(s) and mean(t) given their sum ``rest`` = m - b and their variances."""
    total = of_systems + of_topics
    share = of_systems / total
    spread = np.sqrt(of_systems * of_topics / total)
    systems = share * rest + spread * rng.standard_normal(len(rest))
    return systems, rest - systems
