"""How two trained rankers differ in effectiveness and in risk, with intervals over queries."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.errors import AlignmentError
from surefoot.inference.intervals import bootstrap_intervals
from surefoot.inference.statistics import FunctionOfMeans

Doubles = npt.NDArray[np.float64]

# statistic -> what a difference of it is
CONTRASTS = {
    "mean": "difference",
    "risk_reward": "relative",
    "win_loss": "relative",
    "losses": "relative",
    "loss_over_20": "relative",
}


@dataclass(frozen=True, slots=True)
class Contrast:
    """One statistic of a ranker against the same statistic of its control.

    Parameters
    ----------
    value, control : float
        The statistic of each.
    change : float
        value - control for the mean, value / control - 1 for the others.
    low, high : float
        Limits of the change (BCa over queries); NaN where they cannot be had.
    """

    value: float
    control: float
    change: float
    low: float
    high: float


def risk_features(values: npt.ArrayLike, champions: npt.ArrayLike) -> Doubles:
    """Per query: effectiveness, loss, gain, lost, won, lost a fifth; averaged over repetitions.

    Parameters
    ----------
    values : (..., n_queries) array
        Effectiveness of a ranker, a row for each repetition (seed).
    champions : (..., n_queries) array
        Of the champions; shapes broadcast, so that several champions are averaged too.

    Returns
    -------
    (6, n_queries) array
        A query is one unit however many repetitions saw it: what the seeds or the champions differ
        in is averaged within the query, so that resampling queries keeps them together.
    """
    v, b = np.asarray(values, dtype=np.float64), np.asarray(champions, dtype=np.float64)
    if v.shape[-1] != b.shape[-1]:
        raise AlignmentError(f"{v.shape[-1]} queries of the ranker, {b.shape[-1]} of the champion")
    v, b = np.broadcast_arrays(v, b)
    delta = v - b
    rows = (
        v,
        np.maximum(-delta, 0.0),
        np.maximum(delta, 0.0),
        delta < 0,
        delta > 0,
        # a query counts when it loses more than a fifth of what the champion had
        delta < -0.2 * b - 1e-12,
    )
    return np.stack([r.reshape(-1, v.shape[-1]).mean(axis=0) for r in rows])


def contrast(
    ranker: Doubles,
    control: Doubles,
    *,
    confidence: float = 0.95,
    comparisons: int = 1,
    resamples: int | None = None,
    seed: int = 0,
    threads: int = 0,
) -> dict[str, Contrast]:
    """Compare two rankers on the same queries, from their `risk_features`.

    Parameters
    ----------
    ranker, control : (6, n_queries) arrays
        Of `risk_features`, against the same champions.
    confidence : float
    comparisons : int
        Bonferroni's m: all the comparisons that the reader will pick from.

    Returns
    -------
    dict of str to Contrast
        By the names of `CONTRASTS`. Ratios are ratios of totals over queries (Dincer et al. 2014,
        Table 3), never means of ratios of single queries; all statistics see the same resampled
        queries.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.learn.contrast import contrast, risk_features
    >>> rng = np.random.default_rng(1)
    >>> champion = rng.uniform(0.2, 0.6, 200)
    >>> gain = rng.normal(0.1, 0.1, 200)
    >>> plain = risk_features(champion + gain, champion)
    >>> careful = risk_features(champion + np.where(gain < 0, 0.8, 0.97) * gain, champion)
    >>> found = contrast(careful, plain, resamples=2000)
    >>> {k: round(100 * found[k].change, 1) for k in ("mean", "risk_reward", "losses")}
    {'mean': -0.2, 'risk_reward': -17.5, 'losses': 0.0}
    """
    both = np.concatenate([ranker, control])
    n = ranker.shape[1]
    queries = np.arange(n, dtype=np.float64)[None]  # a series: the queries themselves
    # where one query decides whether there is a ratio at all, there is no interval
    without_one = (both.sum(axis=1, keepdims=True) - both) / max(n - 1, 1)
    found = {}
    for name, kind in CONTRASTS.items():

        def features(which: Doubles) -> Doubles:
            return both[:, which.astype(np.int64)]

        def combine(means: Doubles, n: int, name: str = name, kind: str = kind) -> Doubles:
            ours, theirs = _statistic(name, means[:6]), _statistic(name, means[6:])
            return ours - theirs if kind == "difference" else _relative(ours, theirs)

        means = both.mean(axis=1)
        value, base = _statistic(name, means[:6]), _statistic(name, means[6:])
        low = high = float("nan")
        if np.array_equal(ranker, control):
            low = high = 0.0
        elif np.isfinite(combine(without_one, n - 1)).all():
            interval = bootstrap_intervals(
                queries,
                methods=("bca",),
                confidence=confidence,
                comparisons=comparisons,
                statistic=FunctionOfMeans(features, combine),
                n_resamples=resamples,
                seed=seed,
                threads=threads,
            )
            low, high = float(interval.low[0, 0]), float(interval.high[0, 0])
        change = float(combine(means, n))
        found[name] = Contrast(float(value), float(base), change, low, high)
    return found


def _relative(ours: Doubles, theirs: Doubles) -> Doubles:
    """ours / theirs - 1; no change where both are nought or both without bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = ours / theirs - 1.0
    both = (ours == theirs) & ((theirs == 0) | np.isinf(theirs))
    return np.where(both, 0.0, ratio)


def _statistic(name: str, means: Doubles) -> Doubles:
    """From the means of `risk_features`, (6, ...)."""
    # resampled means are sums of deviations: nought comes out as a rounding error of either sign
    mean, loss, gain, lost, won, over_20 = np.where(np.abs(means) < 1e-12, 0.0, means)
    with np.errstate(divide="ignore", invalid="ignore"):
        table = {
            "mean": mean,
            "risk_reward": loss / gain,
            "win_loss": won / lost,
            "losses": lost,
            "loss_over_20": over_20,
        }
    return np.asarray(table[name], dtype=np.float64)
