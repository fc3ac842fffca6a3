"""Normality of risk-adjusted differences of pairs of systems."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalityResult(Result):
    """One row for each pair of systems and r; every array has one entry a row.

    Parameters
    ----------
    system, other : tuple of str
        Differences are `system` minus `other`, times r where negative; in the minus form of the
        thesis their signs are reversed, which changes the sign of the skewness alone.
    r : array
    w, w_p : arrays
        Shapiro and Wilk.
    d, d_naive_p, d_lilliefors_p : arrays
        Kolmogorov and Smirnov; the naive p-value is not valid and stands for comparison.
    skewness, excess_kurtosis : arrays
    topics : int array
    note : tuple of str
        Why there are no numbers.
    recommendation : str
        Which interval to trust for these data, in a sentence.
    """

    command: ClassVar[str] = "normality"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "other",
        "r",
        "w",
        "w_p",
        "d",
        "d_lilliefors_p",
        "skewness",
        "excess_kurtosis",
    )

    system: tuple[str, ...]
    other: tuple[str, ...]
    form: str
    r: FloatArray
    w: FloatArray = field(repr=False)
    w_p: FloatArray = field(repr=False)
    d: FloatArray = field(repr=False)
    d_naive_p: FloatArray = field(repr=False)
    d_lilliefors_p: FloatArray = field(repr=False)
    skewness: FloatArray = field(repr=False)
    excess_kurtosis: FloatArray = field(repr=False)
    topics: npt.NDArray[np.int64] = field(repr=False)
    note: tuple[str, ...] = field(repr=False)
    recommendation: str

    def columns(self) -> dict[str, Column]:
        """One row a pair and r."""
        return {
            "system": self.system,
            "other": self.other,
            "form": (self.form,) * len(self.system),
            "r": self.r,
            "w": self.w,
            "w_p": self.w_p,
            "d": self.d,
            "d_naive_p": self.d_naive_p,
            "d_lilliefors_p": self.d_lilliefors_p,
            "skewness": self.skewness,
            "excess_kurtosis": self.excess_kurtosis,
            "topics": self.topics,
            "note": self.note,
        }
