"""Intervals that stay valid however often one looks, and the rules to stop by."""

import math
import re
from dataclasses import dataclass

from surefoot.errors import InputError

_RULE = re.compile(r"half-width\s*(<|<=|=|:)?\s*(?P<h>[0-9.eE+-]+)")


def sequence_factor(draws: float, target: float, confidence: float) -> float:
    """How many standard errors wide the confidence sequence is after some draws.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2021,
    Theorem 2.2), Robbins' normal mixture with an estimated standard error: the intervals of all
    looks cover together. `target` is the number of draws at which it is to be tightest.
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence:g}")
    if draws < 2:
        return math.inf
    squared = -2 * math.log(1 - confidence)
    # rho^2 that minimises the width at the target
    eta = max(draws, 1) / max(target, 1) * (squared + math.log(squared) + 1)
    return math.sqrt((1 + 1 / eta) * (math.log1p(eta) + squared))


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
