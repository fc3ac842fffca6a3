"""Confidence intervals of each challenger's risk-adjusted difference to a champion."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.inference.intervals import DEFAULT_METHOD, Intervals, bootstrap_intervals
from surefoot.inference.statistics import T_RATIO, AnyStatistic, FunctionOfMeans
from surefoot.io.scores import read_scores
from surefoot.overlays.value import Linear, ValueFunction
from surefoot.results.intervals import IntervalResult
from surefoot.workflows.comparison import (
    Numbers,
    check_draws,
    describe,
    loss_aversion,
    prepare,
    value_function,
)
from surefoot.workflows.verdicts import some, times

Progress = Callable[[float, float], None]

_CORRECTIONS = ("none", "bonferroni")


def _median(samples: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    return np.median(samples, axis=1)


# what the interval is of; None is the mean, which is URisk
STATISTICS: dict[str, AnyStatistic | FunctionOfMeans | None] = {
    "mean": None,
    "t": T_RATIO,
    "median": _median,
}


def intervals(
    scores: Any,
    *,
    champion: str | Iterable[str],
    alpha: Numbers = None,
    r: Numbers = None,
    value: str | ValueFunction = "linear",
    method: str | Sequence[str] = (DEFAULT_METHOD,),
    confidence: float = 0.95,
    correction: str = "none",
    resamples: int | None = None,
    statistic: str | AnyStatistic | FunctionOfMeans = "mean",
    standard_error: AnyStatistic | None = None,
    systems: str | Iterable[str] | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> IntervalResult:
    """Say within which limits each challenger's difference to the champion lies.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores, anything that `read_scores` takes.
    champion : str or list of str
        One system or several, or ``mean``, ``median`` or ``max`` of all systems.
    alpha : float or list, optional
        How much more a loss counts than a gain; default 1. With 0, plain differences.
    r : float or list, optional
        The thesis' form instead: r = 1 + alpha, signs reversed so that higher is riskier.
    value : str or callable, optional
        What a difference is worth: ``linear`` (alpha), ``smooth``, ``refit`` or a function, as in
        `risk`.
    method : str or list of str
        ``student``, ``basic``, ``studentized``, ``percentile``, ``bca``. The default is the one
        that the calibration study supports.
    confidence : float
    correction : str
        ``bonferroni``: all challengers' intervals hold together with `confidence`.
    resamples : int, optional
        By default enough for 100 resamples beyond each end, from 20,000 to 200,000.
    statistic : str or callable
        ``mean`` (URisk), ``t`` (TRisk), ``median``, or a function of (k, n_topics) samples.
    standard_error : callable, optional
        Of that statistic, for its studentised interval.
    seed, threads : int
        The same seed gives the same intervals for any number of threads.

    Returns
    -------
    IntervalResult
        One row for each champion, challenger, alpha and method.

    Examples
    --------
    >>> import surefoot as sf
    >>> table = {"old": {"q1": 0.5, "q2": 0.5, "q3": 0.4}, "new": {"q1": 0.7, "q2": 0.4, "q3": 0.5}}
    >>> sf.intervals(table, champion="old", alpha=0, method="student").high.round(3).tolist()
    [0.446]
    """
    if correction not in _CORRECTIONS:
        raise InputError(
            f"the correction of intervals must be none or bonferroni, but got {correction!r}"
        )
    check_draws(seed, resamples=resamples)
    methods = (method,) if isinstance(method, str) else tuple(method)
    if not methods:
        raise InputError("give at least one interval method")
    if isinstance(statistic, str) and statistic not in STATISTICS:
        raise InputError(
            f"unknown statistic {statistic!r}. Hint: one of {', '.join(STATISTICS)}, or a function"
        )
    function = STATISTICS[statistic] if isinstance(statistic, str) else statistic
    alphas, form = loss_aversion(alpha, r)
    compared = prepare(read_scores(scores), champion, systems=systems)
    name_of_value, worth = value_function(value, compared.matrix, compared.champions)
    if worth is not None:
        alphas = (float("nan"),)
    names = [compared.matrix.systems[i] for i in compared.challengers]
    family = len(names) * len(compared.champions)
    sign = -1.0 if form == "minus" else 1.0

    delta = np.concatenate(
        [compared.matrix.values[compared.challengers] - c.scores for c in compared.champions]
    )
    # one call for all alphas: every series sees the same resampled topics
    found = bootstrap_intervals(
        np.concatenate([sign * (worth or Linear(a))(delta) for a in alphas]),
        methods=methods,
        confidence=confidence,
        comparisons=family if correction == "bonferroni" else 1,
        statistic=function,
        standard_error=standard_error,
        n_resamples=resamples,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    pairs = [(c.name, name) for c in compared.champions for name in names]
    order = [
        (k, s, champion_name, name, a)
        for p, (champion_name, name) in enumerate(pairs)
        for q, a in enumerate(alphas)
        for s in [q * len(pairs) + p]
        for k in range(len(found.methods))
    ]
    low = np.array([found.low[k, s] for k, s, *_ in order])
    high = np.array([found.high[k, s] for k, s, *_ in order])
    verdict = tuple(_verdict(a, b, sign) for a, b in zip(low.tolist(), high.tolist(), strict=True))
    champions = tuple(c for _, _, c, _, _ in order)
    return IntervalResult(
        system=tuple(name for *_, name, _ in order),
        champion=champions,
        method=tuple(found.methods[k] for k, *_ in order),
        form=form,
        alpha=np.array([a for *_, a in order]),
        confidence=confidence,
        level=found.level,
        low=low,
        high=high,
        estimate=np.array([found.estimate[s] for _, s, *_ in order]),
        standard_error=np.array([found.standard_error[s] for _, s, *_ in order]),
        topics=np.array([found.n_topics[s] for _, s, *_ in order]),
        verdict=verdict,
        note=tuple(found.note[k][s] for k, s, *_ in order),
        headline=_headline(order, verdict, found, correction),
        settings={
            "champion": [c.name for c in compared.champions],
            "form": form,
            "alpha": list(alphas),
            **describe(name_of_value, worth),
            "methods": list(found.methods),
            "confidence": confidence,
            "level": found.level,
            "correction": correction,
            "comparisons": family,
            "resamples": found.n_resamples,
            "statistic": statistic if isinstance(statistic, str) else "user's function",
            "seed": seed,
            "measure": compared.matrix.measure,
        },
    )


def _verdict(low: float, high: float, sign: float) -> str:
    """Where the interval lies from 0; in the minus form a positive value is a loss."""
    if np.isnan(low) or np.isnan(high):
        return "unknown"
    if low > 0:
        return "better" if sign > 0 else "worse"
    if high < 0:
        return "worse" if sign > 0 else "better"
    return "undecided"


def _headline(
    order: list[tuple[int, int, str, str, float]],
    verdict: tuple[str, ...],
    found: Intervals,
    correction: str,
) -> tuple[str, ...]:
    """The finding of the first method at the largest alpha, in plain words."""
    top = max(a for *_, a in order)  # NaN with a value function of its own, then all are
    single = len({champion for _, _, champion, _, _ in order}) == 1
    groups: dict[str, list[str]] = {}
    for i, (k, _, champion, name, a) in enumerate(order):
        if k == 0 and not a < top:
            label = name if single else f"{name} against {champion}"
            groups.setdefault(verdict[i], []).append(label)
    words = {
        "worse": "Worse than the champion",
        "undecided": "Undecided, the confidence interval holds zero",
        "better": "Better than the champion",
        "unknown": "No interval",
    }
    weight = f"with losses counted {times(top)}" if top else "on plain differences"
    kind = found.methods[0]
    first = f"Confidence intervals ({kind}, {100 * found.level:.4g} % each, {weight}):"
    out = [first]
    for key, text in words.items():
        if key in groups:
            out.append(f"{text}: {some(groups[key])}.")
    n = sum(len(g) for g in groups.values())
    if n > 1 and correction == "none":
        out.append(
            f"Each of the {n} intervals may miss on its own; --correction bonferroni covers them "
            "all together."
        )
    return tuple(out)
