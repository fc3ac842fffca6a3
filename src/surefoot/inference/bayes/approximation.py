"""The normal approximation of the effects given theta, as a function of theta.

It predicts modes and information from what it has found before, and draws effects whose importance
ratios are exact, neighbours in theta leaning on one factor.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.intercept import level_variance, log_density_of_level
from surefoot.inference.bayes.neighbours import Neighbours, alone, neighbourhoods
from surefoot.kernels.hierarchy import LaplaceDraws, Leaning, laplace

FloatArray = npt.NDArray[np.float64]
# with the signature of `surefoot.kernels.hierarchy.laplace`
Kernel = Callable[..., LaplaceDraws]
# rows of theta, draws of the effects there, their log ratios and their levels
Block = tuple[npt.NDArray[np.intp], FloatArray, FloatArray, FloatArray]

# draws that are made in one call of the kernel
BLOCK = 4096
# Newton's last step of a mode; what it gains is known to second order
TOLERANCE = 1e-3
# values of theta after which their modes are predicted
ENOUGH_TO_LEARN = 150


@dataclass(slots=True)
class Approximation:
    """The Laplace approximation as a function of theta, with what it has learned so far."""

    problem: Problem
    threads: int = 0
    kernel: Kernel = laplace
    precision_of_b: float = field(init=False)
    start: FloatArray = field(init=False)
    predictor: FloatArray | None = None
    centre: FloatArray = field(default_factory=lambda: np.zeros(0))
    scale: FloatArray = field(default_factory=lambda: np.ones(0))
    tried: list[FloatArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
    found: list[FloatArray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start = np.zeros(self.problem.data.size)
        self.start[0] = self.problem.centre
        # a normal prior of b as curved as the t prior is about the centre: weights know the latter
        mass, wide = self.problem.priors["b"].normal_mixture()
        off = (self.problem.centre - self.problem.priors["b"].location) ** 2
        logs = np.log(mass) - 0.5 * (np.log(wide) + off / wide)
        share = np.exp(logs - logs.max())
        self.precision_of_b = float((share / wide).sum() / share.sum())

    def prior_rows(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Kernel shapes, rows of normal priors, and the variance of the level around b."""
        shapes, sd_system, sd_topic = self.problem.unpack(theta)
        data, prior = self.problem.data, self.problem.priors["b"]
        parts = level_variance(sd_system, sd_topic, (data.n_systems, data.n_topics))
        slope = self.problem.priors.get("k")
        of_k = 0.0 if slope is None or not slope.numbers else 1 / slope.numbers[1] ** 2
        rows = np.empty((len(theta), 5))
        rows[:, 0] = prior.location
        rows[:, 1] = self.precision_of_b
        rows[:, 2] = of_k
        rows[:, 3] = sd_system**-2
        rows[:, 4] = sd_topic**-2
        return shapes, rows, parts[0] + parts[1]

    def level_correction(
        self, level: FloatArray, rows: FloatArray, variance: FloatArray
    ) -> FloatArray:
        """Log of the exact prior density of the level over the normal one that the kernel used."""
        prior = self.problem.priors["b"]
        total = 1 / rows[:, 1] + variance
        normal = -0.5 * (np.log(2 * np.pi * total) + (level - prior.location) ** 2 / total)
        return log_density_of_level(level, variance, prior) - normal

    def levels(self, x: FloatArray) -> FloatArray:
        """B + mean(s) + mean(t) of parameter vectors (..., size)."""
        fixed, n = self.problem.data.fixed, self.problem.data.n_systems
        means = x[..., fixed : fixed + n].mean(axis=-1) + x[..., fixed + n :].mean(axis=-1)
        return np.asarray(x[..., 0] + means)

    def log_marginal(self, theta: FloatArray) -> FloatArray:
        """Laplace approximation of the log posterior of theta; learns from what it finds."""
        shapes, rows, variance = self.prior_rows(theta)
        found = self.kernel(
            self.problem.family.kernel,
            self.problem.data,
            shapes,
            rows,
            self.starts(theta),
            tolerance=TOLERANCE,
            threads=self.threads,
        )
        good = (found.status < 3) & np.isfinite(found.log_marginal)
        if not good.any():
            return np.full(len(theta), -np.inf)
        out = found.log_marginal + self.problem.log_prior(theta)
        out = out + self.level_correction(self.levels(found.mode), rows, variance)
        out = np.asarray(np.where(good, out, -np.inf))
        best = int(np.argmax(out))
        self.start = found.mode[best]
        log_information = np.log(np.maximum(found.information[good], 1e-300))
        self.tried.append(theta[good])
        self.values.append(out[good])
        self.found.append(np.column_stack([found.mode[good], log_information]))
        if self.predictor is None and sum(len(part) for part in self.tried) > ENOUGH_TO_LEARN:
            self.learn()
        return out

    def starts(self, theta: FloatArray) -> FloatArray:
        """Where Newton's method begins: predicted modes, or the best mode known."""
        if self.predictor is None:
            return np.repeat(self.start[None], len(theta), axis=0)
        return self.features(theta) @ self.predictor[:, :-1]

    def neighbours(self, theta: FloatArray) -> Neighbours:
        """Which of these values may lean on one approximation."""
        if self.predictor is None:
            return alone(len(theta))
        data = self.problem.data
        log_information = self.features(theta) @ self.predictor[:, -1]
        shapes = ((theta - self.centre) / self.scale)[:, :-2]
        counts = data.n_systems, data.n_topics
        log_sd = np.log(np.column_stack(self.problem.unpack(theta)[1:]))
        return neighbourhoods(shapes, log_sd, log_information, counts)

    def features(self, theta: FloatArray) -> FloatArray:
        """Quadratic polynomial of standardised theta, held to where it was fitted."""
        u = np.clip((theta - self.centre) / self.scale, -3, 3)
        d = u.shape[1]
        products = [u[:, i] * u[:, j] for i in range(d) for j in range(i + 1)]
        return np.column_stack([np.ones(len(u)), u, *products])

    def learn(self) -> None:
        """Fit the predictor of modes and information to every theta tried near the posterior."""
        theta, value = np.concatenate(self.tried), np.concatenate(self.values)
        found = np.concatenate(self.found)
        weight = np.exp(np.clip(value - value.max(), -30, 0))
        mean = weight @ theta / weight.sum()
        spread = np.sqrt(weight @ (theta - mean) ** 2 / weight.sum())
        self.centre, self.scale = mean, np.maximum(spread, 1e-6)
        near = (np.abs(theta - mean) < 4 * self.scale).all(axis=1)
        if near.sum() < 40:
            return
        self.predictor = np.linalg.lstsq(self.features(theta[near]), found[near], rcond=None)[0]

    def draw(self, theta: FloatArray, rng: np.random.Generator) -> Iterator[Block]:
        """A draw of the effects at each theta, with log likelihood ratios, block by block."""
        problem, data = self.problem, self.problem.data
        groups = self.neighbours(theta)
        centres = groups.means(theta)
        first = 0
        while first < len(centres):
            # whole neighbourhoods, about a block of draws
            last = int(np.searchsorted(groups.edges, groups.edges[first] + BLOCK, side="right")) - 1
            last = max(last, first + 1)
            edges = groups.edges[first : last + 1]
            centre, chosen = centres[first:last], groups.order[edges[0] : edges[-1]]
            part = theta[chosen]
            shapes, rows, variance = self.prior_rows(part)
            start = self.starts(centre)
            shift = self.starts(part) - np.repeat(start, np.diff(edges), axis=0)
            z = rng.standard_normal((len(part), data.size))
            at_centre = self.prior_rows(centre)
            drawn = self.kernel(
                problem.family.kernel,
                data,
                *at_centre[:2],
                start,
                leaning=Leaning(edges - edges[0], shapes, rows, shift, z),
                max_steps=0 if self.predictor is not None else 30,
                threads=self.threads,
            )
            levels = self.levels(drawn.draws)
            ratio = drawn.log_ratio + self.level_correction(levels, rows, variance)
            yield chosen, drawn.draws, ratio, levels
            first = last


def rough_start(problem: Problem) -> FloatArray:
    """Rough theta from the spread of group means on the scale of the predictor."""
    data = problem.data
    y = data.first
    total = float(y.var()) + 1e-12
    spreads = []
    for index, count in ((data.system, data.n_systems), (data.topic, data.n_topics)):
        size = np.bincount(index, minlength=count)
        mean = np.bincount(index, weights=y, minlength=count)[size > 0] / size[size > 0]
        noise = total / max(float(size[size > 0].mean()), 1.0)
        spreads.append(max(float(mean.var()) - noise, 0.05 * noise))
    if problem.family.kernel == "beta":
        # logit scores of a Beta(a, b) vary by trigamma(a) + trigamma(b): shrink to that of eta
        spreads = [min(s, 1.0) for s in spreads]
    sd_system, sd_topic = np.sqrt(spreads)
    values = {"sigma": np.sqrt(total), "phi": 2.0, "nu": 11.0, "lambda": 0.0}
    values |= {"sd_system": sd_system, "sd_topic": sd_topic}
    if "lambda" in problem.family.shapes:
        # the likelihood of few scores has a mode on either side
        return np.concatenate([problem.pack(values | {"lambda": skew}) for skew in (-2.0, 2.0)])
    return np.asarray(problem.pack(values)[0])
