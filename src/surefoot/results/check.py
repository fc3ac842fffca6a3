"""Posterior predictive checks, as data for tables and plots."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictiveCheck(Result):
    """Observed statistics among those of replicated tables.

    Parameters
    ----------
    statistics : tuple of str
        Names.
    observed, median, low, high : (n_statistics,) float arrays
        The observed value; median and interval of the replicates.
    p_value : (n_statistics,) float array
        Share of replicates at least as large as observed, ties half; near 0 or 1 is a misfit.
    edges : (n_bins + 1,) float array
        Bins of the histograms.
    histogram : (n_bins,) float array
        Density of the observed scores.
    histograms : (n_replicates, n_bins) float array
        Densities of replicated tables.
    """

    command: ClassVar[str] = "check"

    family: str
    statistics: tuple[str, ...]
    observed: FloatArray = field(repr=False)
    median: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    p_value: FloatArray = field(repr=False)
    edges: FloatArray = field(repr=False)
    histogram: FloatArray = field(repr=False)
    histograms: FloatArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """One row a statistic."""
        return {
            "statistic": list(self.statistics),
            "observed": self.observed,
            "median": self.median,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_value,
            "family": [self.family] * len(self.statistics),
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the command, with the densities of the scores for plots.

        ``histograms``: ``edges`` of the bins, ``observed`` and one list a table in ``replicated``.
        """
        # a dataclass with slots is another class than the one that super() alone would look for
        return super(PredictiveCheck, self).to_dict() | {
            "histograms": {
                "edges": self.edges.tolist(),
                "observed": self.histogram.tolist(),
                "replicated": self.histograms.tolist(),
            }
        }
