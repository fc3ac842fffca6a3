"""Result of planning an active study."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult(Result):
    """What a study is expected to do, and how each query is sampled.

    Parameters
    ----------
    topics : int
        Queries of the pool.
    rankings : tuple of str
        Names; a difference is the first minus another.
    expected_draws, cost_per_draw : float
        n* and the mean cost of a draw.
    introspective : float
        What the model expects of the ranking, or of the difference.
    predicted_se : float
        Standard error that the model expects at the end.
    predicted_saving : float
        Share of labels saved against passive sampling if the model is right.
    q_topics, q, cost, expected, variance
        One entry a query.
    """

    command: ClassVar[str] = "active plan"

    topics: int
    rankings: tuple[str, ...]
    expected_draws: float
    cost_per_draw: float
    introspective: float
    predicted_se: float
    predicted_saving: float
    q_topics: tuple[str, ...] = field(repr=False)
    q: FloatArray = field(repr=False)
    cost: FloatArray = field(repr=False)
    expected: FloatArray = field(repr=False)
    variance: FloatArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """One row: the study in short."""
        return {
            "measure": [str(self.settings["measure"])],
            "rankings": [",".join(self.rankings)],
            "topics": [self.topics],
            "budget": [float(self.settings["budget"])],
            "expected_draws": [self.expected_draws],
            "cost_per_draw": [self.cost_per_draw],
            "introspective": [self.introspective],
            "predicted_se": [self.predicted_se],
            "predicted_saving": [self.predicted_saving],
        }

    def sampling(self) -> "SamplingResult":
        """The table of `--dump-q`."""
        return SamplingResult(
            settings=self.settings,
            q_topics=self.q_topics,
            q=self.q,
            cost=self.cost,
            expected=self.expected,
            variance=self.variance,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingResult(Result):
    """How each query is sampled."""

    command: ClassVar[str] = "active plan"

    q_topics: tuple[str, ...] = field(repr=False)
    q: FloatArray = field(repr=False)
    cost: FloatArray = field(repr=False)
    expected: FloatArray = field(repr=False)
    variance: FloatArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """One row a query."""
        return {
            "topic": self.q_topics,
            "q": self.q,
            "cost": self.cost,
            "expected": self.expected,
            "second_moment": self.variance + self.expected**2,
        }
