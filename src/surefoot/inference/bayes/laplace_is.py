"""Laplace within importance sampling.

For theta = (shapes, log sd_system, log sd_topic) the effects given theta are nearly normal. A
proposal is fitted to the Laplace marginal of theta, a normal draw of the effects is made for each
theta, and all of it is weighed against the exact posterior. So the draws are exact up to Monte
Carlo error, which Pareto k-hat watches. Neighbouring values of theta share the factor of one
approximation. With a Gaussian likelihood the approximation itself is exact: that is the road for
tables with missing cells.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.intercept import (
    draw_intercept,
    level_variance,
    log_density_of_level,
    split_level,
)
from surefoot.inference.bayes.neighbours import Neighbours, alone, neighbourhoods
from surefoot.inference.bayes.proposal import fit_proposal
from surefoot.inference.bayes.psis import psis_smooth
from surefoot.inference.bayes.sample import (
    Sample,
    importance_ess,
    systematic_resample,
    weight_doubts,
)
from surefoot.kernels.hierarchy import LaplaceDraws, Leaning, laplace

FloatArray = npt.NDArray[np.float64]
Report = Callable[[float, float], None]
# with the signature of `surefoot.kernels.hierarchy.laplace`
Kernel = Callable[..., LaplaceDraws]
# rows of theta, draws of the effects there, their log ratios and their levels
Block = tuple[npt.NDArray[np.intp], FloatArray, FloatArray, FloatArray]

METHOD = "Laplace importance sampling"
# draws that are made in one call of the kernel
BLOCK = 4096
# fewer are not worth the setting up
LEAST = 1024
# Newton's last step of a mode; what it gains is known to second order
TOLERANCE = 1e-3
# values of theta after which their modes are predicted
ENOUGH_TO_LEARN = 150
# a second attempt is worth while below this
HOPELESS_KHAT = 1.5
METHOD_GAUSSIAN = "exact marginal sampling with missing cells"


class ApproximationError(Exception):
    """No draw has a weight: another engine must take over."""


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """Draws of theta and the effects with the logs of their importance weights.

    Parameters
    ----------
    theta : (n, d) float array
        Hyperparameters.
    x : (n, size) float array
        Effects.
    log_weight : (n,) float array
        Exact, up to a constant.
    levels : (n,) float array
        b + mean(s) + mean(t).
    """

    theta: FloatArray
    x: FloatArray
    log_weight: FloatArray
    levels: FloatArray

    @classmethod
    def join(cls, parts: Sequence["Weighted"]) -> "Weighted":
        """All of them together."""
        return cls(
            np.concatenate([part.theta for part in parts]),
            np.concatenate([part.x for part in parts]),
            np.concatenate([part.log_weight for part in parts]),
            np.concatenate([part.levels for part in parts]),
        )


@dataclass(slots=True)
class _Approximation:
    """The Laplace approximation as a function of theta, with what it has learned so far."""

    problem: Problem
    threads: int
    precision_of_b: float
    start: FloatArray
    kernel: Kernel = laplace
    predictor: FloatArray | None = None
    centre: FloatArray = field(default_factory=lambda: np.zeros(0))
    scale: FloatArray = field(default_factory=lambda: np.ones(0))
    tried: list[FloatArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
    found: list[FloatArray] = field(default_factory=list)

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


def sample_laplace(
    problem: Problem,
    n_draws: int,
    rng: np.random.Generator,
    *,
    threads: int = 0,
    kernel: Kernel = laplace,
    report: Report | None = None,
) -> Sample:
    """Equally weighted draws, with diagnostics that say whether to believe them.

    Parameters
    ----------
    problem : Problem
        From `families.pose`.
    n_draws : int
        Draws to return; enough are proposed for about that many effective ones.
    kernel : callable
        The approximation: the compiled one, or an accelerator's.
    report : callable, optional
        Told how much is done.
    """
    for careful in (False, True):
        sample = _attempt(problem, n_draws, rng, careful, threads, kernel, report)
        if not sample.warnings or sample.khat > HOPELESS_KHAT:
            break
    return sample


def _attempt(
    problem: Problem,
    n_draws: int,
    rng: np.random.Generator,
    careful: bool,
    threads: int,
    kernel: Kernel,
    report: Report | None,
) -> Sample:
    data = problem.data
    start = np.zeros(data.size)
    start[0] = problem.centre
    # a normal prior of b as curved as the t prior is about the centre; the weights know the t prior
    mass, wide = problem.priors["b"].normal_mixture()
    off = (problem.centre - problem.priors["b"].location) ** 2
    share = mass * np.exp(-0.5 * off / wide) / np.sqrt(wide)
    precision_of_b = float((share / wide).sum() / share.sum())
    approximation = _Approximation(problem, threads, precision_of_b, start, kernel)
    try:
        fitted = fit_proposal(
            approximation.log_marginal, rough_start(problem), rng, careful=careful
        )
    except np.linalg.LinAlgError as error:
        raise ApproximationError("the Laplace approximation has no proper maximum") from error
    approximation.learn()
    wanted = max(LEAST, n_draws)
    made: list[Weighted] = []
    total = planned = wanted
    done = 0
    while planned > 0:
        theta, proposed = fitted.mixture.draw(planned, rng)
        for chosen, x, ratio, levels in approximation.draw(theta, rng):
            log_weight = ratio + problem.log_prior(theta[chosen]) - proposed[chosen]
            log_weight = np.where(np.isfinite(log_weight), log_weight, -np.inf)
            made.append(Weighted(theta[chosen], x, log_weight, levels))
            done += len(chosen)
            if report is not None:
                report(done, total)
        # enough effective draws? if not, go on with a second helping
        worth = _effective(np.concatenate([part.log_weight for part in made]))
        planned = 0
        if 0.02 * n_draws < worth < 0.95 * n_draws and total < 4 * wanted:
            planned = min(4 * wanted - total, math.ceil(1.02 * total * (n_draws / worth - 1)))
            total += planned
    return finish_weighted(problem, Weighted.join(made), n_draws, rng)


def _effective(log_weight: FloatArray) -> float:
    if not np.isfinite(log_weight.max()):
        return 0.0
    weight = np.exp(log_weight - log_weight.max())
    return float(weight.sum() ** 2 / (weight @ weight))


def finish_weighted(
    problem: Problem,
    made: Weighted,
    n_draws: int,
    rng: np.random.Generator,
    *,
    per_theta: int = 1,
) -> Sample:
    """Smooth the weights, resample, and draw what the likelihood does not see.

    Parameters
    ----------
    made : Weighted
        Draws with their weights.
    per_theta : int
        Consecutive draws that share a value of theta.
    """
    data = problem.data
    theta, x, levels = made.theta, made.x, made.levels
    if not np.isfinite(made.log_weight.max()):
        raise ApproximationError("the Laplace approximation failed everywhere")
    smoothed, khat = psis_smooth(made.log_weight)
    weight = np.exp(smoothed)
    efficiency = 1 / float(weight @ weight) / len(weight)
    index = rng.permutation(systematic_resample(weight, n_draws, rng))

    ess = _ess(problem, made, weight, per_theta, n_draws)
    shapes, sd_system, sd_topic = problem.unpack(theta[index])
    draws = {name: shapes[:, c].copy() for c, name in enumerate(problem.family.shapes)}
    of_systems, of_topics = level_variance(sd_system, sd_topic, (data.n_systems, data.n_topics))
    level = levels[index]
    b = draw_intercept(level, of_systems + of_topics, problem.priors["b"], rng)
    system_mean, topic_mean = split_level(level - b, of_systems, of_topics, rng)
    chosen = x[index]
    system = chosen[:, data.fixed : data.fixed + data.n_systems]
    topic = chosen[:, data.fixed + data.n_systems :]
    draws |= {
        "b": b,
        "sd_system": sd_system,
        "sd_topic": sd_topic,
        "system": system + (system_mean - system.mean(axis=1))[:, None],
        "topic": topic + (topic_mean - topic.mean(axis=1))[:, None],
    }
    if data.fixed == 2:
        draws["k"] = chosen[:, 1].copy()
    doubts = weight_doubts(khat, efficiency)
    exact = problem.family.kernel == "gaussian"
    method = METHOD_GAUSSIAN if exact else METHOD
    return Sample(draws, method, ess, khat=khat, efficiency=efficiency, warnings=doubts)


def _ess(
    problem: Problem, made: Weighted, weight: FloatArray, per_theta: int, n_draws: int
) -> dict[str, FloatArray | float]:
    """Effective sizes of the means of what is returned, at most as many as there are draws."""
    data = problem.data
    of_theta, of_x = (
        np.minimum(importance_ess(weight, v, group=per_theta, resampled=n_draws), n_draws)
        for v in (made.theta, made.x)
    )
    names = [*problem.family.shapes, "sd_system", "sd_topic"]
    out: dict[str, FloatArray | float] = {n: float(of_theta[c]) for c, n in enumerate(names)}
    out["b"] = float(of_x[0])
    if data.fixed == 2:
        out["k"] = float(of_x[1])
    out["system"] = of_x[data.fixed : data.fixed + data.n_systems]
    out["topic"] = of_x[data.fixed + data.n_systems :]
    return out


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
