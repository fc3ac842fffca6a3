"""Does the fitted model make scores like the ones that were observed?"""

from typing import Any

import numpy as np

from surefoot.inference.bayes.checks import STATISTICS, predictive_check
from surefoot.results.check import PredictiveCheck
from surefoot.workflows.posterior import as_posterior, doubts, provenance
from surefoot.workflows.ppd_risk import listed


def check(
    scores: Any,
    *,
    family: str | None = None,
    replicates: int = 500,
    draws: int | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> PredictiveCheck:
    """Posterior predictive check: observed statistics among those of replicated tables.

    Parameters as in `ppd_risk`; `replicates` is the number of whole tables that are replicated.
    """
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        show=progress,
    )  # fmt: skip
    found = predictive_check(posterior, replicates=replicates, seed=seed, threads=threads)
    above = (found.replicated > found.observed + 1e-12).mean(axis=0)
    tied = (np.abs(found.replicated - found.observed) <= 1e-12).mean(axis=0)
    p_value = above + 0.5 * tied
    low, middle, high = np.nanquantile(found.replicated, (0.025, 0.5, 0.975), axis=0)
    off = [name for name, p in zip(STATISTICS, p_value, strict=True) if p < 0.025 or p > 0.975]
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
        settings={"replicates": replicates, "seed": seed, **provenance(posterior)},
        headline=(
            f"The {posterior.family} model reproduces {len(STATISTICS) - len(off)} of "
            f"{len(STATISTICS)} properties of the scores; it misses: {listed(off, 6)}.",
            *doubts(posterior),
        ),
        inputs=posterior.inputs,
    )
