"""Rank-biased overlap of two orders of systems, as a range."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from surefoot.errors import InputError


@dataclass(frozen=True, slots=True)
class Overlap:
    """Bounds of the overlap of two rankings that are known down to some depth."""

    low: float
    high: float

    @property
    def residual(self) -> float:
        """What the unseen ranks could still add."""
        return self.high - self.low


def rbo(first: Sequence[Hashable], second: Sequence[Hashable], *, p: float = 0.9) -> Overlap:
    """Rank-biased overlap (Webber, Moffat and Zobel 2010) of two equally long rankings.

    Parameters
    ----------
    first, second : sequences
        Items, best first, each once.
    p : float
        Persistence in (0, 1); 0.9 looks at the first ten ranks or so (Benham 2023, Fig. 3.5).

    Returns
    -------
    Overlap
        `low` supposes that the items below the last rank have nothing in common, `high` that they
        agree as much as they can.
    """
    if not 0 < p < 1:
        raise InputError(f"p must lie between 0 and 1, but got {p}")
    k = len(first)
    if k != len(second) or k == 0:
        raise InputError(f"the rankings must be equally long and not empty: {k} and {len(second)}")
    if len(set(first)) != k or len(set(second)) != k:
        raise InputError("a ranking must not hold an item twice")
    seen_first: set[Hashable] = set()
    seen_second: set[Hashable] = set()
    overlap = 0
    overlaps = []
    for a, b in zip(first, second, strict=True):
        overlap += (a == b) + (a in seen_second) + (b in seen_first)
        seen_first.add(a)
        seen_second.add(b)
        overlaps.append(overlap)
    weights = [p**d / d for d in range(1, 2 * k - overlap + 1)]
    # Webber et al. 2010, Eq. 11: as if the overlap stayed what it is at depth k
    total = sum((x - overlap) * w for x, w in zip(overlaps, weights[:k], strict=True))
    low = (1 - p) / p * (total - overlap * math.log1p(-p))
    # at depth d > k the overlap is at most overlap + 2 (d - k), and d itself from 2k - overlap on
    full = 2 * k - overlap
    gain = sum(2 * (d - k) * weights[d - 1] for d in range(k + 1, full + 1))
    beyond = -math.log1p(-p) - sum(weights)  # sum of p^d / d over d > full
    gain += p ** (full + 1) / (1 - p) - overlap * beyond
    return Overlap(low, min(low + (1 - p) / p * gain, 1.0))
