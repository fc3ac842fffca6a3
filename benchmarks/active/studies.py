"""Simulated studies of one case: error against budget, estimators, floors, intervals, stopping."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.active.cases import Case
from surefoot.active.estimators.weighted import weighted_mean
from surefoot.active.group_sequential import LOOKS, look_levels, look_times
from surefoot.active.sampling import (
    FLOOR,
    SEQUENTIAL_FLOOR,
    VARIANTS,
    optimal_draws,
    sampling_distribution,
)
from surefoot.active.sequential import (
    Reach,
    betting_interval,
    log_capital,
    planned_stake,
    reach,
)
from surefoot.active.simulation import METHODS, Setting, Tally, simulated_estimates
from surefoot.kernels.active import replacement_studies

FloatArray = npt.NDArray[np.float64]
Row = dict[str, Any]

BUDGETS = {"OHSUMED": (5, 10, 15, 20, 30, 40)}
USUAL_BUDGETS = (10, 20, 40, 70, 100, 150, 200, 300)
FLOORS = (0.0, 0.001, 0.01, 0.1, 0.3, 0.5)
RESAMPLES = 400


def budgets_of(case: Case) -> tuple[float, ...]:
    """Budgets in mean queries, ascending."""
    return BUDGETS.get(case.collection, USUAL_BUDGETS)


def study(case: Case, repeats: int) -> list[Row]:
    """All rows of a case; `repeats` studies of each kind."""
    rows = list(errors(case, repeats))
    if case.experiment in ("estimate", "compare"):
        rows += floors(case, repeats)
        rows += intervals(case, max(repeats // 5, 50))
        rows += sequential(case, max(repeats // 2, 100))
    return [
        {
            "collection": case.collection,
            "experiment": case.experiment,
            "label": case.label,
            "measure": case.measure,
            "fold": case.fold,
            **row,
        }
        for row in rows
    ]


def _setting(case: Case, variant: str, floor: float = FLOOR) -> tuple[Setting, FloatArray]:
    p = np.full(len(case.value), 1 / len(case.value))
    blind = variant == "uniD"
    q = sampling_distribution(
        variant, case.around_uniform if blind else case.around, case.cost, p, floor=floor
    )
    expected = case.expected_uniform if blind else case.expected
    return Setting(case.value, expected, p, case.cost), q


def _tallied(
    case: Case, variant: str, method: str, repeats: int, floor: float = FLOOR
) -> Iterator[Row]:
    """One row a budget."""
    setting, q = _setting(case, variant, floor)
    budgets = np.array(budgets_of(case), dtype=np.float64)
    tallies = [Tally() for _ in budgets]
    found = simulated_estimates(setting, q, method, budgets, repeats=repeats, seed=1, threads=1)
    for b, estimate, count in found:
        tallies[b].add(estimate, count, setting.truth, 0.95)
    for budget, tally in zip(budgets, tallies, strict=True):
        if tally.n:
            row = {"variant": variant, "method": method, "floor": floor, "budget": float(budget)}
            yield {**row, "truth": setting.truth, **tally.summary()}


def errors(case: Case, repeats: int) -> Iterator[Row]:
    """Error against budget of every variant; of every estimator for active and passive draws."""
    given = case.experiment.startswith("given")
    # 21 rankings or 20 pairs are averaged: each needs fewer studies
    repeats = max(repeats // 5, 50) if given else repeats
    several = case.experiment in ("together", "apart")
    for variant in ("active", "passive") if several else VARIANTS:
        every = not (given or several) and variant in ("active", "passive")
        for method in METHODS if every else ("eq6",):
            for row in _tallied(case, variant, method, repeats):
                yield {"kind": "error", **row}


def floors(case: Case, repeats: int) -> Iterator[Row]:
    """What the floor under q costs, or saves."""
    for floor in FLOORS:
        for row in _tallied(case, "active", "eq6", repeats, floor):
            yield {"kind": "floor", **row}


def intervals(case: Case, studies: int) -> Iterator[Row]:
    """Coverage of the delta method and of the percentile bootstrap, in the same studies."""
    setting, q = _setting(case, "active")
    budgets = np.array(budgets_of(case)[1:5], dtype=np.float64)
    draws, counts = _draws(case, q, budgets, studies)
    rng = np.random.default_rng(1)
    weight, value = (setting.p / q)[draws], setting.value[draws]
    for b, budget in enumerate(budgets):
        covered = {"delta": 0, "bootstrap": 0}
        width = {"delta": 0.0, "bootstrap": 0.0}
        used = 0
        for s in range(studies):
            n = int(counts[s, b])
            if n < 2:
                continue
            used += 1
            w, v = weight[s, :n], value[s, :n]
            found = weighted_mean(w[None], v[None], np.array([float(n)]))
            low, high = (float(end[0]) for end in found.interval(0.95))
            times = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
            again = (times @ (w * v)) / (times @ w)
            ends = {"delta": (low, high), "bootstrap": tuple(np.quantile(again, [0.025, 0.975]))}
            for name, (lo, hi) in ends.items():
                covered[name] += lo - 1e-12 <= setting.truth <= hi + 1e-12
                width[name] += hi - lo
        for name in covered if used else ():
            yield {
                "kind": "interval",
                "interval": name,
                "budget": float(budget),
                "coverage": float(covered[name] / used),
                "width": float(width[name] / used),
                "repeats": used,
            }


def _draws(
    case: Case, q: FloatArray, budgets: FloatArray, studies: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    limit = int(3 * optimal_draws(float(budgets[-1]), q, case.cost) + 200)
    return replacement_studies(
        np.cumsum(q), case.cost, budgets, studies=studies, limit=limit, seed=2, threads=1
    )


def sequential(case: Case, studies: int) -> Iterator[Row]:
    """Looking after every draw: how often any look misses, and what stopping early saves.

    ``betting`` is the product's confidence sequence, ``group`` its five planned looks;
    ``asymptotic`` is Robbins' normal mixture with an estimated standard error, ``naive`` the
    interval of a single look. The rows ``null`` are of the
    same values shifted to a true mean of 0: every claim that the sign is known is then false.
    """
    setting, q = _setting(case, "active", SEQUENTIAL_FLOOR)
    budgets = np.array([budgets_of(case)[-1] / 2], dtype=np.float64)
    draws, counts = _draws(case, q, budgets, studies)
    width = int(counts.max())
    draws = draws[:, :width]
    inside = np.arange(width) < counts[:, :1]
    weight = np.where(inside, (setting.p / q)[draws], 0.0)
    spent = _spent(draws, inside, case.cost)
    target = optimal_draws(float(budgets[0]), q, case.cost)
    sigma = float(np.sqrt((setting.p**2 * case.around / q).sum()))
    step = planned_stake(sigma, target, 0.95)
    n = np.arange(1, width + 1, dtype=np.float64)
    factors = {"asymptotic": _robbins(n, target, 0.95), "naive": _student(n)}
    for null in (False, True):
        shift = setting.truth if null else 0.0
        truth = setting.truth - shift
        value = np.where(inside, setting.value[draws] - shift, 0.0)
        ends = reach(setting.p / q, case.low - shift, case.high - shift, setting.p)
        mean, error = running(weight, value, n)
        seen: dict[str, tuple[Any, Any]] = {}
        for name, factor in factors.items():
            half = np.where(n > 1, factor, np.inf) * np.maximum(error, 1e-15)
            missed = inside & (np.abs(mean - truth) > half + 1e-12)
            seen[name] = missed, inside & (np.abs(mean) > half)
        crossed = [
            inside & (_capital(weight, value, r, ends, step) >= np.log(2 / 0.05))
            for r in (truth, 0.0)
        ]
        seen["betting"] = crossed[0], crossed[1]
        half = _group_half_widths(error, counts[:, 0], target)
        seen["group"] = np.abs(mean - truth) > half + 1e-12, np.abs(mean) > half
        for name, (missed, known) in seen.items():
            stops = known.any(axis=1)
            at = np.where(stops, known.argmax(axis=1), counts[:, 0] - 1)
            row = np.arange(studies)
            wrong = stops & (np.sign(mean[row, at]) != np.sign(truth))
            yield {
                "kind": "sequential",
                "null": null,
                "interval": name,
                "budget": float(budgets[0]),
                "missed_ever": float(missed.any(axis=1).mean()),
                "stopped": float(stops.mean()),
                "wrong": float(wrong.mean()),
                "spent": float(spent[row, at].mean()),
                "repeats": studies,
            }
    # how much wider than the interval of one look, at the end of the budget
    ends = reach(setting.p / q, case.low, case.high, setting.p)
    mean, error = running(weight, np.where(inside, setting.value[draws], 0.0), n)
    widths, single = [], []
    for s in range(min(studies, 50)):
        k = int(counts[s, 0])
        low, high = betting_interval(
            weight[s, :k], setting.value[draws[s, :k]], ends, confidence=0.95, step=step
        )
        widths.append(high - low)
        single.append(2 * factors["naive"][k - 1] * error[s, k - 1])
    yield {
        "kind": "sequence width",
        "budget": float(budgets[0]),
        "betting": float(np.mean(widths)),
        "delta": float(np.mean(single)),
        "repeats": len(widths),
    }


def _group_half_widths(
    error: FloatArray, count: npt.NDArray[np.int32], planned: float
) -> FloatArray:
    """Half-widths at the planned looks and at the end; infinite elsewhere."""
    out = np.full(error.shape, np.inf)
    levels = look_levels(0.95)
    for n, level in zip(look_times(planned), levels, strict=False):
        row = np.flatnonzero(count > n)
        out[row, n - 1] = _quantile(np.array([n]), level) * error[row, n - 1]
    row = np.flatnonzero(count > 1)
    last = count[row] - 1
    out[row, last] = _quantile(count[row], levels[LOOKS - 1]) * error[row, last]
    return out


def _quantile(n: npt.NDArray[Any], level: float) -> FloatArray:
    from scipy.special import stdtrit

    out: FloatArray = -stdtrit(n - 1.0, level / 2)
    return out


def _capital(
    weight: FloatArray, value: FloatArray, r: float, ends: Reach, step: float
) -> FloatArray:
    """The larger of the two sides' capitals against r, after every draw of every study."""
    out = np.empty(weight.shape)
    for s, (w, v) in enumerate(zip(weight, value, strict=True)):
        above = log_capital(w * (v - r), ends.loss(r), step)
        below = log_capital(w * (r - v), ends.excess(r), step)
        out[s] = np.maximum(above, below)
    return out


def _robbins(n: FloatArray, target: float, confidence: float) -> FloatArray:
    """Half-widths in standard errors (Waudby-Smith et al. 2021, Theorem 2.2)."""
    squared = -2 * np.log(1 - confidence)
    eta = n / target * (squared + np.log(squared) + 1)
    out: FloatArray = np.sqrt((1 + 1 / eta) * (np.log1p(eta) + squared))
    return out


def running(weight: FloatArray, value: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eq. 6 and its delta-method error after every draw."""
    total = np.maximum(weight.cumsum(axis=1), 1e-300)
    mean = (weight * value).cumsum(axis=1) / total
    squared = weight**2
    squares = (
        (squared * value**2).cumsum(axis=1)
        - 2 * mean * (squared * value).cumsum(axis=1)
        + mean**2 * squared.cumsum(axis=1)
    )
    error = np.sqrt(np.maximum(squares, 0)) / total
    return mean, error * np.sqrt(n / np.maximum(n - 1, 1e-300))


def _student(n: FloatArray) -> FloatArray:
    from scipy.special import stdtrit

    out: FloatArray = np.where(n > 1, stdtrit(np.maximum(n - 1, 1), 0.975), np.inf)
    return out


def _spent(
    draws: npt.NDArray[np.int32], inside: npt.NDArray[np.bool_], cost: FloatArray
) -> FloatArray:
    """Cost up to every draw; a query is paid for once."""
    out = np.zeros(draws.shape)
    for s, row in enumerate(draws):
        first = np.zeros(len(row), dtype=bool)
        first[np.unique(row, return_index=True)[1]] = True
        out[s] = np.cumsum(np.where(first & inside[s], cost[row], 0.0))
    return out
