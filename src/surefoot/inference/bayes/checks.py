"""Posterior predictive checks: does the model make scores like the ones that were observed?"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.predictive import kernel_draws
from surefoot.kernels.replicate import replicate_scores
from surefoot.results.posterior import Posterior

FloatArray = npt.NDArray[np.float64]

STATISTICS = (
    "mean",
    "sd",
    "skewness",
    "minimum",
    "maximum",
    "share of zeros",
    "share of ones",
    "share below 0.1",
    "share outside [0, 1]",
    "sd of system means",
    "sd of topic means",
)


# cells of the replicated tables that are held at once
CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Check:
    """Observed and replicated statistics, and histograms for plots.

    `observed` (n_statistics,), `replicated` (n_replicates, n_statistics); `edges` of bins,
    `histogram` of the observed scores and `histograms` of the replicates, as densities.
    """

    observed: FloatArray
    replicated: FloatArray = field(repr=False)
    edges: FloatArray = field(repr=False)
    histogram: FloatArray = field(repr=False)
    histograms: FloatArray = field(repr=False)


def predictive_check(
    posterior: Posterior, *, replicates: int = 500, bins: int = 40, seed: int = 0, threads: int = 0
) -> Check:
    """Compare the observed table with whole replicated tables, missing cells left out of both."""
    system, topic, parameters = kernel_draws(posterior)
    n = min(replicates, posterior.n_draws)
    chosen = np.linspace(0, posterior.n_draws - 1, n).astype(np.intp)
    values = posterior.scores.values
    present = ~np.isnan(values)
    seen = values[present]
    edges = np.zeros(0)
    replicated, histograms = [], []
    step = max(1, CELLS // values.size)
    for start in range(0, n, step):
        rows = chosen[start : start + step]
        scores = replicate_scores(
            posterior.family,
            system[rows],
            topic[rows],
            parameters[rows],
            np.arange(system.shape[1]),
            seed=seed,
            first_draw=start,
            threads=threads,
        ).astype(np.float64)
        replicated.append(_statistics(scores, present))
        if start == 0:
            # bins reach over nearly all replicates (of a large table, the first millions of
            # scores); heavy tails would otherwise stretch them to nothing
            low, high = np.quantile(scores[:, present], (0.001, 0.999))
            edges = np.linspace(min(seen.min(), low), max(seen.max(), high) + 1e-9, bins + 1)
        histograms += [_density(table[present], edges) for table in scores]
    observed = _statistics(np.where(present, values, 0.0)[None], present)[0]
    return Check(
        observed,
        np.concatenate(replicated),
        edges,
        _density(seen, edges),
        np.stack(histograms),
    )


def _density(scores: FloatArray, edges: FloatArray) -> FloatArray:
    return np.asarray(np.histogram(scores, edges)[0] / (scores.size * np.diff(edges)))


def _statistics(tables: FloatArray, present: npt.NDArray[np.bool_]) -> FloatArray:
    """(n, systems, topics) -> (n, n_statistics), in the order of `STATISTICS`."""
    cells = tables[:, present]
    mean, sd = cells.mean(axis=1), cells.std(axis=1)
    centred = cells - mean[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        skewness = (centred**3).mean(axis=1) / sd**3
        by_system = np.where(present, tables, 0.0).sum(axis=2) / present.sum(axis=1)
        by_topic = np.where(present, tables, 0.0).sum(axis=1) / present.sum(axis=0)
    return np.column_stack(
        [
            mean,
            sd,
            skewness,
            cells.min(axis=1),
            cells.max(axis=1),
            (cells == 0).mean(axis=1),
            (cells == 1).mean(axis=1),
            (cells < 0.1).mean(axis=1),
            ((cells < 0) | (cells > 1)).mean(axis=1),
            np.nanstd(by_system, axis=1),
            np.nanstd(by_topic, axis=1),
        ]
    )
