"""Risk and reward of a family of settings."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierResult(Result):
    """One row a system, the least risky of each family first.

    Parameters
    ----------
    system, family : tuple of str
        Setting, and the family that it belongs to.
    risk, reward : arrays
        The two axes; lower risk and higher reward are better.
    percent_gain : array
        Mean gain in per cent of the champion's mean.
    efficient : bool array
        Whether no setting of the family beats it on both.
    efficient_overall : bool array
        The same among all families.
    beaten_by : tuple of str
        A setting that does, of any family.
    note : tuple of str
        Why a number is missing.
    """

    command: ClassVar[str] = "frontier"

    system: tuple[str, ...]
    family: tuple[str, ...]
    risk: FloatArray
    reward: FloatArray
    percent_gain: FloatArray
    efficient: npt.NDArray[np.bool_]
    efficient_overall: npt.NDArray[np.bool_]
    beaten_by: tuple[str, ...]
    note: tuple[str, ...]

    def columns(self) -> dict[str, Column]:
        """The table."""
        return {
            "system": self.system,
            "family": self.family,
            "risk": self.risk,
            "reward": self.reward,
            "percent_gain": self.percent_gain,
            "efficient": self.efficient,
            "efficient_overall": self.efficient_overall,
            "beaten_by": self.beaten_by,
            "note": self.note,
        }
