"""Which engine fits which model, and what takes over when its diagnostics say no."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import ModelError
from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.gaussian_exact import sample_gaussian
from surefoot.inference.bayes.laplace_is import sample_laplace
from surefoot.inference.bayes.sample import Sample

FloatArray = npt.NDArray[np.float64]
Report = Callable[[float, float], None]

ENGINES = ("auto", "exact", "laplace", "hmc")


def draw_posterior(
    problem: Problem,
    scores: ScoreMatrix,
    n_draws: int,
    *,
    engine: str = "auto",
    seed: int = 0,
    threads: int = 0,
    report: Report | None = None,
) -> Sample:
    """Draw from the posterior with the engine that fits the model, or the one asked for.

    The draws depend on the seed and the data alone, not on threads.
    """
    rng = np.random.Generator(np.random.SFC64(seed))
    complete = not scores.missing.any()
    if engine == "auto":
        engine = (
            "exact"
            if problem.family.name == "gaussian" and complete
            else "hmc"
            if problem.family.name == "skew_normal"
            else "laplace"
        )
    if engine == "exact" and not (problem.family.name == "gaussian" and complete):
        raise ModelError(
            "engine exact is for family gaussian on a table without missing cells. "
            "Hint: --engine auto"
        )
    if engine == "exact":
        sample = sample_gaussian(scores.values, problem.priors, n_draws, rng)
    else:
        sample = sample_laplace(problem, n_draws, rng, threads=threads, report=report)
    return with_inflation(problem, sample, rng)


def with_inflation(problem: Problem, sample: Sample, rng: np.random.Generator) -> Sample:
    """Add zoi and coi, whose posteriors are Beta distributions apart from all else."""
    if not problem.family.inflated:
        return sample
    n = len(sample.draws["b"])
    edge = problem.zeros + problem.ones
    a, b = problem.priors["zoi"].numbers
    extra = {"zoi": rng.beta(a + edge, b + problem.data.n, n)}
    if "coi" in problem.priors:
        a, b = problem.priors["coi"].numbers
        extra["coi"] = rng.beta(a + problem.ones, b + problem.zeros, n)
    return Sample(
        {**sample.draws, **extra},
        sample.method,
        {**sample.ess, **dict.fromkeys(extra, float(n))},
        sample.rhat,
        sample.khat,
        sample.efficiency,
        sample.warnings,
    )
