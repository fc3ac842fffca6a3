"""Topics needed for a power, or the power reached."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerResult(Result):
    """One row for each comparison, way of computing and number of topics.

    Parameters
    ----------
    system, other : tuple of str
        Empty where only an effect was given.
    test, method : tuple of str
        `method` is "webber", "nagata", "noncentral_t" or "simulation".
    effect : array
        Mean of the differences over their standard deviation.
    topics : tuple of int or None
        None where `note` says why.
    power, power_error : arrays
        With its Monte Carlo standard error, 0 for formulas.
    """

    command: ClassVar[str] = "power"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "other",
        "test",
        "method",
        "effect",
        "topics",
        "power",
        "power_error",
        "note",
    )

    system: tuple[str, ...]
    other: tuple[str, ...]
    test: tuple[str, ...]
    method: tuple[str, ...]
    form: str
    alpha: float
    effect: FloatArray = field(repr=False)
    topics: tuple[int | None, ...]
    power: FloatArray
    power_error: FloatArray = field(repr=False)
    level: float
    target: float
    note: tuple[str, ...] = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """One table for planned and reached power."""
        n = len(self.system)
        return {
            "system": self.system,
            "other": self.other,
            "test": self.test,
            "method": self.method,
            "topics": self.topics,
            "power": self.power,
            "power_error": self.power_error,
            "effect": self.effect,
            "level": np.full(n, self.level),
            "target": np.full(n, self.target),
            "form": (self.form,) * n,
            "alpha": np.full(n, self.alpha),
            "note": self.note,
        }
