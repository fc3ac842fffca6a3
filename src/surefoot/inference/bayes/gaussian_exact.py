"""Exact sampling of the Gaussian model on complete tables.

The likelihood of sigma, sd_s and sd_t depends on the scores through four sums of squares, one an
eigenvalue of the covariance of the scores, so their posterior is three-dimensional and in closed
form once b is integrated out. It is importance-sampled; everything else is drawn exactly given it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.intercept import (
    draw_intercept,
    level_variance,
    log_density_of_level,
    split_level,
)
from surefoot.inference.bayes.links import Link
from surefoot.inference.bayes.priors import Prior
from surefoot.inference.bayes.proposal import fit_proposal
from surefoot.inference.bayes.psis import UNRELIABLE_KHAT, psis_smooth
from surefoot.inference.bayes.sample import (
    Sample,
    importance_ess,
    systematic_resample,
    weight_doubts,
)

FloatArray = npt.NDArray[np.float64]

METHOD = "exact marginal sampling"
NAMES = ("sigma", "sd_system", "sd_topic")


@dataclass(frozen=True, slots=True)
class SumsOfSquares:
    """The sufficient statistics of a complete systems x topics table."""

    shape: tuple[int, int]
    mean: float
    system_offsets: FloatArray
    topic_offsets: FloatArray
    between_systems: float
    between_topics: float
    residual: float

    @classmethod
    def of(cls, values: FloatArray) -> "SumsOfSquares":
        """Two-way decomposition of the scores."""
        mean = float(values.mean())
        rows, columns = values.mean(axis=1) - mean, values.mean(axis=0) - mean
        residual = values - mean - rows[:, None] - columns
        return cls(
            (values.shape[0], values.shape[1]),
            mean,
            rows,
            columns,
            values.shape[1] * float(rows @ rows),
            values.shape[0] * float(columns @ columns),
            float((residual**2).sum()),
        )


def log_marginal(theta: FloatArray, data: SumsOfSquares, priors: Mapping[str, Prior]) -> FloatArray:
    """Log posterior density of theta, the links' coordinates of `NAMES`, up to a constant."""
    n_systems, n_topics = data.shape
    out = np.zeros(len(theta))
    values = []
    for name, u in zip(NAMES, theta.T, strict=True):
        link = Link.of(name, priors[name])
        values.append(link.value(u))
        out = out + priors[name].log_density(values[-1]) + link.log_slope(u)
    sigma, sd_system, sd_topic = values
    # eigenvalues of the covariance of the scores, with their multiplicities and sums of squares
    noise = sigma**2
    systems = n_topics * sd_system**2 + noise
    topics = n_systems * sd_topic**2 + noise
    for eigenvalue, count, square in (
        (systems, n_systems - 1, data.between_systems),
        (topics, n_topics - 1, data.between_topics),
        (noise, (n_systems - 1) * (n_topics - 1), data.residual),
    ):
        out = out - 0.5 * (count * np.log(eigenvalue) + square / eigenvalue)
    # the remaining eigenvalue belongs to the grand mean, which is N(b, its variance)
    variance = (systems + topics - noise) / (n_systems * n_topics)
    mean = np.full_like(variance, data.mean)
    return np.asarray(out + log_density_of_level(mean, variance, priors["b"]))


def sample_gaussian(
    values: FloatArray, priors: Mapping[str, Prior], n_draws: int, rng: np.random.Generator
) -> Sample:
    """Equally weighted draws for a complete table."""
    data = SumsOfSquares.of(values)
    n_systems, n_topics = data.shape
    cells = n_systems * n_topics

    links = [Link.of(name, priors[name]) for name in NAMES]

    def density(theta: FloatArray) -> FloatArray:
        return log_marginal(theta, data, priors)

    for careful in (False, True):
        fitted = fit_proposal(
            density, _start(data, links), rng, points=1500, components=5, careful=careful
        )
        theta, proposed = fitted.mixture.draw(int(1.3 * n_draws) + 200, rng)
        log_weight, khat = psis_smooth(density(theta) - proposed)
        if khat <= UNRELIABLE_KHAT:
            break
    weight = np.exp(log_weight)
    index = systematic_resample(weight, n_draws, rng)
    # neighbours of an even sequence are unlike each other; shuffle so that thinning is harmless
    index = rng.permutation(index)
    chosen = theta[index].T
    sigma, sd_system, sd_topic = (link.value(u) for link, u in zip(links, chosen, strict=True))

    noise = sigma**2
    of_systems, of_topics = level_variance(sd_system, sd_topic, data.shape)
    around = of_systems + of_topics
    mean = np.full(n_draws, data.mean)
    b = draw_intercept(mean, around + noise / cells, priors["b"], rng)
    # m given b and the grand mean of the scores
    gain = around / (around + noise / cells)
    level = b + gain * (mean - b) + np.sqrt(gain * noise / cells) * rng.standard_normal(n_draws)
    system_mean, topic_mean = split_level(level - b, of_systems, of_topics, rng)
    system = _contrasts(data.system_offsets, sd_system, noise / n_topics, rng)
    topic = _contrasts(data.topic_offsets, sd_topic, noise / n_systems, rng)
    system += system_mean[:, None]
    topic += topic_mean[:, None]

    worth = min(1 / float(weight @ weight), n_draws)
    columns = importance_ess(weight, theta)
    ess: dict[str, FloatArray | float] = {
        name: min(float(value), n_draws)
        for name, value in zip(("sigma", "sd_system", "sd_topic"), columns, strict=True)
    }
    ess |= {"b": worth, "system": np.full(n_systems, worth), "topic": np.full(n_topics, worth)}
    draws = {
        "b": b,
        "sigma": sigma,
        "sd_system": sd_system,
        "sd_topic": sd_topic,
        "system": system,
        "topic": topic,
    }
    efficiency = 1 / float(weight @ weight) / len(weight)
    doubts = weight_doubts(khat, efficiency)
    return Sample(draws, METHOD, ess, khat=khat, efficiency=efficiency, warnings=doubts)


def _contrasts(
    offsets: FloatArray, sd: FloatArray, noise: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Sum-to-zero effects given observed offsets with sampling variance ``noise``."""
    gain = sd**2 / (sd**2 + noise)
    out = rng.standard_normal((len(sd), len(offsets)))
    out -= out.mean(axis=1, keepdims=True)
    out *= np.sqrt(gain * noise)[:, None]
    out += gain[:, None] * offsets
    return out


def _start(data: SumsOfSquares, links: Sequence[Link]) -> FloatArray:
    """Method-of-moments values of sigma, sd_system and sd_topic, as coordinates."""
    n_systems, n_topics = data.shape
    spread = (data.between_systems + data.between_topics + data.residual) / (n_systems * n_topics)
    noise = data.residual / max((n_systems - 1) * (n_topics - 1), 1)
    noise = max(noise, 0.01 * spread, 1e-16)
    systems = data.between_systems / max(n_systems - 1, 1) - noise
    topics = data.between_topics / max(n_topics - 1, 1) - noise
    floor = 0.05 * noise
    values = np.sqrt([noise, max(systems, floor) / n_topics, max(topics, floor) / n_systems])
    return np.array([float(k.inverse(k.within(v))) for k, v in zip(links, values, strict=True)])
