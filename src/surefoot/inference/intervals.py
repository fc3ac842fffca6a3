"""Confidence intervals of a statistic over topics: Student's and four kinds of bootstrap."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError, UnreliableWarning
from surefoot.inference.resampling import Progress, Replicates, replicate
from surefoot.inference.statistics import AnyStatistic, FunctionOfMeans
from surefoot.kernels.resample import count_below, order_statistics

FloatArray = npt.NDArray[np.float64]
Method = Literal["student", "basic", "studentized", "percentile", "bca"]
# the calibration study's choice: docs/method/calibration.md
DEFAULT_METHOD: Method = "studentized"
METHODS: tuple[Method, ...] = ("student", "basic", "studentized", "percentile", "bca")

# series whose values differ by no more than this part of their size are constant but for rounding
_CONSTANT = 1e-12
_FEWEST_RESAMPLES = 20_000
_MOST_RESAMPLES = 200_000
_RESAMPLES_BEYOND_AN_END = 100
# replicates held at once: 16 bytes each
_REPLICATES_AT_ONCE = 16_000_000


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of several series by several methods.

    Parameters
    ----------
    methods : tuple of str
    confidence : float
        Of the family of all comparisons together.
    level : float
        Of each single interval: 1 - (1 - confidence) / comparisons.
    n_resamples : int
    estimate, standard_error : (n_series,) float arrays
    n_topics : (n_series,) int array
        Topics that count, i.e. without missing cells.
    low, high : (n_methods, n_series) float arrays
        NaN only where `note` says why.
    note : tuple (per method) of tuples (per series) of str
        Why an interval cannot be had or should not be trusted; empty where all is well.
    """

    methods: tuple[str, ...]
    confidence: float
    level: float
    n_resamples: int
    estimate: FloatArray
    standard_error: FloatArray
    n_topics: npt.NDArray[np.int64]
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    note: tuple[tuple[str, ...], ...] = field(repr=False)


def resamples_needed(level: float) -> int:
    """Resamples that leave at least 100 beyond each end, within 20,000 and 200,000."""
    wanted = math.ceil(_RESAMPLES_BEYOND_AN_END / ((1.0 - level) / 2.0))
    return min(max(wanted, _FEWEST_RESAMPLES), _MOST_RESAMPLES)


def bootstrap_intervals(
    x: npt.ArrayLike,
    *,
    methods: Sequence[str] = (DEFAULT_METHOD,),
    confidence: float = 0.95,
    comparisons: int = 1,
    statistic: AnyStatistic | FunctionOfMeans | None = None,
    standard_error: AnyStatistic | None = None,
    n_resamples: int | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> Intervals:
    """Intervals of a statistic of each series, all from one set of resampled topics.

    Resample b depends on (seed, b, number of topics) alone: the same seed gives the same bytes for
    any number of threads or chunks, and every complete series sees the same resampled topics.

    Parameters
    ----------
    x : (n_series, n_topics) floats
        NaN marks a missing cell; each series uses the topics it has.
    methods : sequence of {"student", "basic", "studentized", "percentile", "bca"}
    confidence : float
        Chance that all `comparisons` intervals hold their true values.
    comparisons : int
        Bonferroni's m; 1 for no correction.
    statistic : callable, optional
        (k, n_topics) samples to (k,) values, or a `FunctionOfMeans`; the mean when left out.
    standard_error : callable, optional
        The same shapes, for "studentized" of a statistic other than the mean.
    n_resamples : int, optional
        By default enough for 100 resamples beyond each end, from 20,000 to 200,000.

    Notes
    -----
    With t the estimate, t* its sorted replicates and p = (1 - level) / 2:

    - student: t -+ Q(1 - p, n - 1) se                   (thesis Eq. 3.16, ends in order; se is
      s / sqrt(n) for the mean, the jackknife's for other statistics)
    - basic: 2t - t*_((B+1)(1-p)), 2t - t*_((B+1)p)     (Eq. 3.17)
    - studentized: t - z*_((B+1)(1-p)) se, t - z*_((B+1)p) se   (Eq. 3.18, quantiles in order)
    - percentile: t*_((B+1)p), t*_((B+1)(1-p))          (Eq. 3.19)
    - bca: t*_((B+1)q), q = Phi(w + (w + z) / (1 - a(w + z)))   (Eqs. 3.20-3.21; w is a normal
      quantile and the ends are percentile ends, as Efron has it and not Algorithm 3.2)

    Replicates equal to the estimate count half below it, half above, in w.
    """
    series = np.atleast_2d(np.asarray(x, dtype=np.float64))
    chosen = _checked(series, methods, confidence, comparisons, n_resamples)
    level = 1.0 - (1.0 - confidence) / comparisons
    B = n_resamples if n_resamples is not None else resamples_needed(level)
    present = ~np.isnan(series)
    out = _Table(chosen, len(series))
    step = max(1, _REPLICATES_AT_ONCE // B)  # series see the same resamples in any batch
    for topics, members in _by_pattern(present):
        for first in range(0, len(members), step):
            batch = members[first : first + step]
            complete = np.ascontiguousarray(series[np.ix_(batch, topics)])
            _fill(
                out, batch, complete, level, B, statistic, standard_error, seed, threads, progress
            )
    result = Intervals(
        methods=chosen,
        confidence=confidence,
        level=level,
        n_resamples=B,
        estimate=out.estimate,
        standard_error=out.standard_error,
        n_topics=present.sum(axis=1),
        low=out.low,
        high=out.high,
        note=tuple(tuple(row) for row in out.note),
    )
    _warn(result)
    return result


class _Table:
    """The answer under construction."""

    def __init__(self, methods: tuple[str, ...], n_series: int) -> None:
        self.methods = methods
        self.estimate = np.full(n_series, np.nan)
        self.standard_error = np.full(n_series, np.nan)
        self.low = np.full((len(methods), n_series), np.nan)
        self.high = np.full((len(methods), n_series), np.nan)
        self.note = [[""] * n_series for _ in methods]

    def remark(self, method: int, series: int, text: str) -> None:
        """Add a note to one interval."""
        before = self.note[method][series]
        self.note[method][series] = f"{before}; {text}" if before else text


def _checked(
    x: FloatArray,
    methods: Sequence[str],
    confidence: float,
    comparisons: int,
    n_resamples: int | None,
) -> tuple[str, ...]:
    if x.ndim != 2:
        raise InputError(f"x must be (n_series, n_topics), but has {x.ndim} dimensions")
    if np.isinf(x).any():
        raise InputError("x holds infinite values")
    for method in methods:
        if method not in METHODS:
            raise InputError(
                f"unknown interval method {method!r}. Hint: one of {', '.join(METHODS)}"
            )
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence must lie between 0 and 1, but got {confidence}")
    if comparisons < 1:
        raise InputError(f"comparisons must be at least 1, but got {comparisons}")
    if n_resamples is not None and n_resamples < 1:
        raise InputError(f"the number of resamples must be at least 1, but got {n_resamples}")
    return tuple(dict.fromkeys(methods))


def _by_pattern(
    present: npt.NDArray[np.bool_],
) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """(topics, series) of each set of series that have the same topics."""
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(present):
        groups.setdefault(row.tobytes(), []).append(i)
    return [
        (np.flatnonzero(present[members[0]]), np.array(members, dtype=np.intp))
        for members in groups.values()
    ]


def _fill(
    out: _Table,
    members: npt.NDArray[np.intp],
    x: FloatArray,
    level: float,
    B: int,
    statistic: AnyStatistic | FunctionOfMeans | None,
    standard_error: AnyStatistic | None,
    seed: int,
    threads: int,
    progress: Progress | None,
) -> None:
    """Intervals of the series of one pattern, written into the table."""
    n = x.shape[1]
    if n == 0:
        return _refuse(out, members, "no topic has a score of both systems")
    if n == 1:
        out.estimate[members] = x[:, 0] if statistic is None else statistic(x)
        return _refuse(out, members, "one topic alone says nothing about its own spread")
    size = np.abs(x).max(axis=1)
    constant = x.max(axis=1) - x.min(axis=1) <= _CONSTANT * size
    if constant.any():
        _flat(out, members[constant], x[constant], statistic)
    members, x = members[~constant], x[~constant]
    if not len(members):
        return None
    resampled = [m for m in out.methods if m != "student"]
    replicates = replicate(
        x,
        statistic=statistic,
        standard_error=standard_error,
        studentised="studentized" in resampled,
        n_resamples=B if resampled else 1,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    out.estimate[members] = replicates.estimate
    out.standard_error[members] = replicates.standard_error
    tail = (1.0 - level) / 2.0
    ends = _ends(out.methods, replicates, tail, n, size[~constant], threads)
    for k, method in enumerate(out.methods):
        if method not in ends:
            for i in members:
                out.remark(k, i, "needs the statistic's standard error: pass standard_error")
            continue
        low, high = ends[method]
        out.low[k, members], out.high[k, members] = low, high
        if method != "student" and (B + 1) * tail < 1.0:
            for i in members:
                out.remark(k, i, f"{B} resamples are too few for this confidence")
        for position in np.flatnonzero(~(np.isfinite(low) & np.isfinite(high))):
            out.remark(
                k, members[position], "unbounded: many resamples have no spread (too many ties)"
            )
    return None


def _ends(
    methods: Sequence[str],
    replicates: Replicates,
    tail: float,
    n: int,
    size: FloatArray,
    threads: int,
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Low and high ends by method; one pass over the replicates serves all of them."""
    t, error = replicates.estimate, replicates.standard_error
    tails = np.full((len(t), 2), (tail, 1.0 - tail))
    ends = {}
    if "student" in methods:
        from scipy.special import stdtrit

        # Eq. 3.16 with Q(1 - tail): the limits as printed are in reverse order
        half = stdtrit(n - 1, 1.0 - tail) * error
        ends["student"] = t - half, t + half
    if "studentized" in methods and replicates.student is not None:
        z = _quantiles(replicates.student, tails, threads)
        # Eq. 3.18 with the quantiles exchanged: the lower end takes the upper quantile
        ends["studentized"] = t - z[:, 1] * error, t - z[:, 0] * error
    if any(m in methods for m in ("basic", "percentile", "bca")):
        levels = tails
        if "bca" in methods:
            levels = np.hstack([tails, _bca_levels(replicates, tail, size, threads)])
        d = _quantiles(replicates.deviations, levels, threads)
        ends["basic"] = t - d[:, 1], t - d[:, 0]  # Eq. 3.17
        ends["percentile"] = t + d[:, 0], t + d[:, 1]  # Eq. 3.19
        ends["bca"] = t + d[:, -2], t + d[:, -1]  # percentile ends at Efron's levels
    return ends


def _bca_levels(replicates: Replicates, tail: float, size: FloatArray, threads: int) -> FloatArray:
    """Which quantiles of the replicates are BCa's ends (thesis Eq. 3.21)."""
    from scipy.special import ndtr, ndtri

    B = replicates.deviations.shape[1]
    below, near = count_below(replicates.deviations, _CONSTANT * size, threads=threads)
    share = np.clip((below + 0.5 * near) / B, 0.5 / B, 1.0 - 0.5 / B)
    w = ndtri(share)  # Algorithm 3.2 forgets this quantile function
    a = replicates.acceleration
    levels = np.empty((len(w), 2))
    for end, z in enumerate((ndtri(tail), -ndtri(tail))):
        denominator = 1.0 - a * (w + z)
        with np.errstate(divide="ignore"):
            moved = w + (w + z) / denominator
        # past the pole of the formula the end runs off to the side it was heading for
        levels[:, end] = np.where(denominator > 0, ndtr(moved), float(end))
    return levels


def _quantiles(rows: FloatArray, levels: FloatArray, threads: int) -> FloatArray:
    """The (B + 1) q-th smallest value of each row, interpolated between neighbours."""
    B = rows.shape[1]
    position = np.clip((B + 1) * levels - 1.0, 0.0, B - 1.0)
    lower = np.floor(position).astype(np.int64)
    upper = np.minimum(lower + 1, B - 1)
    values = order_statistics(rows, np.concatenate([lower, upper], axis=1), threads=threads)
    k = levels.shape[1]
    low, high = values[:, :k], values[:, k:]
    weight = position - lower
    with np.errstate(invalid="ignore"):
        between = low + weight * (high - low)
    return np.where((weight == 0) | (low == high), low, between)


def _refuse(out: _Table, members: npt.NDArray[np.intp], why: str) -> None:
    for k in range(len(out.methods)):
        for i in members:
            out.remark(k, i, why)


def _flat(
    out: _Table,
    members: npt.NDArray[np.intp],
    x: FloatArray,
    statistic: AnyStatistic | FunctionOfMeans | None,
) -> None:
    """Series without spread: every resample is the sample, so the interval has no width."""
    value = x[:, 0] if statistic is None else np.asarray(statistic(x), dtype=np.float64)
    out.estimate[members] = value
    out.standard_error[members] = 0.0
    out.low[:, members] = value
    out.high[:, members] = value
    for i, series in zip(members, x, strict=True):
        same = "the same" if series.any() else "zero"
        for k in range(len(out.methods)):
            out.remark(k, i, f"the difference is {same} on every topic: no width")


def _warn(result: Intervals) -> None:
    """One warning for what cannot be trusted; a missing width alone is no reason to worry."""
    serious = [n for row in result.note for n in row if n and "no width" not in n]
    if serious:
        warnings.warn(
            f"{len(serious)} of {result.low.size} intervals are not reliable: {serious[0]}",
            UnreliableWarning,
            stacklevel=3,
        )
