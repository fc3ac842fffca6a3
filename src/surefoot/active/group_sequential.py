"""A few planned looks at a study, each at a level such that all together keep the confidence."""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError

FloatArray = npt.NDArray[np.float64]

LOOKS = 5
# no look says anything about fewer draws
_FEWEST = 20


def look_times(planned: float) -> tuple[int, ...]:
    """Draws after which the planned looks take place, the last one aside: it is at the end."""
    return tuple(max(math.ceil(planned * k / LOOKS), _FEWEST) for k in range(1, LOOKS))


@lru_cache(maxsize=16)
def look_levels(confidence: float) -> tuple[float, ...]:
    """Level of each look's two-sided interval (O'Brien and Fleming 1979).

    Look k of K rejects where |Z_k| exceeds C sqrt(K / k); C makes the probability that any look
    does so 1 - confidence, for sums of independent terms (Jennison and Turnbull 2000, section 2.5).
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr

    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence:g}")
    c = brentq(lambda c: _crossing(c) - (1 - confidence), 0.1, 12.0, xtol=1e-10)
    return tuple(float(2 * ndtr(-c * math.sqrt(LOOKS / k))) for k in range(1, LOOKS + 1))


def _crossing(c: float, points: int = 101) -> float:
    """Probability that a random walk of K steps ever leaves +-c sqrt(K)."""
    edge = c * math.sqrt(LOOKS)
    # Gauss-Legendre nodes between the boundaries: the density of walks that are still inside
    x, w = np.polynomial.legendre.leggauss(points)
    x, w = edge * x, edge * w
    density = _normal(x)
    for _ in range(LOOKS - 1):
        density = _normal(x[:, None] - x) @ (w * density)
    return 1 - float(w @ density)


def _normal(x: FloatArray) -> FloatArray:
    out: FloatArray = np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)
    return out


def last_look(draws: int, planned: float, *, ended: bool) -> tuple[int, int]:
    """Number of the last look that has taken place (0: none yet), and its draws."""
    # repeated queries are free, so that draws may go on beyond those planned: still no further look
    if ended:
        return LOOKS, draws
    passed = [(k, n) for k, n in enumerate(look_times(planned), start=1) if n <= draws]
    return passed[-1] if passed else (0, 0)
