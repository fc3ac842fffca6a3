"""How verdicts move as artifact systems join the model."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactStudy(Result):
    """One row an order, a number of artifacts, a system and an r.

    Parameters
    ----------
    order : tuple of str
        ``best`` or ``worst`` artifacts first.
    artifacts : tuple of int
        How many artifacts the model knew.
    systems : tuple of str
        Champion or challenger.
    r : float array
        How many times a loss counts as much as a gain, in the risk.
    mean, low, high : float arrays
        System effect with its interval.
    overlaps_champion : bool array
        Whether the interval overlaps the champion's in the same model.
    risk_median, risk_low, risk_high : float arrays
        PPDRisk- at `r`; NaN for the champion.
    significant : bool array
        Whether the interval of PPDRisk- excludes 0: of the difference, so that it may disagree with
        `overlaps_champion`.
    """

    command: ClassVar[str] = "artifacts"
    terminal: ClassVar[tuple[str, ...]] = (
        "order",
        "artifacts",
        "system",
        "r",
        "low",
        "high",
        "overlaps_champion",
        "significant",
    )

    champion: str
    family: str
    order: tuple[str, ...]
    artifacts: tuple[int, ...]
    systems: tuple[str, ...]
    r: FloatArray = field(repr=False)
    mean: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    overlaps_champion: npt.NDArray[np.bool_] = field(repr=False)
    risk_median: FloatArray = field(repr=False)
    risk_low: FloatArray = field(repr=False)
    risk_high: FloatArray = field(repr=False)
    significant: npt.NDArray[np.bool_] = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """Order, number of artifacts, system, its effect and its risk at r."""
        n = len(self.systems)
        return {
            "order": list(self.order),
            "artifacts": list(self.artifacts),
            "system": list(self.systems),
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "overlaps_champion": self.overlaps_champion,
            "risk_median": self.risk_median,
            "risk_low": self.risk_low,
            "risk_high": self.risk_high,
            "significant": self.significant,
            "r": self.r,
            "champion": [self.champion] * n,
            "form": ["minus"] * n,
            "family": [self.family] * n,
        }
