"""Significance tests of pairs of systems."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult(Result):
    """One row a pair of systems, or a row of the table of an analysis of variance.

    Parameters
    ----------
    system, other : tuple of str
        Differences are `system` minus `other`.
    test : str
    statistic, p_value, p_adjusted : arrays
        `p_adjusted` takes the number of comparisons into account.
    effect_size, effect_low, effect_high : arrays
        Cohen's d of the differences; partial eta squared in an analysis of variance.
    mean_difference, low, high : arrays
        With an interval for it; simultaneous for all pairs in Tukey's and the max-T test.
    hedges_g, glass_delta, glass_low, glass_high : arrays
        Further effect sizes; Glass's delta is in standard deviations of `other`.
    topics : array
        Topics that both have.
    letters : mapping of system to letters
        Systems that share a letter do not differ significantly; empty unless all pairs were tested.
    table : mapping of column to values
        `sum_of_squares`, `df` and `mean_square` of an analysis of variance.
    """

    command: ClassVar[str] = "test"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "other",
        "sum_of_squares",
        "df",
        "mean_difference",
        "p_adjusted",
        "low",
        "high",
        "note",
    )
    __test__: ClassVar[bool] = False  # not a test case for pytest to collect

    system: tuple[str, ...]
    other: tuple[str, ...]
    test: str
    form: str
    alpha: float
    statistic: FloatArray = field(repr=False)
    p_value: FloatArray = field(repr=False)
    p_adjusted: FloatArray = field(repr=False)
    effect_size: FloatArray = field(repr=False)
    mean_difference: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    effect_low: FloatArray = field(repr=False)
    effect_high: FloatArray = field(repr=False)
    hedges_g: FloatArray = field(repr=False)
    glass_delta: FloatArray = field(repr=False)
    glass_low: FloatArray = field(repr=False)
    glass_high: FloatArray = field(repr=False)
    topics: npt.NDArray[np.int64] = field(repr=False)
    note: tuple[str, ...] = field(repr=False)
    letters: Mapping[str, str] = field(default_factory=dict, repr=False)
    table: Mapping[str, FloatArray] = field(default_factory=dict, repr=False)

    def columns(self) -> dict[str, Column]:
        """The contract's columns first."""
        n = len(self.system)
        out: dict[str, Column] = {
            "system": self.system,
            "other": self.other,
            "test": (self.test,) * n,
            "statistic": self.statistic,
            "p_value": self.p_value,
            "p_adjusted": self.p_adjusted,
            "effect_size": self.effect_size,
            "mean_difference": self.mean_difference,
            "low": self.low,
            "high": self.high,
            "effect_low": self.effect_low,
            "effect_high": self.effect_high,
            "hedges_g": self.hedges_g,
            "glass_delta": self.glass_delta,
            "glass_low": self.glass_low,
            "glass_high": self.glass_high,
            "form": (self.form,) * n,
            "alpha": np.full(n, self.alpha),
            "topics": self.topics,
        }
        if self.letters:
            out["system_letters"] = tuple(self.letters[s] for s in self.system)
            out["other_letters"] = tuple(self.letters[s] for s in self.other)
        out.update(self.table)
        out["note"] = self.note
        return out
