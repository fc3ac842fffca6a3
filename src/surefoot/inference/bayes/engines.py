"""Which engine fits which model, and what takes over when its diagnostics say no."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import ModelError
from surefoot.inference.bayes.approximation import Kernel
from surefoot.inference.bayes.families import FAMILIES, Problem, degenerate_doubts
from surefoot.inference.bayes.gaussian_exact import sample_gaussian
from surefoot.inference.bayes.hmc import sample_hmc
from surefoot.inference.bayes.laplace_is import (
    METHOD,
    ApproximationError,
    finish_weighted,
    sample_laplace,
)
from surefoot.inference.bayes.one_algebra_thread import one_algebra_thread
from surefoot.inference.bayes.prior_draws import sample_prior
from surefoot.inference.bayes.sample import Sample
from surefoot.kernels.hierarchy import laplace

if TYPE_CHECKING:
    from surefoot.inference.bayes.accelerator import Accelerator

FloatArray = npt.NDArray[np.float64]
Report = Callable[[float, float], None]

ENGINES = ("auto", "exact", "laplace", "hmc", "prior")
# the compiled kernels; the first graphics processor; JAX on the CPU, to compare with
DEVICES = ("cpu", "gpu", "jax-cpu")
# draws that chains start from
_START = 2000


def draw_posterior(
    problem: Problem,
    scores: ScoreMatrix,
    n_draws: int,
    *,
    engine: str = "auto",
    device: str = "cpu",
    seed: int = 0,
    threads: int = 0,
    report: Report | None = None,
) -> Sample:
    """Draw from the posterior with the engine that fits the model, or the one asked for.

    The draws depend on the seed and the data alone, not on threads. With ``auto``, importance
    sampling that fails its diagnostics gives way to chains, and the method says why. ``prior``
    ignores the scores. Another ``device`` than ``cpu`` runs importance sampling and chains in JAX;
    the method then names it, and says so where there is nothing for it to do.
    """
    accelerator = use_device(device)
    with one_algebra_thread():
        return _draw(problem, scores, n_draws, engine, accelerator, seed, threads, report)


def _draw(
    problem: Problem,
    scores: ScoreMatrix,
    n_draws: int,
    engine: str,
    accelerator: "Accelerator | None",
    seed: int,
    threads: int,
    report: Report | None,
) -> Sample:
    rng = np.random.Generator(np.random.SFC64(seed))
    name = problem.family.name
    if engine == "prior":
        return sample_prior(problem, n_draws, rng)
    if engine == "exact" and name != "gaussian":
        raise ModelError(f"engine exact is for family gaussian, not {name}. Hint: --engine auto")
    if engine in ("auto", "exact") and name == "gaussian" and not scores.missing.any():
        sample = sample_gaussian(scores.values, problem.priors, n_draws, rng)
        if accelerator is not None:
            sample = replace(sample, method=f"{sample.method} (on the CPU: it takes milliseconds)")
        return sample
    kernel = laplace if accelerator is None else accelerator.laplace
    if engine in ("laplace", "exact"):
        sample = sample_laplace(
            problem, n_draws, rng, threads=threads, kernel=kernel, report=report
        )
    elif engine == "hmc":
        start = _near(problem, rng, kernel, threads)
        sample = sample_hmc(
            problem, start, n_draws, rng,
            far=name == "skew_normal", accelerator=accelerator, threads=threads, report=report,
        )  # fmt: skip
    else:
        sample = _with_fallback(problem, n_draws, rng, accelerator, threads, report)
    if accelerator is not None:
        sample = replace(sample, method=f"{sample.method} on {accelerator.label}")
    sample = replace(sample, warnings=sample.warnings + degenerate_doubts(problem, sample.draws))
    return _with_inflation(problem, sample, rng)


def draw_many(
    problems: Sequence[Problem], n_draws: int, *, device: str, seed: int = 0, batch: int = 125
) -> list[Sample]:
    """Posteriors of many tables of one shape, family and prior, by an accelerator in step.

    For calibration runs and power studies: importance sampling alone, whose doubts are in each
    sample's ``warnings``. A table whose approximation fails altogether comes back without draws.

    Parameters
    ----------
    problems : sequence of Problem
        From `families.pose`.
    n_draws : int
        Draws of each.
    batch : int
        Tables that are on the device at once.
    """
    accelerator = use_device(device)
    if accelerator is None:
        raise ModelError("many tables in step need an accelerator. Hint: device gpu or jax-cpu")
    from surefoot.inference.bayes.accelerator import weighted_many

    per_theta = 4
    thetas = max(1024, math.ceil(1.5 * n_draws / per_theta))
    out = []
    for begin in range(0, len(problems), batch):
        part = problems[begin : begin + batch]
        made = weighted_many(accelerator, part, thetas, per_theta, seed + begin)
        for turn, (problem, weighted) in enumerate(zip(part, made, strict=True)):
            rng = np.random.Generator(np.random.SFC64([seed, begin + turn]))
            try:
                with one_algebra_thread():
                    sample = finish_weighted(problem, weighted, n_draws, rng, per_theta=per_theta)
            except ApproximationError as failure:
                sample = Sample({}, METHOD, {}, warnings=(str(failure),))
            else:
                sample = _with_inflation(problem, sample, rng)
            out.append(replace(sample, method=f"{sample.method} on {accelerator.label}"))
    return out


def use_device(device: str) -> "Accelerator | None":
    """The accelerator that a device names; None for the compiled kernels."""
    if device not in DEVICES:
        raise ModelError(f"unknown device {device!r}. Hint: one of {', '.join(DEVICES)}")
    if device == "cpu":
        return None
    from surefoot.inference.bayes.accelerator import open_accelerator

    return open_accelerator(device)


def _with_fallback(
    problem: Problem,
    n_draws: int,
    rng: np.random.Generator,
    accelerator: "Accelerator | None",
    threads: int,
    report: Report | None,
) -> Sample:
    kernel = laplace if accelerator is None else accelerator.laplace
    try:
        sample = sample_laplace(
            problem, n_draws, rng, threads=threads, kernel=kernel, report=report
        )
    except ApproximationError as failure:
        start, reason = _scattered(problem, rng), str(failure)
    else:
        if not sample.warnings:
            return sample
        start, reason = sample.draws, "; ".join(sample.warnings)
    chains = sample_hmc(
        problem, start, n_draws, rng, accelerator=accelerator, threads=threads, report=report
    )
    return replace(chains, method=f"{chains.method} (fallback: {reason})")


def _near(
    problem: Problem, rng: np.random.Generator, kernel: Kernel, threads: int
) -> dict[str, FloatArray]:
    """Draws to start chains from: importance draws of this family, or of the Gaussian one."""
    base = problem
    skewed = problem.family.name == "skew_normal"
    if skewed:
        base = replace(problem, family=FAMILIES["gaussian"])
    try:
        draws = sample_laplace(base, _START, rng, threads=threads, kernel=kernel).draws
    except ApproximationError:
        return _scattered(problem, rng)
    return {**draws, "lambda": rng.normal(0.0, 1.0, _START)} if skewed else draws


def _scattered(problem: Problem, rng: np.random.Generator) -> dict[str, FloatArray]:
    """Starting points where nothing better is known: small effects around the centre."""
    data = problem.data
    typical = {"sigma": float(data.first.std()) + 1e-6, "phi": 3.0, "nu": 10.0}
    out = {}
    for link, name in zip(
        problem.links, (*problem.family.shapes, "sd_system", "sd_topic"), strict=True
    ):
        if name == "lambda":
            value = rng.normal(0, 1, _START)
        elif name in typical:
            value = typical[name] * np.exp(rng.normal(0, 0.3, _START)) + (name == "nu")
        else:
            value = np.exp(rng.normal(-1.5, 0.5, _START))
        out[name] = link.within(value)
    out["b"] = problem.centre + rng.normal(0, 0.3, _START)
    for name, n in (("system", data.n_systems), ("topic", data.n_topics)):
        out[name] = out[f"sd_{name}"][:, None] * rng.standard_normal((_START, n))
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
