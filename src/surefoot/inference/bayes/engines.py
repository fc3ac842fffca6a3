"""Which engine fits which model, and what takes over when its diagnostics say no."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import ModelError
from surefoot.inference.bayes.families import FAMILIES, Problem
from surefoot.inference.bayes.gaussian_exact import sample_gaussian
from surefoot.inference.bayes.hmc import sample_hmc
from surefoot.inference.bayes.laplace_is import ApproximationError, sample_laplace
from surefoot.inference.bayes.prior_draws import sample_prior
from surefoot.inference.bayes.sample import Sample

FloatArray = npt.NDArray[np.float64]
Report = Callable[[float, float], None]

ENGINES = ("auto", "exact", "laplace", "hmc", "prior")
# draws that chains start from
_START = 2000


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

    The draws depend on the seed and the data alone, not on threads. With ``auto``, importance
    sampling that fails its diagnostics gives way to chains, and the method says why. ``prior``
    ignores the scores.
    """
    rng = np.random.Generator(np.random.SFC64(seed))
    name = problem.family.name
    if engine == "prior":
        return sample_prior(problem, n_draws, rng)
    exact = name == "gaussian" and not scores.missing.any()
    if engine == "exact" and not exact:
        raise ModelError(
            "engine exact is for family gaussian on a table without missing cells. "
            "Hint: --engine auto"
        )
    if engine == "laplace" and name == "skew_normal":
        raise ModelError("family skew_normal has no engine laplace. Hint: --engine auto")
    if engine == "exact" or (engine == "auto" and exact):
        sample = sample_gaussian(scores.values, problem.priors, n_draws, rng)
    elif engine == "laplace":
        sample = sample_laplace(problem, n_draws, rng, threads=threads, report=report)
    elif engine == "hmc" or name == "skew_normal":
        far = name == "skew_normal"
        start = _near(problem, rng, threads)
        sample = sample_hmc(problem, start, n_draws, rng, far=far, threads=threads, report=report)
    else:
        sample = _with_fallback(problem, n_draws, rng, threads, report)
    return _with_inflation(problem, sample, rng)


def _with_fallback(
    problem: Problem,
    n_draws: int,
    rng: np.random.Generator,
    threads: int,
    report: Report | None,
) -> Sample:
    try:
        sample = sample_laplace(problem, n_draws, rng, threads=threads, report=report)
    except ApproximationError as failure:
        start, reason = _scattered(problem, rng), str(failure)
    else:
        if not sample.warnings:
            return sample
        start, reason = sample.draws, "; ".join(sample.warnings)
    chains = sample_hmc(problem, start, n_draws, rng, threads=threads, report=report)
    return replace(chains, method=f"{chains.method} (fallback: {reason})")


def _near(problem: Problem, rng: np.random.Generator, threads: int) -> dict[str, FloatArray]:
    """Draws to start chains from: importance draws of this family, or of the Gaussian one."""
    base = problem
    skewed = problem.family.name == "skew_normal"
    if skewed:
        base = replace(problem, family=FAMILIES["gaussian"])
    try:
        draws = sample_laplace(base, _START, rng, threads=threads).draws
    except ApproximationError:
        return _scattered(problem, rng)
    return {**draws, "lambda": rng.normal(0.0, 1.0, _START)} if skewed else draws


def _scattered(problem: Problem, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Starting points where nothing better is known: small effects around the centre."""
    data = problem.data
    sd_system, sd_topic = np.exp(rng.normal(-1.5, 0.5, (2, _START)))
    out = {
        "b": problem.centre + rng.normal(0, 0.3, _START),
        "sd_system": sd_system,
        "sd_topic": sd_topic,
        "system": sd_system[:, None] * rng.standard_normal((_START, data.n_systems)),
        "topic": sd_topic[:, None] * rng.standard_normal((_START, data.n_topics)),
    }
    spread = math.log(float(data.first.std()) + 1e-6)
    centres = {"sigma": spread, "phi": math.log(3.0), "nu": math.log(10.0)}
    for name in problem.family.shapes:
        out[name] = (
            rng.normal(0, 1, _START)
            if name == "lambda"
            else np.exp(centres[name] + rng.normal(0, 0.3, _START)) + (name == "nu")
        )
    if data.fixed == 2:
        out["k"] = rng.normal(0, 0.05, _START)
    return out


def _with_inflation(problem: Problem, sample: Sample, rng: np.random.Generator) -> Sample:
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
    return replace(
        sample,
        draws={**sample.draws, **extra},
        ess={**sample.ess, **dict.fromkeys(extra, float(n))},
    )
