"""Which system is better than which, and how sure that is."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RankDraws:
    """Ranks of systems (1 is best) and what pairs of them do.

    `rank`, `rank_low`, `rank_high` : median and interval of each rank; `p_best` : probability of
    rank 1; `p_better` : (n, n), P(row is better than column); `low`, `high` : interval of each
    effect; `separated` : (n, n), whether row is better than column with intervals that do not
    overlap; `distinct` : (n, n), whether the interval of the difference row - column is above zero.
    """

    rank: FloatArray
    rank_low: FloatArray
    rank_high: FloatArray
    p_best: FloatArray
    p_better: FloatArray = field(repr=False)
    mean: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    separated: BoolArray = field(repr=False)
    distinct: BoolArray = field(repr=False)


def rank_systems(effects: FloatArray, *, interval: float = 0.95) -> RankDraws:
    """Ranks and pairs from draws of system effects, (n_draws, n_systems), higher is better."""
    n_draws, n = effects.shape
    tails = ((1 - interval) / 2, (1 + interval) / 2)
    low, high = np.quantile(effects, tails, axis=0)
    order = np.argsort(-effects, axis=1, kind="stable")
    ranks = np.empty((n_draws, n), dtype=np.int32)
    np.put_along_axis(ranks, order, np.arange(1, n + 1, dtype=np.int32)[None], axis=1)
    rank_low, rank, rank_high = np.quantile(ranks, (tails[0], 0.5, tails[1]), axis=0)
    p_better = np.full((n, n), np.nan)
    distinct = np.zeros((n, n), dtype=bool)
    columns = np.ascontiguousarray(effects.T)
    for i in range(n):
        difference = columns[i] - columns
        # ties (identical draws) count half, so that P(A > B) + P(B > A) = 1
        p_better[i] = (difference > 0).mean(axis=1) + 0.5 * (difference == 0).mean(axis=1)
        # the interval of the difference is above zero: at most a tail's share of draws is not
        distinct[i] = (difference <= 0).mean(axis=1) < tails[0]
    np.fill_diagonal(p_better, np.nan)
    np.fill_diagonal(distinct, False)
    return RankDraws(
        rank,
        rank_low,
        rank_high,
        (ranks == 1).mean(axis=0),
        p_better,
        effects.mean(axis=0),
        low,
        high,
        low[:, None] > high[None, :],
        distinct,
    )


def count_noise(
    effects: FloatArray, row: int, *, interval: float = 0.95, effective_draws: float
) -> tuple[int, int]:
    """How far the count of systems separated from one system moves within Monte Carlo error.

    The ends of intervals are quantiles of finitely many draws; each has a standard error of
    ``sqrt(p (1 - p) / n_eff) / density``. The counts with every gap narrowed and widened by two
    standard errors of the gap are returned: (fewest, most).
    """
    p = (1 - interval) / 2
    low, high = np.quantile(effects, (p, 1 - p), axis=0)
    step = 0.25 * p
    around = np.quantile(effects, (p - step, p + step, 1 - p - step, 1 - p + step), axis=0)
    slope_low, slope_high = (
        (around[1] - around[0]) / (2 * step),
        (around[3] - around[2]) / (2 * step),
    )
    unit = np.sqrt(p * (1 - p) / effective_draws)
    se_low, se_high = unit * slope_low, unit * slope_high
    below = low[row] - high, 2 * np.hypot(se_low[row], se_high)  # row is better
    above = low - high[row], 2 * np.hypot(se_low, se_high[row])  # row is worse
    others = np.arange(effects.shape[1]) != row
    fewest = sum(int((gap > noise)[others].sum()) for gap, noise in (below, above))
    most = sum(int((gap > -noise)[others].sum()) for gap, noise in (below, above))
    return fewest, most
