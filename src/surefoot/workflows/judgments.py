"""What unjudged documents leave open about comparisons, and what would settle them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.inference.corrections import thresholds
from surefoot.overlays.baselines import Baseline
from surefoot.overlays.residual import certainty, difference_bounds, t_range
from surefoot.overlays.t_risk import critical_t, p_value
from surefoot.overlays.value import Linear, ValueFunction
from surefoot.workflows.comparison import Comparison
from surefoot.workflows.unjudged import Unjudged

FloatArray = npt.NDArray[np.float64]

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of one challenger against one champion over all completions of the judgments."""

    u_low: float
    u_high: float
    t_low: float
    t_high: float
    certain_losses: int
    certain_wins: int
    undecided: int
    topics: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Critical values of t between which the correction for many comparisons moves.

    Parameters
    ----------
    sure : float
        Beyond it the comparison is significant whatever the others turn out to be.
    possible : float
        Within it it is not, whatever they turn out to be.
    """

    sure: float
    possible: float


def difference_range(
    part: Comparison, base: Baseline, row: int, unjudged: Unjudged | None = None
) -> tuple[FloatArray, FloatArray]:
    """Bounds of the differences of a challenger (a row) to a champion, one a topic.

    From the documents where they are known; else from the bounds of both scores, as if each could
    be anywhere between its own whatever the other is.
    """
    matrix = part.matrix
    assert matrix.lower is not None
    assert matrix.upper is not None
    assert base.lower is not None
    assert base.upper is not None
    reach = None
    if unjudged is not None and base.system:
        reach = unjudged.reach(matrix.systems[row], base.name, matrix.topics)
    if reach is None:
        return difference_bounds((matrix.lower[row], matrix.upper[row]), (base.lower, base.upper))
    delta = matrix.lower[row] - base.lower
    low, high = delta + reach[0], delta + reach[1]
    # a gain that just makes up for a loss ends at zero
    return np.where(np.abs(low) < _ROUNDING, 0.0, low), np.where(
        np.abs(high) < _ROUNDING, 0.0, high
    )


@dataclass(frozen=True, slots=True)
class Contest:
    """One challenger (a row) against one champion; the value function must not decrease."""

    part: Comparison
    base: Baseline
    row: int
    alpha: float
    function: ValueFunction | None = None
    unjudged: Unjudged | None = None

    def bounds(self) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.int64]]:
        """Low, high and present differences on the topics where all are known; which these are."""
        matrix, base = self.part.matrix, self.base
        low, high = difference_range(self.part, self.base, self.row, self.unjudged)
        delta = matrix.values[self.row] - base.scores
        known = np.flatnonzero(~np.isnan(low) & ~np.isnan(high) & ~np.isnan(delta))
        return low[known], high[known], delta[known], known

    def worth(
        self, low: FloatArray, high: FloatArray, delta: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same risk-adjusted."""
        adjust = Linear(self.alpha) if self.function is None else self.function
        x = adjust(delta)
        # rounding must not push the score as it stands out of its own range
        return np.minimum(adjust(low), x), np.maximum(adjust(high), x), x

    def ranges(self) -> Ranges:
        """Ranges of URisk and TRisk, and the topics that are certain."""
        low, high, delta, known = self.bounds()
        found = certainty(low, high)
        x_low, x_high, _ = self.worth(low, high, delta)
        n = len(known)
        nothing = float("nan")
        t_low, t_high = t_range(x_low, x_high)
        return Ranges(
            float(x_low.mean()) if n else nothing,
            float(x_high.mean()) if n else nothing,
            t_low,
            t_high,
            found.losses,
            found.wins,
            found.undecided,
            n,
        )

    def deciding_topics(self, limits: Limits) -> tuple[str, ...]:
        """The widest topics that, judged as they score now, leave one verdict for all the others.

        Topics are taken by falling width of their range; the number needed is found by bisection,
        as fixing a further topic can only narrow the range of t.
        """
        *bounds, known = self.bounds()
        low, high, x = self.worth(*bounds)
        order = np.argsort(-(high - low), kind="stable")
        order = order[(high - low)[order] > 0]

        def settled(count: int) -> bool:
            a, b = low.copy(), high.copy()
            fixed = order[:count]
            a[fixed] = b[fixed] = x[fixed]
            return verdict_within(*t_range(a, b), limits) != "open"

        few, many = 0, len(order)
        if not settled(many):
            return ()
        while many - few > 1:
            middle = (few + many) // 2
            if settled(middle):
                many = middle
            else:
                few = middle
        return tuple(self.part.matrix.topics[known[k]] for k in order[:many])


def verdicts_within(
    contests: Sequence[Contest],
    ranges: Sequence[Ranges],
    families: Sequence[Hashable],
    *,
    correction: str,
    level: float,
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Verdicts that hold under every completion, "open" where none does, and what would decide.

    Parameters
    ----------
    families : sequence
        Contests of the same family are corrected together.
    """
    limits: dict[int, Limits] = {}
    for family in dict.fromkeys(families):
        members = [i for i, own in enumerate(families) if own == family]
        found = _limits([ranges[i] for i in members], correction, level)
        limits.update(zip(members, found, strict=True))
    verdicts = tuple(verdict_within(r.t_low, r.t_high, limits[i]) for i, r in enumerate(ranges))
    deciding = tuple(
        contest.deciding_topics(limits[i]) if verdicts[i] == "open" else ()
        for i, contest in enumerate(contests)
    )
    return verdicts, deciding


def _limits(ranges: Sequence[Ranges], correction: str, level: float) -> list[Limits]:
    """Critical values of one family.

    An adjusted p-value never falls when any p-value of its family rises, so its range follows from
    the ends of all of them.
    """
    df = np.array([r.topics - 1.0 for r in ranges])
    low, high = np.array([(r.t_low, r.t_high) for r in ranges]).T
    most = np.maximum(np.abs(low), np.abs(high))
    least = np.where(np.sign(low) * np.sign(high) > 0, np.minimum(np.abs(low), np.abs(high)), 0.0)
    least[np.isnan(most)] = np.nan
    sure = thresholds(p_value(least, df), correction, level)
    possible = thresholds(p_value(most, df), correction, level)
    return [
        Limits(float(critical_t(d, s)), float(critical_t(d, p)))
        for d, s, p in zip(df, sure, possible, strict=True)
    ]


def verdict_within(t_low: float, t_high: float, limits: Limits) -> str:
    """The verdict that every t of the range gives, "open" where they differ."""
    if np.isnan(t_low) or np.isnan(t_high) or np.isnan(limits.sure):
        return "open"
    if t_high < -limits.sure:
        return "risky"
    if t_low > limits.sure:
        return "safe"
    if t_low >= -limits.possible and t_high <= limits.possible:
        return "unclear"
    return "open"
