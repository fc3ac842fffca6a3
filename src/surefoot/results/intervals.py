"""Confidence intervals of each challenger's difference to a champion."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalResult(Result):
    """One row for each challenger, champion, alpha and method; every array has one entry a row.

    Parameters
    ----------
    system, champion, method : tuple of str
    form : str
        "alpha", or "minus" where values are negated: higher is riskier.
    alpha : array
        How much more a loss counts than a gain.
    confidence : float
        Of all intervals of one method and alpha together where a correction was asked for.
    level : float
        Of each single interval.
    low, high, estimate : arrays
        NaN or infinite only where `note` says why.
    standard_error : array
    topics : int array
        Topics that both systems have.
    verdict : tuple of str
        "worse", "better", "undecided" or "unknown": where the interval lies from 0.
    note : tuple of str
    """

    command: ClassVar[str] = "ci"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "champion",
        "form",
        "alpha",
        "method",
        "estimate",
        "low",
        "high",
        "verdict",
        "note",
    )

    system: tuple[str, ...]
    champion: tuple[str, ...]
    method: tuple[str, ...]
    form: str
    alpha: FloatArray
    confidence: float
    level: float
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    estimate: FloatArray = field(repr=False)
    standard_error: FloatArray = field(repr=False)
    topics: npt.NDArray[np.int64] = field(repr=False)
    verdict: tuple[str, ...]
    note: tuple[str, ...] = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """The contract's columns first."""
        n = len(self.system)
        return {
            "system": self.system,
            "method": self.method,
            "confidence": np.full(n, self.confidence),
            "low": self.low,
            "high": self.high,
            "estimate": self.estimate,
            "form": (self.form,) * n,
            "alpha": self.alpha,
            "champion": self.champion,
            "level": np.full(n, self.level),
            "standard_error": self.standard_error,
            "topics": self.topics,
            "verdict": self.verdict,
            "note": self.note,
        }
