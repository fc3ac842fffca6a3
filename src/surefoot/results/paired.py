"""A Bayesian model of one pair of systems."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired(Result):
    """Posterior summary of a paired model, one row a parameter.

    Parameters
    ----------
    champion, challenger, model : str
        The pair, and ``gaussian``, ``skew_normal`` or ``bivariate``.
    r : float
        How many times a loss counts as much as a gain.
    p_risky : float
        P(mean risk-adjusted difference > 0): the challenger is riskier.
    summary : mapping
        Parameter -> (mean, sd, q2.5, q50, q97.5).
    low, high : (n_parameters,) float arrays
        Ends of the interval that was asked for.
    draws : mapping
        Parameter -> equally weighted draws.
    """

    command: ClassVar[str] = "paired"
    terminal: ClassVar[tuple[str, ...]] = ("parameter", "mean", "sd", "q50", "low", "high")

    champion: str
    challenger: str
    model: str
    r: float
    p_risky: float
    summary: Mapping[str, tuple[float, float, float, float, float]] = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    draws: Mapping[str, FloatArray] = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """Parameter, mean, sd and quantiles."""
        rows = list(self.summary.values())
        n = len(rows)
        names = ("mean", "sd", "q2.5", "q50", "q97.5")
        return {
            "parameter": list(self.summary),
            **{name: [row[i] for row in rows] for i, name in enumerate(names)},
            "low": self.low,
            "high": self.high,
            "champion": [self.champion] * n,
            "challenger": [self.challenger] * n,
            "model": [self.model] * n,
            "form": ["minus"] * n,
            "r": [self.r] * n,
        }
