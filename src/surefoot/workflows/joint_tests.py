"""Tests of all systems at once: analysis of variance, Tukey's test, max-T over all pairs."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.inference.anova import anova
from surefoot.inference.effect_size import effect_sizes
from surefoot.inference.max_t import all_pairs
from surefoot.inference.outcome import Outcome
from surefoot.inference.tukey import tukey
from surefoot.results.significance import TestResult
from surefoot.workflows.comparison import chosen_names
from surefoot.workflows.paired_tests import (
    MAX_T_PERMUTATIONS,
    Plan,
    every_pair,
    letters_of,
    record,
    with_sentence,
)
from surefoot.workflows.verdicts import plural

FloatArray = npt.NDArray[np.float64]

JOINT = ("anova", "tukey", "maxt")


def compare_all(
    matrix: ScoreMatrix, champion: str | Iterable[str] | None, plan: Plan
) -> TestResult:
    """Tukey's test or max-T over all pairs, on the topics that every system has."""
    whole, dropped = _complete(matrix, plan)
    values = whole.values
    pairs = every_pair(whole)
    n = np.full(len(pairs.system), values.shape[1])
    mean = pairs.x.mean(axis=1)
    if plan.test == "tukey":
        found = tukey(values, confidence=plan.confidence)
        outcome = Outcome(found.statistic, found.p_value, ("",) * len(n))
        p_adjusted, margin = found.p_adjusted, found.margin
    else:
        plan.settings["resamples"] = plan.resamples or MAX_T_PERMUTATIONS
        joint = all_pairs(
            values,
            confidence=plan.confidence,
            n_permutations=plan.settings["resamples"],
            seed=plan.seed,
            threads=plan.threads,
            progress=plan.progress,
        )
        error = float(np.sqrt(anova(values).mean_square[2] / values.shape[1]))
        outcome = Outcome(joint.statistic, joint.p_value, ("",) * len(n))
        p_adjusted, margin = joint.p_adjusted, joint.critical * error
    letters = letters_of(matrix, p_adjusted, plan.level)
    sizes = effect_sizes(pairs.x, pairs.reference, confidence=plan.confidence)
    ends = (mean - margin, mean + margin)
    result = record(pairs, outcome, p_adjusted, mean, ends, sizes, n, letters, plan)
    if dropped:
        result = with_sentence(result, dropped)
    return result if champion is None else _against(result, champion, matrix)


def anova_table(
    matrix: ScoreMatrix, champion: str | Iterable[str] | None, plan: Plan
) -> TestResult:
    """The table of the two-way analysis of variance, on the topics that every system has."""
    whole, dropped = _complete(matrix, plan)
    table = anova(whole.values)
    nothing = np.full(4, np.nan)
    differ = "differ" if table.p_value[0] <= plan.level else "do not differ significantly"
    headline = [
        f"The systems {differ}: F({table.df[0]:g}, {table.df[2]:g}) = {table.f[0]:.4g}, "
        f"p = {table.p_value[0]:.3g}.",
        dropped,
    ]
    if champion is not None:
        named = ", ".join(chosen_names(champion, matrix.systems, "a champion"))
        headline.append(f"It takes all systems alike, {named} too.")
    flat = ["no variance at all" if np.isnan(f) else "" for f in table.f[:2]]
    return TestResult(
        system=table.source,
        other=("",) * 4,
        test="anova",
        form="alpha",
        alpha=0.0,
        statistic=table.f,
        p_value=table.p_value,
        p_adjusted=table.p_value,
        effect_size=table.eta_squared,
        mean_difference=nothing,
        low=nothing,
        high=nothing,
        effect_low=nothing,
        effect_high=nothing,
        hedges_g=nothing,
        glass_delta=nothing,
        glass_low=nothing,
        glass_high=nothing,
        topics=np.full(4, len(whole.topics)),
        note=(*flat, "", ""),
        table={
            "sum_of_squares": table.sum_of_squares,
            "df": table.df,
            "mean_square": table.mean_square,
        },
        headline=tuple(filter(None, headline)),
        settings=plan.settings,
    )


def _complete(matrix: ScoreMatrix, plan: Plan) -> tuple[ScoreMatrix, str]:
    """The topics that every system has, and a sentence on those that are left out."""
    if len(matrix.systems) < 2:
        raise InputError("a test needs two systems at least")
    kept = np.flatnonzero(~matrix.missing.any(axis=0))
    dropped = len(matrix.topics) - len(kept)
    plan.settings["topics_dropped"] = dropped
    if len(kept) < 2:
        has = "topic has" if len(kept) == 1 else "topics have"
        raise InputError(
            f"only {len(kept)} {has} a score of every system, and two are needed. "
            "Hint: --test t compares pairs on the topics they share"
        )
    if not dropped:
        return matrix, ""
    whole = matrix.select(topics=[matrix.topics[j] for j in kept])
    return whole, f"Left out, without a score of every system: {plural(dropped, 'topic')}."


def _against(result: TestResult, champion: str | Iterable[str], matrix: ScoreMatrix) -> TestResult:
    """The pairs with a champion, as challenger minus champion; adjusted for all pairs still."""
    wanted = chosen_names(champion, matrix.systems, "a champion")
    for name in wanted:
        matrix.index(name)
    rows, flip = [], []
    for k, (a, b) in enumerate(zip(result.system, result.other, strict=True)):
        if (a in wanted) != (b in wanted):
            rows.append(k)
            flip.append(a in wanted)
    turned = np.array(flip, dtype=bool)

    def signed(column: FloatArray) -> FloatArray:
        return np.where(turned, 0.0 - column[rows], column[rows])  # no minus zero

    def ends(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.where(turned, signed(high), low[rows]), np.where(turned, signed(low), high[rows])

    low, high = ends(result.low, result.high)
    effect_low, effect_high = ends(result.effect_low, result.effect_high)
    both = [
        (result.other[k], result.system[k]) if f else (result.system[k], result.other[k])
        for k, f in zip(rows, flip, strict=True)
    ]
    # Glass's unit is the champion's spread now
    sizes = effect_sizes(
        np.array([matrix.row(a) - matrix.row(b) for a, b in both]),
        np.array([matrix.row(b) for _, b in both]),
        confidence=float(result.settings["confidence"]),
    )
    return replace(
        result,
        system=tuple(a for a, _ in both),
        other=tuple(b for _, b in both),
        statistic=result.statistic[rows],
        p_value=result.p_value[rows],
        p_adjusted=result.p_adjusted[rows],
        effect_size=signed(result.effect_size),
        mean_difference=signed(result.mean_difference),
        low=low,
        high=high,
        effect_low=effect_low,
        effect_high=effect_high,
        hedges_g=signed(result.hedges_g),
        glass_delta=sizes.glass_delta,
        glass_low=sizes.glass_low,
        glass_high=sizes.glass_high,
        topics=result.topics[rows],
        note=tuple(result.note[k] for k in rows),
    )
