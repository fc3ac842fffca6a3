"""Risk on new scores, by posterior prediction."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PpdRisk(Result):
    """PPDRisk- of every challenger at every r.

    Parameters
    ----------
    champion : str
        The system that would be replaced.
    family : str
        Family of the fitted model.
    systems : tuple of str
        Challengers.
    r : tuple of float
        How many times a loss counts as much as a gain.
    median, low, high, p_risky : (n_challengers, n_r) float arrays
        Median and predictive interval of URisk- (higher is riskier), and P(URisk- > 0).
    significant : (n_challengers, n_r) bool array
        Whether the interval excludes zero.
    gain, loss : (n_challengers,) float arrays
        Posterior mean of the gains, and of the losses, per query.
    worse, worse_low, worse_high : (n_challengers,) float arrays
        Median and interval of the number of queries that get worse.
    n_topics : int
        Number of queries.
    gain_draws, loss_draws : (n_draws, n_challengers) float arrays
        Sums of gains and of losses of each replicate: the win and loss distributions, from which
        the risk at any r follows as ``-(gain + r * loss) / n_topics``.
    """

    command: ClassVar[str] = "ppd-risk"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "r",
        "median",
        "low",
        "high",
        "p_risky",
        "significant",
    )

    champion: str
    family: str
    systems: tuple[str, ...]
    r: tuple[float, ...]
    median: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    p_risky: FloatArray = field(repr=False)
    significant: npt.NDArray[np.bool_] = field(repr=False)
    gain: FloatArray = field(repr=False)
    loss: FloatArray = field(repr=False)
    worse: FloatArray = field(repr=False)
    worse_low: FloatArray = field(repr=False)
    worse_high: FloatArray = field(repr=False)
    n_topics: int
    gain_draws: FloatArray = field(repr=False)
    loss_draws: FloatArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """One row a challenger and r."""
        n, times = len(self.systems), len(self.r)
        return {
            "system": [name for name in self.systems for _ in self.r],
            "r": list(self.r) * n,
            "median": self.median.ravel(),
            "low": self.low.ravel(),
            "high": self.high.ravel(),
            "p_risky": self.p_risky.ravel(),
            "significant": self.significant.ravel(),
            "champion": [self.champion] * (n * times),
            "form": ["minus"] * (n * times),
            "family": [self.family] * (n * times),
            "gain": np.repeat(self.gain, times),
            "loss": np.repeat(self.loss, times),
            "queries_worse": np.repeat(self.worse, times),
            "queries_worse_low": np.repeat(self.worse_low, times),
            "queries_worse_high": np.repeat(self.worse_high, times),
        }
