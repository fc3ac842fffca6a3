"""Does the fitted model make scores like the ones that were observed?"""

from typing import Any

import numpy as np

from surefoot.inference.bayes.checks import STATISTICS, predictive_check
from surefoot.results.check import PredictiveCheck
from surefoot.workflows.posterior import (
    Priors,
    as_posterior,
    check_count,
    from_prior,
    provenance,
    told,
)
from surefoot.workflows.ppd_risk import listed


def check(
    scores: Any,
    *,
    family: str | None = None,
    replicates: int = 500,
    draws: int | None = None,
    priors: Priors = (),
    one_above: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> PredictiveCheck:
    """Posterior predictive check: observed statistics among those of replicated tables.

    Parameters as in `ppd_risk`; `replicates` is the number of whole tables that are replicated, at
    most one a draw. ``to_dict()`` and JSON hold the histograms too.
    """
    check_count("replicates", replicates, 2)
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        priors=priors, one_above=one_above, show=progress,
    )  # fmt: skip
    found = predictive_check(posterior, replicates=replicates, seed=seed, threads=threads)
    above = (found.replicated > found.observed + 1e-12).mean(axis=0)
    tied = (np.abs(found.replicated - found.observed) <= 1e-12).mean(axis=0)
    p_value = above + 0.5 * tied
    low, middle, high = np.nanquantile(found.replicated, (0.025, 0.5, 0.975), axis=0)
    made = len(found.replicated)
    fewer = (
        f"{made} tables were replicated, one a draw, of the {replicates} that were asked for.",
    )
    off = [name for name, p in zip(STATISTICS, p_value, strict=True) if p < 0.025 or p > 0.975]
    before = "Before it sees the scores, the" if from_prior(posterior) else "The"
    return PredictiveCheck(
        family=posterior.family,
        statistics=STATISTICS,
        observed=found.observed,
        median=middle,
        low=low,
        high=high,
        p_value=p_value,
        edges=found.edges,
        histogram=found.histogram,
        histograms=found.histograms,
        settings={"replicates": made, "seed": seed, **provenance(posterior)},
        headline=told(
            posterior,
            f"{before} {posterior.family} model reproduces {len(STATISTICS) - len(off)} of "
            f"{len(STATISTICS)} properties of the scores; it misses: {listed(off, 6)}.",
            *(fewer if made < replicates else ()),
        ),
        inputs=posterior.inputs,
    )
