"""What a challenger may do to each query."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast(Result):
    """Per-query forecasts of the difference between a challenger and the champion.

    Parameters
    ----------
    champion, family : str
        The system that would be replaced; the family of the fitted model.
    systems, topics : tuples of str
        Challengers and queries.
    p_worse, p_better, expected_delta, expected_loss, low, median, high : float arrays
        Each (n_challengers, n_topics): probabilities of a loss and of a gain, mean difference, mean
        of its negative part, and the median and ends of its predictive interval.
    observed_delta : (n_challengers, n_topics) float array
        The difference that was observed; NaN where a score is missing.
    """

    command: ClassVar[str] = "forecast"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "topic",
        "p_worse",
        "expected_delta",
        "low",
        "high",
        "observed_delta",
    )

    champion: str
    family: str
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    p_worse: FloatArray = field(repr=False)
    p_better: FloatArray = field(repr=False)
    expected_delta: FloatArray = field(repr=False)
    expected_loss: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    median: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    observed_delta: FloatArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """One row a challenger and query, the most endangered queries first."""
        order = np.argsort(-self.p_worse, axis=1, kind="stable")
        rows = np.arange(len(self.systems))[:, None]
        cells = {
            name: getattr(self, name)[rows, order].ravel()
            for name in (
                "p_worse",
                "p_better",
                "expected_delta",
                "expected_loss",
                "low",
                "median",
                "high",
                "observed_delta",
            )
        }
        n = order.size
        return {
            "system": [name for name in self.systems for _ in self.topics],
            "topic": [self.topics[j] for j in order.ravel()],
            **cells,
            "champion": [self.champion] * n,
            "family": [self.family] * n,
        }
