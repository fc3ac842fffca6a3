"""Laplace within importance sampling.

For theta = (shapes, log sd_system, log sd_topic) the effects given theta are nearly normal. A
proposal is fitted to the Laplace marginal of theta, several normal draws of the effects are made
for each theta, and all of it is weighed against the exact posterior. So the draws are exact up to
Monte Carlo error, which Pareto k-hat watches. With a Gaussian likelihood the approximation itself
is exact: that is the road for tables with missing cells.
"""

import math
from collections.abc import Callable, Sequence
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
from surefoot.inference.bayes.proposal import Fitted, fit_proposal
from surefoot.inference.bayes.psis import psis_smooth
from surefoot.inference.bayes.sample import (
    Sample,
    importance_ess,
    systematic_resample,
    weight_doubts,
)
from surefoot.kernels.hierarchy import LaplaceDraws, laplace

FloatArray = npt.NDArray[np.float64]
Report = Callable[[float, float], None]
# with the signature of `surefoot.kernels.hierarchy.laplace`
Kernel = Callable[..., LaplaceDraws]
Block = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

METHOD = "Laplace importance sampling"
# a second attempt is worth while below this
HOPELESS_KHAT = 1.5
METHOD_GAUSSIAN = "exact marginal sampling with missing cells"


class ApproximationError(Exception):
    """No draw has a weight: another engine must take over."""


@dataclass(slots=True)
class _Approximation:
    """The Laplace approximation as a function of theta, with what it has learned so far."""

    problem: Problem
    threads: int
    level: float
    start: FloatArray
    kernel: Kernel = laplace
    predictor: FloatArray | None = None
    centre: FloatArray = field(default_factory=lambda: np.zeros(0))
    scale: FloatArray = field(default_factory=lambda: np.ones(0))
    modes: list[FloatArray] = field(default_factory=list)
    tried: list[FloatArray] = field(default_factory=list)

    def prior_rows(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Kernel shapes, rows of normal priors, and the variance of the level around b."""
        shapes, sd_system, sd_topic = self.problem.unpack(theta)
        data, prior = self.problem.data, self.problem.priors["b"]
        parts = level_variance(sd_system, sd_topic, (data.n_systems, data.n_topics))
        variance = parts[0] + parts[1]
        # a normal prior of b with the curvature of the t prior's convolution at the pilot level
        mass, wide = prior.normal_mixture()
        total = variance[:, None] + wide
        square = (self.level - prior.location) ** 2
        logs = np.log(mass) - 0.5 * (np.log(total) + square / total)
        share = np.exp(logs - logs.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        of_level = 1 / (share / total).sum(axis=1)
        of_b = np.maximum(of_level - variance, 1e-3 * of_level)
        slope = self.problem.priors.get("k")
        of_k = 0.0 if slope is None or not slope.numbers else 1 / slope.numbers[1] ** 2
        rows = np.column_stack(
            [
                np.full(len(theta), prior.location),
                1 / of_b,
                np.full(len(theta), of_k),
                1 / sd_system**2,
                1 / sd_topic**2,
            ]
        )
        return shapes, rows, variance

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
        """Laplace approximation of the log posterior of theta; remembers the modes."""
        shapes, rows, variance = self.prior_rows(theta)
        found = self.kernel(
            self.problem.family.kernel,
            self.problem.data,
            shapes,
            rows,
            self.starts(theta),
            threads=self.threads,
        )
        good = (found.status < 3) & np.isfinite(found.log_marginal)
        self.modes.append(found.mode[good])
        self.tried.append(theta[good])
        if good.any():
            # the next search starts from the best mode so far
            out = found.log_marginal + self.problem.log_prior(theta)
            out = out + self.level_correction(self.levels(found.mode), rows, variance)
            out = np.where(good, out, -np.inf)
            best = int(np.argmax(out))
            self.start = found.mode[best]
            return np.asarray(out)
        return np.full(len(theta), -np.inf)

    def starts(self, theta: FloatArray) -> FloatArray:
        """Where Newton's method begins: predicted modes, or the best mode known."""
        if self.predictor is None:
            return np.repeat(self.start[None], len(theta), axis=0)
        return self.features(theta) @ self.predictor

    def features(self, theta: FloatArray) -> FloatArray:
        """Quadratic polynomial of standardised theta, held to where it was fitted."""
        u = np.clip((theta - self.centre) / self.scale, -3, 3)
        d = u.shape[1]
        products = [u[:, i] * u[:, j] for i in range(d) for j in range(i + 1)]
        return np.column_stack([np.ones(len(u)), u, *products])

    def learn(self, fitted: Fitted) -> None:
        """Fit the predictor of modes to every theta tried within reach of the posterior."""
        theta, modes = np.concatenate(self.tried), np.concatenate(self.modes)
        weight = np.exp(np.clip(fitted.log_density - fitted.log_density.max(), -30, 0))
        mean = weight @ fitted.theta / weight.sum()
        spread = np.sqrt(weight @ (fitted.theta - mean) ** 2 / weight.sum())
        self.centre, self.scale = mean, np.maximum(spread, 1e-6)
        near = (np.abs(theta - mean) < 4 * self.scale).all(axis=1)
        if near.sum() < 40:
            return
        self.predictor = np.linalg.lstsq(self.features(theta[near]), modes[near], rcond=None)[0]


def sample_laplace(
    problem: Problem,
    n_draws: int,
    rng: np.random.Generator,
    *,
    threads: int = 0,
    per_theta: int = 4,
    kernel: Kernel = laplace,
    report: Report | None = None,
) -> Sample:
    """Equally weighted draws, with diagnostics that say whether to believe them.

    Parameters
    ----------
    problem : Problem
        From `families.pose`; any family but skew_normal.
    n_draws : int
        Draws to return; enough are proposed for about that many effective ones.
    per_theta : int
        Draws of the effects for each value of the hyperparameters.
    kernel : callable
        The approximation: the compiled one, or an accelerator's.
    report : callable, optional
        Told how much is done.
    """
    for careful in (False, True):
        sample = _attempt(problem, n_draws, rng, careful, threads, per_theta, kernel, report)
        if not sample.warnings or sample.khat > HOPELESS_KHAT:
            break
    return sample


def _attempt(
    problem: Problem,
    n_draws: int,
    rng: np.random.Generator,
    careful: bool,
    threads: int,
    per_theta: int,
    kernel: Kernel,
    report: Report | None,
) -> Sample:
    data = problem.data
    start = np.zeros(data.size)
    start[0] = problem.centre
    approximation = _Approximation(problem, threads, problem.centre, start, kernel)
    try:
        fitted = fit_proposal(
            approximation.log_marginal, rough_start(problem), rng, careful=careful
        )
    except np.linalg.LinAlgError as error:
        raise ApproximationError("the Laplace approximation has no proper maximum") from error
    approximation.learn(fitted)
    exact = problem.family.kernel == "gaussian"
    per_theta = 1 if exact else per_theta

    block = 256
    blocks: list[Block] = []
    wanted = max(4 * block, math.ceil(n_draws / per_theta))
    planned = wanted
    theta, proposed = fitted.mixture.draw(planned, rng)
    order = rng.permutation(planned)
    theta, proposed = theta[order], proposed[order]
    done = 0
    while done < planned:
        take = slice(done, done + block)
        part = theta[take]
        shapes, rows, variance = approximation.prior_rows(part)
        z = rng.standard_normal((len(part), per_theta, data.size))
        found = kernel(
            problem.family.kernel,
            data,
            shapes,
            rows,
            approximation.starts(part),
            z=z,
            max_steps=0 if approximation.predictor is not None else 30,
            threads=threads,
        )
        levels = approximation.levels(found.draws)
        prior_part = problem.log_prior(part) - proposed[take]
        log_weight = found.log_ratio + prior_part[:, None]
        for k in range(per_theta):
            log_weight[:, k] += approximation.level_correction(levels[:, k], rows, variance)
        log_weight = np.where(np.isfinite(log_weight), log_weight, -np.inf)
        blocks.append((part, found.draws, log_weight, levels))
        done += len(part)
        if report is not None:
            report(min(done, planned), planned)
        if done >= planned and planned < 4 * wanted:
            # enough effective draws? if not, go on with a second helping
            worth = _effective(np.concatenate([b[2].ravel() for b in blocks]))
            if 0.02 * n_draws < worth < 0.95 * min(n_draws, wanted * per_theta):
                short = wanted * per_theta / worth - planned / wanted
                more = min(4 * wanted - planned, math.ceil(short * planned * 1.02))
                if more > 0:
                    extra, density = fitted.mixture.draw(more, rng)
                    theta = np.concatenate([theta, extra])
                    proposed = np.concatenate([proposed, density])
                    planned += more
    return finish_weighted(problem, blocks, per_theta, n_draws, rng)


def _effective(log_weight: FloatArray) -> float:
    if not np.isfinite(log_weight.max()):
        return 0.0
    weight = np.exp(log_weight - log_weight.max())
    return float(weight.sum() ** 2 / (weight @ weight))


def finish_weighted(
    problem: Problem,
    blocks: Sequence[Block],
    per_theta: int,
    n_draws: int,
    rng: np.random.Generator,
) -> Sample:
    """Smooth the weights, resample, and draw what the likelihood does not see.

    Parameters
    ----------
    blocks : sequence of tuples
        theta (m, d), draws (m, per_theta, size), their log weights and levels (m, per_theta).
    """
    data = problem.data
    theta = np.concatenate([b[0] for b in blocks])
    x = np.concatenate([b[1].reshape(-1, data.size) for b in blocks])
    log_weight = np.concatenate([b[2].ravel() for b in blocks])
    levels = np.concatenate([b[3].ravel() for b in blocks])
    if not np.isfinite(log_weight.max()):
        raise ApproximationError("the Laplace approximation failed everywhere")
    smoothed, khat = psis_smooth(log_weight)
    weight = np.exp(smoothed)
    efficiency = 1 / float(weight @ weight) / len(weight)
    index = rng.permutation(systematic_resample(weight, n_draws, rng))

    ess = _ess(problem, theta, x, weight, per_theta, n_draws)
    shapes, sd_system, sd_topic = problem.unpack(theta[index // per_theta])
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
    problem: Problem,
    theta: FloatArray,
    x: FloatArray,
    weight: FloatArray,
    per_theta: int,
    n_draws: int,
) -> dict[str, FloatArray | float]:
    """Effective sizes of weighted means, at most the number of draws returned."""
    data = problem.data
    of_theta = importance_ess(weight, np.repeat(theta, per_theta, axis=0), group=per_theta)
    of_x = np.minimum(importance_ess(weight, x, group=per_theta), n_draws)
    out: dict[str, FloatArray | float] = {
        name: min(float(of_theta[c]), n_draws)
        for c, name in enumerate([*problem.family.shapes, "sd_system", "sd_topic"])
    }
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
        shapes = [math.log(2.0)]
    else:
        shapes = [0.5 * math.log(total)]
    if "nu" in problem.family.shapes:
        shapes.append(math.log(10.0))
    return np.array([*shapes, *(0.5 * math.log(s) for s in spreads)])
