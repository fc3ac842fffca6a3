"""Pointwise log likelihoods of posterior draws, in chunks, and the criteria that rest on them."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.criteria import criteria, join
from surefoot.inference.bayes.families import FAMILIES, Problem, pose
from surefoot.kernels.hierarchy import Observations, pointwise
from surefoot.results.criterion import Criterion
from surefoot.results.posterior import Posterior

FloatArray = npt.NDArray[np.float64]

# observations that are worked through together
BLOCK = 8192
# draws that the criteria rest on, and pointwise densities
LEAST_DRAWS, MOST_DRAWS, MOST_DENSITIES = 2_000, 8_000, 400_000_000


def posterior_criteria(posterior: Posterior, *, threads: int = 0) -> tuple[Criterion, Criterion]:
    """WAIC and PSIS-LOO, block by block of observations: memory does not grow with the table.

    From at most 8,000 draws, in tables of more than 50,000 scores from fewer, down to 2,000: the
    Monte Carlo error of their sum stays far below its standard error over the scores.
    """
    n = _observed(posterior)[1].size
    draws = min(max(MOST_DENSITIES // n, LEAST_DRAWS), MOST_DRAWS, posterior.n_draws)
    blocks = [slice(at, min(at + BLOCK, n)) for at in range(0, n, BLOCK)]

    def of_block(block: slice) -> tuple[Criterion, Criterion]:
        chunks = log_likelihood_chunks(posterior, draws=draws, threads=1, observations=block)
        return criteria(chunks, n_draws=draws)

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        parts = list(pool.map(of_block, blocks))
    waic, loo = (join(of_kind) for of_kind in zip(*parts, strict=True))
    return waic, loo


def log_likelihood_chunks(
    posterior: Posterior,
    *,
    draws: int | None = None,
    chunk: int = 512,
    observations: slice | None = None,
    threads: int = 0,
) -> Iterator[FloatArray]:
    """Log likelihood of every observation under every draw, a chunk of draws at a time.

    Parameters
    ----------
    posterior : Posterior
        A fitted model.
    draws : int, optional
        How many of its draws to use, evenly spaced; by default all.
    chunk : int
        Draws a chunk.
    observations : slice, optional
        Which observations, by default all.

    Yields
    ------
    (n_draws_in_chunk, n_observations) float array
        Observations system by system, topics in order, missing cells left out (for ``zoib_rank``,
        by system, topic and rank): the same order for every family.
    """
    problem, y = _observed(posterior)
    if observations is not None:
        problem, y = _part(problem, y, observations)
    keep = np.arange(posterior.n_draws)
    if draws is not None and draws < len(keep):
        keep = np.linspace(0, posterior.n_draws - 1, draws).round().astype(int)
    for begin in range(0, len(keep), chunk):
        yield _chunk(posterior, problem, y, keep[begin : begin + chunk], threads)


def _observed(posterior: Posterior) -> tuple[Problem, FloatArray]:
    problem = pose(posterior.family, posterior.scores, {}, gains=posterior.gains)
    if posterior.gains is not None:
        gains = posterior.gains
        return problem, gains.score[np.lexsort((gains.rank, gains.topic, gains.system))]
    values = posterior.scores.values
    return problem, values[~np.isnan(values)]


def _part(problem: Problem, y: FloatArray, which: slice) -> tuple[Problem, FloatArray]:
    """The model of some observations, in the same order."""
    inner = which
    if problem.family.inflated:
        # scores of exactly 0 and 1 are not among those that the effects explain
        before = np.concatenate([[0], np.cumsum((y > 0) & (y < 1))])
        inner = slice(int(before[which.start]), int(before[which.stop]))
    data = problem.data
    part = Observations(
        *(data.n_systems, data.n_topics, data.system[inner], data.topic[inner]),
        *(data.first[inner], data.second[inner]),
        None if data.covariate is None else data.covariate[inner],
    )
    return replace(problem, data=part), y[which]


def _chunk(
    posterior: Posterior,
    problem: Problem,
    y: FloatArray,
    index: npt.NDArray[np.intp],
    threads: int,
) -> FloatArray:
    draws = posterior.draws
    shape = np.zeros((len(index), 2))
    for column, name in enumerate(FAMILIES[posterior.family].shapes):
        shape[:, column] = draws[name][index]
    fixed = [draws["b"][index]] + ([draws["k"][index]] if "k" in draws else [])
    x = np.column_stack([*fixed, draws["system"][index], draws["topic"][index]])
    inner = pointwise(problem.family.kernel, problem.data, shape, x, threads=threads)
    if not problem.family.inflated:
        return inner
    # brms' zero_one_inflated_beta: P(0 or 1) = zoi, P(1 | 0 or 1) = coi (errata thesis-41)
    out = np.empty((len(index), len(y)))
    zoi = draws["zoi"][index]
    coi = draws["coi"][index] if "coi" in draws else np.zeros(len(index))
    between = (y > 0) & (y < 1)
    out[:, between] = inner + np.log1p(-zoi)[:, None]
    out[:, y == 0] = (np.log(zoi) + np.log1p(-coi))[:, None]
    if (y == 1).any():
        out[:, y == 1] = (np.log(zoi) + np.log(coi))[:, None]
    return out
