"""Bayesian risk-adjusted effectiveness of every system."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brisk(Result):
    """BRisk- of systems at every r.

    The champion is among them: its interval is what the others are held to.

    Parameters
    ----------
    champion, family : str
        Reference system; family of the model of the risk-adjusted scores.
    systems : tuple of str
        The system of each row: the challengers and the champion, at each r in turn.
    r : (n_rows,) float array
        How many times a loss counts as much as a gain.
    mean, low, high : (n_rows,) float arrays
        Negated system effects on the risk-adjusted scores: higher is riskier.
    overlaps_champion : (n_rows,) bool array
        Whether the interval overlaps the champion's at the same r.
    p_riskier : (n_rows,) float array
        Probability of being riskier than the champion; NaN for the champion.
    difference, difference_low, difference_high : (n_rows,) float arrays
        System minus champion; NaN for the champion.
    """

    command: ClassVar[str] = "brisk"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "r",
        "mean",
        "low",
        "high",
        "overlaps_champion",
        "p_riskier",
    )

    champion: str
    family: str
    systems: tuple[str, ...]
    r: FloatArray = field(repr=False)
    mean: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    overlaps_champion: npt.NDArray[np.bool_] = field(repr=False)
    p_riskier: FloatArray = field(repr=False)
    difference: FloatArray = field(repr=False)
    difference_low: FloatArray = field(repr=False)
    difference_high: FloatArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """One row a system and r."""
        n = len(self.systems)
        return {
            "system": list(self.systems),
            "r": self.r,
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "overlaps_champion": self.overlaps_champion,
            "p_riskier": self.p_riskier,
            "difference": self.difference,
            "difference_low": self.difference_low,
            "difference_high": self.difference_high,
            "champion": [self.champion] * n,
            "form": ["minus"] * n,
            "family": [self.family] * n,
        }
