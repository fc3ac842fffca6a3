"""Intervals that stay valid however often one looks, and the rules to stop by."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError

FloatArray = npt.NDArray[np.float64]

_RULE = re.compile(r"half-width\s*(<|<=|=|:)?\s*(?P<h>[0-9.eE+-]+)")

# largest share of the capital that a bet can lose
_RISK = 0.9
_OCTAVES = 16


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one draw can lie from a mean r: the smallest and largest w (v - r) over the pool.

    Both are extremes of straight lines in r, one a query; only the lines that matter are kept.

    Parameters
    ----------
    below, above : (n, 2) arrays
        Pairs (w, w v) with v the query's lowest value, and its highest.
    low, high : float
        Bounds of the mean itself.
    """

    below: FloatArray
    above: FloatArray
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """As a study keeps it."""
        return {
            "below": self.below.tolist(),
            "above": self.above.tolist(),
            "low": self.low,
            "high": self.high,
        }

    @staticmethod
    def from_dict(kept: Mapping[str, Any]) -> "Reach":
        """From what a study keeps."""
        return Reach(np.array(kept["below"]), np.array(kept["above"]), kept["low"], kept["high"])

    def loss(self, r: float) -> float:
        """The most that a draw can lie below r."""
        return float(max((self.below[:, 0] * r - self.below[:, 1]).max(), 0.0))

    def excess(self, r: float) -> float:
        """The most that a draw can lie above r."""
        return float(max((self.above[:, 1] - self.above[:, 0] * r).max(), 0.0))


def reach(weight: FloatArray, low: FloatArray, high: FloatArray, p: FloatArray) -> Reach:
    """The reach of a pool.

    Parameters
    ----------
    weight : (n_topics,) array
        p / q.
    low, high : (n_topics,) arrays
        From `value_bounds`.
    """
    mean_low, mean_high = float(p @ low), float(p @ high)
    below = _envelope(weight, -weight * low, mean_low, mean_high)
    above = _envelope(-weight, weight * high, mean_low, mean_high)
    below[:, 1] *= -1
    above[:, 0] *= -1
    return Reach(below, above, mean_low, mean_high)


def _envelope(slope: FloatArray, level: FloatArray, left: float, right: float) -> FloatArray:
    """The lines slope r + level that are the largest somewhere between two ends."""
    kept: list[int] = []
    r = left
    current = int(np.lexsort((-slope, -(slope * r + level)))[0])
    while True:
        kept.append(current)
        steeper = np.flatnonzero(slope > slope[current])
        if not len(steeper):
            break
        cross = (level[current] - level[steeper]) / (slope[steeper] - slope[current])
        cross = np.maximum(cross, r)
        nearest = np.lexsort((-slope[steeper], cross))[0]
        r = float(cross[nearest])
        if not r < right:
            break
        current = int(steeper[nearest])
    return np.column_stack([slope[kept], level[kept]])


def betting_interval(
    weight: FloatArray,
    value: FloatArray,
    reach: Reach,
    *,
    confidence: float,
    step: float,
) -> tuple[float, float]:
    """The means that no bet has made implausible: a confidence sequence for Eq. 6.

    If r is the mean, every draw's w (v - r) has mean 0, so the capital of a gambler who stakes a
    fixed share on it is a nonnegative martingale, and so is the average capital of many gamblers.
    By Ville's inequality it ever reaches 1/alpha with probability at most alpha, for any number of
    looks and any labels (Waudby-Smith and Ramdas 2023, Theorem 1). No approximation is involved; it
    needs draws with replacement and bounds on what a query's value can be.

    Parameters
    ----------
    weight, value : (n_draws,) arrays
        p / q of each draw, and its value.
    reach : Reach
        Of the pool.
    step : float
        The stake that is best if the model is right: sqrt(2 log(2 / alpha) / n) / sigma at the
        planned number of draws. Gamblers stake this and its doubles and halves.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence:g}")
    bar = math.log(2 / (1 - confidence))

    def ruled_out_low(r: float) -> bool:
        gain = weight * (value - r)
        return float(log_capital(gain, reach.loss(r), step)[-1]) >= bar

    def ruled_out_high(r: float) -> bool:
        gain = weight * (r - value)
        return float(log_capital(gain, reach.excess(r), step)[-1]) >= bar

    low = _edge(ruled_out_low, reach.low, reach.high)
    high = _edge(ruled_out_high, reach.high, reach.low)
    return (low, high) if low <= high else (high, low)


def log_capital(gain: FloatArray, furthest: float, step: float) -> FloatArray:
    """Logarithm of the gamblers' average capital after every draw.

    Parameters
    ----------
    gain : (n_draws,) array
        w (v - r) for those who bet that the mean is above r, its negative for the others.
    furthest : float
        The most that a draw can lose.
    """
    octaves = np.arange(-_OCTAVES, _OCTAVES + 1, dtype=np.float64)
    prior = 2.0 ** -np.abs(octaves)
    stakes = step * 2.0**octaves
    if furthest > 0:
        stakes = np.minimum(stakes, _RISK / furthest)
    grown = np.log1p(stakes[:, None] * gain).cumsum(axis=1)
    top = grown.max(axis=0)
    mean: FloatArray = top + np.log((prior / prior.sum()) @ np.exp(grown - top))
    return mean


def _edge(ruled_out: Callable[[float], bool], outer: float, inner: float) -> float:
    """The last mean that is ruled out on the way from one bound to the other."""
    if not ruled_out(outer):
        return outer
    out, within = outer, inner
    for _ in range(50):
        middle = (out + within) / 2
        if ruled_out(middle):
            out = middle
        else:
            within = middle
    return out


def planned_stake(sigma: float, draws: float, confidence: float) -> float:
    """The stake that grows fastest at the planned number of draws."""
    spread = max(sigma, 1e-12)
    return math.sqrt(2 * math.log(2 / (1 - confidence)) / max(draws, 1.0)) / spread


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """When a sequential study has seen enough.

    Parameters
    ----------
    sign : bool
        Stop when the interval of the difference leaves 0 out.
    half_width : float, optional
        Stop when half the interval is below this.
    """

    sign: bool = False
    half_width: float | None = None

    def met(self, low: float, high: float) -> bool:
        """Whether an interval lets the study stop."""
        if math.isnan(low) or math.isnan(high):
            return False
        known = self.sign and (low > 0 or high < 0)
        narrow = self.half_width is not None and (high - low) / 2 < self.half_width
        return known or narrow

    def __str__(self) -> str:
        parts = ["sign"] if self.sign else []
        if self.half_width is not None:
            parts.append(f"half-width<{self.half_width:g}")
        return ",".join(parts)


def parse_rule(text: str) -> StoppingRule:
    """``sign``, ``half-width<0.01``, or both with a comma."""
    sign, half = False, None
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = _RULE.fullmatch(part)
        if part == "sign":
            sign = True
        elif match is not None and _positive(match["h"]):
            half = float(match["h"])
        else:
            raise InputError(
                f"cannot read the stopping rule {part!r}. Hint: sign, or half-width<0.01"
            )
    return StoppingRule(sign, half)


def _positive(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False
