"""What a plan would have found: many studies on a pool whose labels are all known."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.active.estimators.estimate import Estimate
from surefoot.active.estimators.priority import inclusion, priority_mean
from surefoot.active.estimators.regression import regression_mean
from surefoot.active.estimators.weighted import weighted_mean
from surefoot.active.measure import GradedMeasure, parse_measure
from surefoot.active.moments import values
from surefoot.active.planning import check_rankings, survey_pool
from surefoot.active.quantities import quantities
from surefoot.active.sampling import FLOOR, VARIANTS, sampling_distribution, spread
from surefoot.data.pool import Pool
from surefoot.data.seed import check_seed
from surefoot.errors import InputError
from surefoot.io.labels import read_labels
from surefoot.io.pool import read_pool
from surefoot.kernels.active import priority_studies, replacement_studies
from surefoot.results.active_simulation import SimulationResult

FloatArray = npt.NDArray[np.float64]

# name -> (design, estimator)
METHODS = {
    "eq6": ("replacement", "eq6"),
    "regression": ("replacement", "regression"),
    "difference": ("replacement", "difference"),
    "priority": ("priority", "eq6"),
    "priority-regression": ("priority", "regression"),
}
_BATCH = 250
_BEYOND = np.log(4)  # how far a curve of errors is followed beyond its ends


@dataclass(frozen=True, slots=True)
class Setting:
    """One quantity over a pool, all of it known.

    Parameters
    ----------
    value, predicted : (n_topics,) arrays
        What labels would show, and what the model expects.
    p, cost : (n_topics,) arrays
        Distribution of queries, and price of each.
    """

    value: FloatArray
    predicted: FloatArray
    p: FloatArray
    cost: FloatArray

    @property
    def truth(self) -> float:
        """The mean over all queries."""
        return float(self.p @ self.value)


def simulated_estimates(
    setting: Setting,
    q: FloatArray,
    method: str,
    budgets: FloatArray,
    *,
    repeats: int,
    seed: int = 0,
    threads: int = 0,
) -> Iterator[tuple[int, Estimate, FloatArray]]:
    """Estimates of many studies: (number of the budget, estimates, draws), in batches of studies.

    Parameters
    ----------
    q : (n_topics,) array
        Sampling distribution.
    method : str
        A key of `METHODS`.
    budgets : (n_budgets,) array
        Ascending.
    """
    design, estimator = METHODS[method]
    limit = _limit(setting, q, budgets, design)
    cumulative = np.cumsum(q)
    for first in range(0, repeats, _BATCH):
        studies = min(_BATCH, repeats - first)
        options: Any = {
            "studies": studies,
            "seed": seed,
            "first_study": first,
            "threads": threads,
        }
        thresholds = np.zeros((studies, len(budgets)))
        if design == "priority":
            draws, counts, thresholds = priority_studies(
                q, setting.cost, budgets, limit=limit, **options
            )
        else:
            draws, counts = replacement_studies(
                cumulative, setting.cost, budgets, limit=limit, **options
            )
            while (counts[:, -1] == limit).any():
                limit *= 2
                draws, counts = replacement_studies(
                    cumulative, setting.cost, budgets, limit=limit, **options
                )
        for b in range(len(budgets)):
            count = counts[:, b].astype(np.float64)
            width = max(int(counts[:, b].max()), 1)
            drawn = draws[:, :width]
            used = np.arange(width) < counts[:, b : b + 1]
            p = np.where(used, setting.p[drawn], 0.0)
            value, predicted = setting.value[drawn], setting.predicted[drawn]
            mean = float(setting.p @ setting.predicted)
            if design == "priority":
                chance = inclusion(q[drawn], thresholds[:, b : b + 1])
                control = predicted if estimator == "regression" else None
                found = priority_mean(p, chance, value, predicted=control, predicted_mean=mean)
            elif budgets[b] >= setting.cost.sum():
                # all labelled: the study ends with the truth (errata Active-6)
                exact = np.full(studies, setting.truth)
                found = Estimate(exact, np.zeros(studies), count)
            elif estimator == "eq6":
                found = weighted_mean(p / q[drawn], value, count)
            else:
                slope = 1.0 if estimator == "difference" else None
                found = regression_mean(p / q[drawn], value, predicted, mean, count, slope=slope)
            yield b, found, count


def _limit(setting: Setting, q: FloatArray, budgets: FloatArray, design: str) -> int:
    """Enough draws for almost every study; one that needs more is drawn again."""
    m = len(q)
    if design == "priority":
        return m
    usual = float(budgets[-1]) / float(setting.cost @ q)
    return int(1.5 * usual + 6 * np.sqrt(usual) + 50)


@dataclass(slots=True)
class Tally:
    """Running sums over the studies of one budget."""

    n: int = 0
    empty: int = 0
    error: float = 0.0
    square: float = 0.0
    bias: float = 0.0
    covered: int = 0
    judged: int = 0
    wrong: float = 0.0
    draws: float = 0.0

    def add(self, found: Estimate, count: FloatArray, truth: float, confidence: float) -> None:
        """Take in a batch."""
        known = np.isfinite(found.value)
        off = found.value[known] - truth
        self.n += int(known.sum())
        self.empty += int((~known).sum())
        self.error += float(np.abs(off).sum())
        self.square += float((off**2).sum())
        self.bias += float(off.sum())
        low, high = found.interval(confidence)
        sure = np.isfinite(low) & np.isfinite(high)
        rounding = 1e-12 * max(1.0, abs(truth))
        inside = (low[sure] - rounding <= truth) & (truth <= high[sure] + rounding)
        self.covered += int(inside.sum())
        self.judged += int(sure.sum())
        # model selection error: the sign is wrong (Sawade et al., Section 5.2); a tie is a coin
        sign = np.sign(found.value[known]) * np.sign(truth)
        self.wrong += float((sign < 0).sum() + 0.5 * (sign == 0).sum())
        self.draws += float(count.sum())

    def summary(self) -> dict[str, float]:
        """Means over the studies, with the standard errors of the simulation."""
        n = max(self.n, 1)
        error = self.error / n
        variance = max(self.square / n - error**2, 0.0)
        wrong = self.wrong / n
        coverage = self.covered / self.judged if self.judged else float("nan")
        return {
            "error": error,
            "error_se": float(np.sqrt(variance / n)),
            "rmse": float(np.sqrt(self.square / n)),
            "bias": self.bias / n,
            "coverage": coverage,
            "coverage_se": float(np.sqrt(coverage * (1 - coverage) / max(self.judged, 1))),
            "selection_error": wrong,
            "selection_error_se": float(np.sqrt(wrong * (1 - wrong) / n)),
            "draws": self.draws / max(self.n + self.empty, 1),
            "repeats": self.n,
        }


def simulate(
    pool: Any,
    labels: Any,
    *,
    measure: str | GradedMeasure = "ERR",
    budgets: Sequence[float],
    compare: bool = False,
    variants: Sequence[str] = VARIANTS,
    methods: Sequence[str] = ("eq6",),
    repeats: int = 1000,
    gain: str | None = None,
    grades: int | None = None,
    cost: str | None = None,
    cost_per: str = "auto",
    floor: float = FLOOR,
    model: Callable[[Pool], Pool] | None = None,
    confidence: float = 0.95,
    threads: int = 0,
    seed: int = 0,
) -> SimulationResult:
    """Run many studies on a pool whose labels are known, and report how far off they are.

    Parameters
    ----------
    pool, measure, compare, gain, grades, cost, cost_per, floor, model
        As for `plan`.
    labels : path, Qrels or ``{topic: {doc: grade}}``
        Labels of the whole pool; documents without one count as grade 0.
    budgets : sequence of float
        In units of the mean cost of a query.
    variants : sequence of str
        ``active``, ``passive``, ``uniD``, ``uniC``.
    methods : sequence of str
        ``eq6``, ``regression``, ``difference``, ``priority``, ``priority-regression``.
    repeats : int
        Studies of each kind.
    """
    chosen = measure if isinstance(measure, GradedMeasure) else parse_measure(measure, gain=gain)
    unknown = [m for m in methods if m not in METHODS]
    if unknown:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {unknown[0]!r}")
    wanted = np.array(sorted(set(map(float, budgets))))
    if not len(wanted) or not (wanted > 0).all():
        raise InputError("give at least one budget, each above 0")
    check_seed(seed)
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, got {repeats}")
    whole = read_pool(pool, grades=grades)
    check_rankings(whole.rankings, compare=compare)
    grade, unlabelled = grades_of(whole, labels)
    true_values = values(whole, chosen, grade)
    options: Any = {"cost": cost, "cost_per": cost_per, "threads": threads}
    informed = survey_pool(whole, chosen, model=model, **options)
    weights = quantities(str(chosen), whole.rankings, compare=compare)[0].weights
    setting = Setting(
        weights @ true_values, weights @ informed.moments.mean, informed.p, informed.cost
    )
    rows: list[dict[str, Any]] = []
    for variant in variants:
        blind = variant == "uniD"
        found = survey_pool(whole, chosen, uniform=True, **options) if blind else informed
        around = spread(found.moments, found.p, compare=compare)
        q = sampling_distribution(variant, around, found.cost, found.p, floor=floor)
        seen = Setting(setting.value, weights @ found.moments.mean, setting.p, setting.cost)
        for method in methods:
            tallies = [Tally() for _ in wanted]
            for b, result, count in simulated_estimates(
                seen, q, method, wanted, repeats=repeats, seed=seed, threads=threads
            ):
                tallies[b].add(result, count, setting.truth, confidence)
            if not any(t.n for t in tallies):
                raise InputError(
                    f"no study of variant {variant} could pay for its first query within the "
                    f"budget of {wanted[-1]:g}. Hint: a larger budget"
                )
            for budget, tally in zip(wanted, tallies, strict=True):
                row = {"variant": variant, "method": method, "budget": float(budget)}
                rows.append({**row, **tally.summary()})
    saved = share_saved(rows)
    columns = {key: [row[key] for row in rows] for key in rows[0]}
    settings = {
        "measure": str(chosen),
        "gain": chosen.gain,
        "compare": compare,
        "rankings": list(whole.rankings),
        "topics": len(whole.topics),
        "truth": setting.truth,
        "unlabelled": unlabelled,
        "confidence": confidence,
        "repeats": repeats,
        "seed": seed,
    }
    return SimulationResult(
        settings=settings,
        headline=_headline(settings, rows, saved),
        table={**columns, "saved": saved},
    )


def grades_of(pool: Pool, labels: Any) -> tuple[npt.NDArray[np.int64], int]:
    """Grade of each item, and how many had no label (they count as 0)."""
    known = {(e.topic, e.doc): e.grade for e in read_labels(labels, top=pool.grades - 1)}
    owner = pool.topic_of_item
    found = [known.get((pool.topics[t], d)) for t, d in zip(owner, pool.docs, strict=True)]
    missing = sum(g is None for g in found)
    if missing == len(found):
        raise InputError(
            "none of the labels is of a topic and document of the pool. Hint: do the ids match?"
        )
    return np.array([g or 0 for g in found], dtype=np.int64), missing


def share_saved(rows: list[dict[str, Any]]) -> list[float]:
    """Share of the labels that passive Eq. 6 needs for the same error, which a row does without.

    Error falls as a power of the budget, so the passive curve is read in logarithms, and a little
    beyond its ends.
    """
    passive = [r for r in rows if (r["variant"], r["method"]) == ("passive", "eq6")]
    if len(passive) < 2 or not all(r["error"] > 0 for r in passive):
        return [float("nan")] * len(rows)
    error = np.log([r["error"] for r in passive])
    budget = np.log([r["budget"] for r in passive])
    if (np.diff(error) >= 0).any():
        return [float("nan")] * len(rows)
    out = []
    for row in rows:
        if any(row is r for r in passive):
            out.append(0.0)
            continue
        at = np.log(row["error"]) if row["error"] > 0 else -np.inf
        piece = int(np.clip(np.searchsorted(-error, -at) - 1, 0, len(error) - 2))
        fall = (budget[piece + 1] - budget[piece]) / (error[piece + 1] - error[piece])
        same = budget[piece] + (at - error[piece]) * fall
        inside = budget[0] - _BEYOND <= same <= budget[-1] + _BEYOND
        out.append(float(1 - row["budget"] / np.exp(same)) if inside else float("nan"))
    return out


def _headline(
    settings: dict[str, Any], rows: list[dict[str, Any]], saved: list[float]
) -> tuple[str, ...]:
    largest = max(r["budget"] for r in rows)
    lines = []
    for row, share in zip(rows, saved, strict=True):
        if row["budget"] != largest or row["variant"] == "passive":
            continue
        word = f"; it saves {share:.0%} of the labels" if np.isfinite(share) else ""
        lines.append(
            f"{row['variant']} ({row['method']}) is off by {row['error']:.4f} on average at a "
            f"budget of {largest:g}{word}."
        )
    if settings["unlabelled"]:
        lines.append(f"{settings['unlabelled']} documents have no label and count as grade 0.")
    return tuple(lines)
