"""Ranks of systems with their uncertainty, and which pairs separate."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks(Result):
    """One row a system, best first.

    Parameters
    ----------
    family : str
        Family of the model.
    systems : tuple of str
        In order of the posterior mean of their effect.
    mean, low, high : (n,) float arrays
        System effects.
    score : (n,) float array
        Expected score, averaged over the queries.
    rank, rank_low, rank_high, p_best : (n,) float arrays
        Median and interval of the rank (1 is best), and the probability of rank 1.
    separated : (n, n) bool array
        Whether row is better than column with intervals that do not overlap.
    distinct : (n, n) bool array
        Whether row is better than column by the interval of their difference.
    p_better : (n, n) float array
        P(row is better than column).
    """

    command: ClassVar[str] = "ranks"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "score",
        "rank",
        "rank_low",
        "rank_high",
        "p_best",
        "separates_below",
        "separates_above",
    )

    family: str
    systems: tuple[str, ...]
    mean: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    score: FloatArray = field(repr=False)
    rank: FloatArray = field(repr=False)
    rank_low: FloatArray = field(repr=False)
    rank_high: FloatArray = field(repr=False)
    p_best: FloatArray = field(repr=False)
    separated: BoolArray = field(repr=False)
    distinct: BoolArray = field(repr=False)
    p_better: FloatArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """System, effect, rank; how many systems it separates from, below and above."""
        return {
            "system": list(self.systems),
            "mean": self.mean,
            "low": self.low,
            "high": self.high,
            "score": self.score,
            "rank": self.rank,
            "rank_low": self.rank_low,
            "rank_high": self.rank_high,
            "p_best": self.p_best,
            "separates_below": self.separated.sum(axis=1),
            "separates_above": self.separated.sum(axis=0),
            "better_than": self.distinct.sum(axis=1),
            "worse_than": self.distinct.sum(axis=0),
            "family": [self.family] * len(self.systems),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs(Result):
    """Systems against one of them, or all pairs: who is better, by how much, how surely.

    Parameters
    ----------
    systems, others : tuples of str
        The two systems of each row.
    difference, low, high, p_better : float arrays
        System minus other in expected score, its interval, and P(system is better).
    p_worse_than_rope, p_equivalent, p_better_than_rope : float arrays
        Masses below, within and above the region of practical equivalence.
    glass_delta, glass_delta_low, glass_delta_high : float arrays
        Effect size over the other's spread from the hierarchical model, with its interval; NaN for
        a model of the gains of single ranks.
    glass_delta_unpooled : float array
        Effect size without shrinkage, from the pair's own scores; NaN where all pairs were asked
        for, each of which would need a fit of its own.
    overlap : bool array
        Whether the intervals of the two system effects overlap.
    """

    command: ClassVar[str] = "pairs"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "other",
        "difference",
        "low",
        "high",
        "p_better",
        "overlap",
        "p_equivalent",
        "glass_delta",
    )

    systems: tuple[str, ...]
    others: tuple[str, ...]
    difference: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    p_better: FloatArray = field(repr=False)
    p_worse_than_rope: FloatArray = field(repr=False)
    p_equivalent: FloatArray = field(repr=False)
    p_better_than_rope: FloatArray = field(repr=False)
    glass_delta: FloatArray = field(repr=False)
    glass_delta_low: FloatArray = field(repr=False)
    glass_delta_high: FloatArray = field(repr=False)
    glass_delta_unpooled: FloatArray = field(repr=False)
    overlap: BoolArray = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """One row a pair."""
        return {
            "system": list(self.systems),
            "other": list(self.others),
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "p_better": self.p_better,
            "p_worse_than_rope": self.p_worse_than_rope,
            "p_equivalent": self.p_equivalent,
            "p_better_than_rope": self.p_better_than_rope,
            "glass_delta": self.glass_delta,
            "glass_delta_low": self.glass_delta_low,
            "glass_delta_high": self.glass_delta_high,
            "glass_delta_unpooled": self.glass_delta_unpooled,
            "overlap": self.overlap,
        }
