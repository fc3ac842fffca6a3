"""What unjudged documents leave open about a comparison, and what would settle it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.overlays.baselines import Baseline
from surefoot.overlays.residual import certainty, difference_bounds, t_range
from surefoot.overlays.t_risk import critical_t
from surefoot.overlays.value import Linear, ValueFunction
from surefoot.workflows.comparison import Comparison

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of one challenger against one champion over all completions of the judgments."""

    u_low: float
    u_high: float
    t_low: float
    t_high: float
    verdict: str
    certain_losses: int
    certain_wins: int
    undecided: int
    deciding_topics: tuple[str, ...]


def residual_range(
    part: Comparison,
    base: Baseline,
    row: int,
    alpha: float,
    function: ValueFunction | None,
    level: float,
) -> Ranges:
    """Ranges of URisk, TRisk and the verdict; the value function must not decrease.

    Parameters
    ----------
    level : float
        Two-sided level of this one comparison, already divided among the comparisons made.
    """
    matrix = part.matrix
    assert matrix.lower is not None
    assert matrix.upper is not None
    assert base.lower is not None
    assert base.upper is not None
    low, high = difference_bounds((matrix.lower[row], matrix.upper[row]), (base.lower, base.upper))
    delta = matrix.values[row] - base.scores
    known = np.flatnonzero(~np.isnan(low) & ~np.isnan(high) & ~np.isnan(delta))
    low, high, delta = low[known], high[known], delta[known]
    found = certainty(low, high)
    worth = Linear(alpha) if function is None else function
    x_low, x_high, x = worth(low), worth(high), worth(delta)
    # rounding must not push the score as it stands out of its own range
    x_low, x_high = np.minimum(x_low, x), np.maximum(x_high, x)
    n = len(known)
    nothing = float("nan")
    t_low, t_high = t_range(x_low, x_high)
    limit = float(critical_t(n - 1, level))
    verdict = _verdict(t_low, t_high, limit)
    deciding: tuple[str, ...] = ()
    if verdict == "open":
        deciding = tuple(matrix.topics[known[k]] for k in deciding_topics(x_low, x_high, x, limit))
    return Ranges(
        float(x_low.mean()) if n else nothing,
        float(x_high.mean()) if n else nothing,
        t_low,
        t_high,
        verdict,
        found.losses,
        found.wins,
        found.undecided,
        deciding,
    )


def _verdict(t_low: float, t_high: float, limit: float) -> str:
    """The verdict that every t of the range gives, "open" where they differ."""
    if np.isnan(t_low) or np.isnan(t_high) or np.isnan(limit):
        return "open"
    if t_high < -limit:
        return "risky"
    if t_low > limit:
        return "safe"
    if t_low >= -limit and t_high <= limit:
        return "unclear"
    return "open"


def deciding_topics(
    low: FloatArray, high: FloatArray, x: FloatArray, limit: float
) -> npt.NDArray[np.int64]:
    """The widest topics that, judged as they score now, leave one verdict for all the others.

    Topics are taken by falling width of their range; the number needed is found by bisection, as
    fixing a further topic can only narrow the range of t.
    """
    order = np.argsort(-(high - low), kind="stable")
    order = order[(high - low)[order] > 0]

    def settled(count: int) -> bool:
        a, b = low.copy(), high.copy()
        fixed = order[:count]
        a[fixed] = b[fixed] = x[fixed]
        return _verdict(*t_range(a, b), limit) != "open"

    few, many = 0, len(order)
    if not settled(many):
        return order[:0]
    while many - few > 1:
        middle = (few + many) // 2
        if settled(middle):
            many = middle
        else:
            few = middle
    return order[:many].astype(np.int64)
