"""Pointwise log likelihoods of posterior draws, in chunks."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.families import FAMILIES, Problem, pose
from surefoot.kernels.hierarchy import pointwise
from surefoot.results.posterior import Posterior

FloatArray = npt.NDArray[np.float64]


def log_likelihood_chunks(
    posterior: Posterior, *, draws: int | None = None, chunk: int = 512, threads: int = 0
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

    Yields
    ------
    (n_draws_in_chunk, n_observations) float array
        Observations system by system, topics in order, missing cells left out (for ``zoib_rank``,
        by system, topic and rank): the same order for every family.
    """
    problem, y = _observed(posterior)
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
