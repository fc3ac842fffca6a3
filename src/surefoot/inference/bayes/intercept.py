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
    mass, extra = prior.normal_mixture()
    out = np.full(np.broadcast(level, variance).shape, -np.inf)
    square = (level - prior.location) ** 2
    for weight, wide in zip(mass, extra, strict=True):
        total = variance + wide
        term = np.log(weight) - 0.5 * (np.log(2 * np.pi * total) + square / total)
        out = np.logaddexp(out, term)
    return out


def draw_intercept(
    level: FloatArray, variance: FloatArray, prior: Prior, rng: np.random.Generator
) -> FloatArray:
    """b given a level that is N(b, variance)."""
    mass, extra = prior.normal_mixture()
    total = variance[:, None] + extra
    square = (level - prior.location) ** 2
    logs = np.log(mass) - 0.5 * (np.log(total) + square[:, None] / total)
    share = np.exp(logs - logs.max(axis=1, keepdims=True))
    edges = np.cumsum(share, axis=1)
    pick = (edges < (rng.random(len(level)) * edges[:, -1])[:, None]).sum(axis=1)
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
