"""How alike the orders of systems are that different overlays give."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersResult(Result):
    """One row for each pair of overlays.

    Parameters
    ----------
    first, second : tuple of str
        The overlays.
    rbo_low, rbo_high : arrays
        Range of the rank-biased overlap.
    kendall_tau : array
        Kendall's tau-b.
    systems : int
        Systems ordered.
    note : tuple of str
        Why a tau is missing.
    """

    command: ClassVar[str] = "orders"

    first: tuple[str, ...]
    second: tuple[str, ...]
    rbo_low: FloatArray
    rbo_high: FloatArray
    kendall_tau: FloatArray
    systems: int
    note: tuple[str, ...]

    def columns(self) -> dict[str, Column]:
        """The table."""
        return {
            "first": self.first,
            "second": self.second,
            "form": ("alpha",) * len(self.first),
            "rbo_min": self.rbo_low,
            "rbo_max": self.rbo_high,
            "rbo_residual": self.rbo_high - self.rbo_low,
            "kendall_tau": self.kendall_tau,
            "systems": (self.systems,) * len(self.first),
            "note": self.note,
        }
