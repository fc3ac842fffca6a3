"""Plan a study: how each query is to be sampled, written with the pool into a new store."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.active.bounds import value_bounds
from surefoot.active.cost import CostTally, normalise
from surefoot.active.measure import GradedMeasure, parse_measure
from surefoot.active.moments import Moments, moments, sum_by
from surefoot.active.sampling import (
    FLOOR,
    SEQUENTIAL_FLOOR,
    introspective,
    optimal_draws,
    relative_cost,
    sampling_distribution,
    spread,
)
from surefoot.data.pool import Pool
from surefoot.data.seed import check_seed
from surefoot.errors import InputError
from surefoot.io.pool import read_pool_blocks
from surefoot.kernels.active import uniform_draws
from surefoot.results.active_plan import PlanResult

FloatArray = npt.NDArray[np.float64]

DESIGNS = ("replacement", "priority")
_ROWS = 20_000


@dataclass(slots=True)
class Survey:
    """What a pass over the pool finds out: one entry a query."""

    topics: list[str] = field(default_factory=list)
    rankings: tuple[str, ...] = ()
    grades: int = 0
    supplied: bool = False  # whether the pool says how likely each grade is
    cost: FloatArray = field(default_factory=lambda: np.empty(0))
    cost_unit: float = 1.0
    cost_words: str = ""
    p: FloatArray = field(default_factory=lambda: np.empty(0))
    moments: Moments = field(default_factory=lambda: Moments(*(np.empty((0, 0)),) * 3))
    low: FloatArray = field(default_factory=lambda: np.empty((0, 0)))  # from `value_bounds`
    high: FloatArray = field(default_factory=lambda: np.empty((0, 0)))


def survey_pool(
    pool: Any,
    measure: GradedMeasure,
    *,
    grades: int | None = None,
    uniform: bool = False,
    cost: str | None = None,
    cost_per: str = "auto",
    model: Callable[[Pool], Pool] | None = None,
    each: Callable[[Pool], None] | None = None,
    threads: int = 0,
) -> Survey:
    """Moments, costs and weights of every query, block by block.

    Parameters
    ----------
    uniform : bool
        Take all grades as equally likely, whatever the pool says (uniD).
    model : callable, optional
        Replaces a block's probabilities.
    each : callable, optional
        Called with every block.
    """
    out = Survey()
    tally = CostTally(cost, measure.judged_depth, cost_per)
    parts: list[Moments] = []
    weights: list[FloatArray] = []
    bounds: list[tuple[FloatArray, FloatArray]] = []
    for block in read_pool_blocks(pool, grades=grades):
        out.supplied = block.supplied
        if uniform:
            flat = np.full(block.grades, 1 / block.grades)
            block = block.with_probability(np.broadcast_to(flat, block.probability.shape))
        elif model is not None:
            block = model(block)
        out.topics.extend(block.topics)
        out.rankings, out.grades = block.rankings, block.grades
        tally.add(block)
        parts.append(moments(block, measure, threads=threads))
        weights.append(_weight(block))
        bounds.append(value_bounds(block, measure))
        if each is not None:
            each(block)
    out.moments = Moments.join(parts)
    out.low, out.high = (np.concatenate(ends, axis=1) for ends in zip(*bounds, strict=True))
    weight = np.concatenate(weights)
    out.p = weight / weight.sum()
    out.cost, out.cost_unit = normalise(tally.total(out.topics), out.p)
    out.cost_words = tally.words
    return out


def _weight(pool: Pool) -> FloatArray:
    """p(x) up to its scale: the column `weight` (traffic), else the same for every query."""
    if "weight" not in pool.columns:
        return np.ones(len(pool.topics))
    column = pool.columns["weight"]
    count = np.diff(pool.item_offset)
    mean: FloatArray = sum_by(pool.topic_of_item, column, len(pool.topics)) / count
    if not (mean > 0).all():
        x = int((~(mean > 0)).argmax())
        raise InputError(f"the weight of topic {pool.topics[x]!r} must be above 0, got {mean[x]:g}")
    return mean


def check_rankings(rankings: tuple[str, ...], *, compare: bool) -> None:
    """A comparison needs two rankings; an estimate of one must not be given two."""
    if compare and len(rankings) < 2:
        raise InputError(
            f"a comparison needs two rankings, the pool has {len(rankings)}: {', '.join(rankings)}"
        )
    if not compare and len(rankings) > 1:
        raise InputError(
            f"the pool has {len(rankings)} rankings ({', '.join(rankings[:4])}). Hint: add "
            "--compare for their difference, or keep one"
        )


def plan(
    pool: Any,
    study: str | os.PathLike[str],
    *,
    measure: str | GradedMeasure = "ERR",
    budget: float,
    compare: bool = False,
    gain: str | None = None,
    grades: int | None = None,
    variant: str = "active",
    design: str = "replacement",
    cost: str | None = None,
    cost_per: str = "auto",
    floor: float | None = None,
    model: Callable[[Pool], Pool] | None = None,
    method: str = "eq6",
    stop: str = "",
    confidence: float = 0.95,
    price: float | None = None,
    currency: str = "",
    threads: int = 0,
    seed: int = 0,
) -> PlanResult:
    """Plan which queries to label, and write the study.

    Parameters
    ----------
    pool : path, Pool, mapping of columns or data frame
        ``topic, ranking, rank, doc[, cost][, length][, weight][, p0, ..., pK]``.
    study : path or URL
        Where the study is to live; must not exist.
    measure : str
        ``ERR``, ``DCG@10``, ``nDCG@10``, ``RBP(p=0.8)`` or ``INST(T=3)``.
    budget : float
        What labelling may cost, in units of the mean cost of a query.
    compare : bool
        Estimate the difference of the pool's rankings (Eq. 12) instead of one ranking (Eq. 11).
    variant : str
        ``active``, ``passive``, ``uniD`` or ``uniC`` (Sawade et al. 2012, Section 5).
    design : str
        ``replacement``: draws as in Algorithm 1; ``priority``: without replacement.
    cost, cost_per, gain, grades
        As for `CostTally`, `GradedMeasure` and `read_pool`.
    floor : float, optional
        As for `sampling_distribution`; larger by default where a study may stop early, whose
        intervals pay for every large weight.
    model : callable, optional
        A model of relevance: takes a block of the pool, returns it with other probabilities.
    method : str
        How `estimate` is to estimate unless told otherwise; chosen here, before any label is seen.
    stop : str
        Stopping rule of a sequential study: ``sign`` or ``half-width<h``.
    price, currency
        What one cost unit (the mean query) costs, for messages.

    References
    ----------
    Sawade et al. 2012, Active Evaluation of Ranking Functions based on Graded Relevance.
    """
    from surefoot.active.estimating import check_method
    from surefoot.active.sequential import parse_rule
    from surefoot.active.store.create import new_study

    chosen = measure if isinstance(measure, GradedMeasure) else parse_measure(measure, gain=gain)
    if not (np.isfinite(budget) and budget > 0):
        raise InputError(f"the budget must be above 0, got {budget:g}")
    if design not in DESIGNS:
        raise InputError(f"design must be one of {', '.join(DESIGNS)}, got {design!r}")
    if price is not None and not (np.isfinite(price) and price > 0):
        raise InputError(f"the price of a mean query must be above 0, got {price:g}")
    check_seed(seed)
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence:g}")
    check_method(method, design)
    rule = parse_rule(stop)
    if str(rule) and design != "replacement":
        raise InputError(
            "a stopping rule needs independent draws. Hint: --design replacement, or no --stop"
        )
    if floor is None:
        floor = SEQUENTIAL_FLOOR if str(rule) else FLOOR
    with new_study(study) as writer:
        written = 0

        def write(block: Pool) -> None:
            nonlocal written
            check_rankings(block.rankings, compare=compare)
            writer.add_topics(_topic_rows(block, chosen, written))
            written += len(block.topics)

        found = survey_pool(
            pool,
            chosen,
            grades=grades,
            uniform=variant == "uniD",
            cost=cost,
            cost_per=cost_per,
            model=model,
            each=write,
            threads=threads,
        )
        around = spread(found.moments, found.p, compare=compare)
        q = sampling_distribution(variant, around, found.cost, found.p, floor=floor)
        place, priority = _places(q, design, seed)
        writer.add_sampling(_sampling_rows(found, q, place, priority))
        expected_draws = optimal_draws(budget, q, found.cost)
        settings = {
            "measure": str(chosen),
            "gain": chosen.gain,
            "grades": found.grades,
            "compare": compare,
            "rankings": list(found.rankings),
            "variant": variant,
            "design": design,
            "method": method,
            "floor": floor,
            "seed": seed,
            "budget": budget,
            "cost": found.cost_words,
            "cost_unit": found.cost_unit,
            "price": price,
            "currency": currency,
            "model": _model_name(found, model, variant),
            "stop": str(rule),
            "confidence": confidence,
            "topics": len(found.topics),
            "total": float(place[-1]) if design == "replacement" else 0.0,
            "expected_draws": expected_draws,
            "predicted_mean": [float(v) for v in found.moments.mean @ found.p],
            "sequence": _sequence(found, q) if design == "replacement" else None,
        }
        writer.finish(settings, budget=budget, name=_name_of(study))
    settings.pop("sequence")  # for the store, not for readers
    shared = introspective(found.moments, found.p, compare=compare)
    return PlanResult(
        settings=settings,
        headline=_headline(settings, relative_cost(q, around, found.cost, found.p)),
        topics=len(found.topics),
        rankings=found.rankings,
        expected_draws=expected_draws,
        cost_per_draw=float(found.cost @ q),
        introspective=float(shared[0]),
        predicted_se=_predicted_se(q, around, found.p, expected_draws),
        predicted_saving=1 - relative_cost(q, around, found.cost, found.p),
        q_topics=tuple(found.topics),
        q=q,
        cost=found.cost,
        expected=found.moments.difference_mean[0] if compare else found.moments.mean[0],
        variance=(found.moments.difference_variance[0] if compare else found.moments.variance[0]),
    )


def _model_name(found: Survey, model: Callable[[Pool], Pool] | None, variant: str) -> str:
    if variant == "uniD" or (model is None and not found.supplied):
        return "uniform"
    return "supplied" if model is None else str(getattr(model, "name", "custom"))


def _sequence(found: Survey, q: FloatArray) -> dict[str, list[Any]]:
    """What the confidence sequence of each quantity needs: every ranking, then every difference."""
    from surefoot.active.sequential import reach

    mean = np.concatenate([found.moments.mean, found.moments.difference_mean])
    variance = np.concatenate([found.moments.variance, found.moments.difference_variance])
    around = variance + (mean - (mean @ found.p)[:, None]) ** 2
    weight = found.p / q
    ends = zip(found.low, found.high, strict=True)
    return {
        "reach": [reach(weight, low, high, found.p).to_dict() for low, high in ends],
        "sigma": [float(s) for s in np.sqrt((found.p**2 / q * around).sum(axis=1))],
    }


def _name_of(study: str | os.PathLike[str]) -> str:
    from surefoot.active.store.connect import Database

    return Database(study).name


def _predicted_se(q: FloatArray, around: FloatArray, p: FloatArray, draws: float) -> float:
    """Standard error that the model expects: sigma_q / sqrt(n) of section 3."""
    return float(np.sqrt((p**2 * around / q).sum() / max(draws, 1)))


def _places(q: FloatArray, design: str, seed: int) -> tuple[FloatArray, FloatArray | None]:
    """Where `next` finds each query: its cumulative probability, or its turn."""
    if design == "replacement":
        return np.cumsum(q), None
    priority = q / uniform_draws(seed, 0, 0, len(q))
    turn = np.empty(len(q))
    turn[np.lexsort((np.arange(len(q)), -priority))] = np.arange(len(q))
    return turn, priority


def _topic_rows(block: Pool, measure: GradedMeasure, first: int) -> Iterator[dict[str, Any]]:
    """Rows of the table `topic`: documents that need a label, and where the rankings show them."""
    depth = measure.judged_depth
    shown = block.shown(depth)
    for x, topic in enumerate(block.topics):
        begin, end = int(block.item_offset[x]), int(block.item_offset[x + 1])
        kept = [i for i in range(begin, end) if shown[i]]
        local = {item: i for i, item in enumerate(kept)}
        lists = [
            [local[i] for i in items[offset[x] : offset[x + 1]][:depth].tolist()]
            for offset, items in zip(block.offsets, block.items, strict=True)
        ]
        yield {
            "number": first + x,
            "topic": topic,
            "docs": json.dumps([block.docs[i] for i in kept], ensure_ascii=False),
            "rankings": json.dumps(lists),
        }


def _sampling_rows(
    found: Survey, q: FloatArray, place: FloatArray, priority: FloatArray | None
) -> Iterator[dict[str, Any]]:
    # a block at a time: as Python numbers, a million queries would take a gigabyte
    for begin in range(0, len(q), _ROWS):
        part = slice(begin, begin + _ROWS)
        columns = zip(
            found.p[part].tolist(),
            q[part].tolist(),
            found.cost[part].tolist(),
            found.moments.mean.T[part].tolist(),
            place[part].tolist(),
            repeat(None, len(q[part])) if priority is None else priority[part].tolist(),
            strict=True,
        )
        for x, (p, chance, cost, expected, at, turn) in enumerate(columns, start=begin):
            yield {
                "number": x,
                "p": p,
                "q": chance,
                "cost": cost,
                "expected": json.dumps(expected),
                "place": at,
                "priority": turn,
            }


def _headline(settings: dict[str, Any], relative: float) -> tuple[str, ...]:
    what = "the difference of " if settings["compare"] else ""
    lines = [
        f"Planned {what}{settings['measure']} over {settings['topics']} queries: the budget of "
        f"{settings['budget']:g} (in mean queries) pays for about "
        f"{settings['expected_draws']:.0f} draws."
    ]
    if settings["variant"] == "passive":
        lines.append("Queries are drawn as they come (passive).")
    elif relative < 1:
        lines.append(
            f"If the model of relevance is right, this saves {1 - relative:.0%} of the labels that "
            "drawing queries as they come would need."
        )
    else:
        lines.append(
            "If the model of relevance is right, this saves no labels against drawing queries as "
            "they come."
        )
    if settings["cost"].startswith("column"):
        lines.append(f"Labels cost what the {settings['cost']} says (--cost-per topic or item).")
    if settings["price"] is not None:
        money = settings["price"] * settings["budget"]
        lines.append(f"The budget is {money:,.2f} {settings['currency']}".rstrip() + ".")
    return tuple(lines)
