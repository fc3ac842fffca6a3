"""Laplace within importance sampling.

For theta = (shapes, log sd_system, log sd_topic) the effects given theta are nearly normal. A
proposal is fitted to the Laplace marginal of theta, a normal draw of the effects is made for each
theta, and all of it is weighed against the exact posterior. So the draws are exact up to Monte
Carlo error, which Pareto k-hat watches. Neighbouring values of theta share the factor of one
approximation. With a Gaussian likelihood the approximation itself is exact: that is the road for
tables with missing cells.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.approximation import Approximation, Kernel, rough_start
from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.intercept import draw_intercept, level_variance, split_level
from surefoot.inference.bayes.proposal import fit_proposal
from surefoot.inference.bayes.psis import psis_smooth
from surefoot.inference.bayes.sample import (
    Sample,
    importance_ess,
    systematic_resample,
    weight_doubts,
)
from surefoot.kernels.hierarchy import laplace

FloatArray = npt.NDArray[np.float64]
Report = Callable[[float, float], None]

METHOD = "Laplace importance sampling"
# fewer are not worth the setting up
LEAST = 1024
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
    approximation = Approximation(problem, threads, kernel)
    try:
        fitted = fit_proposal(
            approximation.log_marginal, rough_start(problem), rng, careful=careful
        )
    except np.linalg.LinAlgError as error:
        raise ApproximationError("the Laplace approximation has no proper maximum") from error
    if not approximation.tried:
        raise ApproximationError("the Laplace approximation failed everywhere")
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
