"""Save a fit, with the log likelihood of each observation where that is asked for."""

import os
from dataclasses import replace

import numpy as np

from surefoot.inference.bayes.likelihood import (
    LEAST_DRAWS,
    MOST_DENSITIES,
    MOST_DRAWS,
    log_likelihood_chunks,
)
from surefoot.io.fit_file import LogLikelihood, write_fit
from surefoot.results.posterior import Posterior

# log likelihoods in memory at a time
_AT_ONCE = 4_000_000


def save_fit(
    posterior: Posterior,
    path: str | os.PathLike[str],
    *,
    log_likelihood: bool = False,
    threads: int = 0,
) -> None:
    """Save a fit as netCDF in ArviZ's layout (extra ``bayes``); `read_fit` loads it.

    Parameters
    ----------
    posterior : Posterior
        What `fit` returned.
    path : path
        File to write, such as ``fit.nc``; it appears whole or not at all.
    log_likelihood : bool
        Also the log likelihood of each observation, which ``arviz.loo`` and ``arviz.waic`` want:
        under the draws that WAIC and LOO of `fit` come from, at most 8,000, of more than 50,000
        scores fewer. Eight bytes for each draw and observation, which go to the disk in chunks.
    threads : int
        For the log likelihood; 0 for all cores.
    """
    if not log_likelihood:
        write_fit(posterior, path)
        return
    gains = posterior.gains
    n = int((~posterior.scores.missing).sum()) if gains is None else len(gains.score)
    # as many as `posterior_criteria` takes, thinned as it does
    draws = min(max(MOST_DENSITIES // n, LEAST_DRAWS), MOST_DRAWS, posterior.n_draws)
    kept = np.linspace(0, posterior.n_draws - 1, draws).round().astype(np.int64)
    few = replace(posterior, draws={name: v[kept] for name, v in posterior.draws.items()})
    rows = max(1, min(_AT_ONCE // n, draws))
    chunks = log_likelihood_chunks(few, chunk=rows, threads=threads)
    write_fit(posterior, path, log_likelihood=LogLikelihood(kept, rows, chunks))
