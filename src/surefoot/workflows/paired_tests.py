"""Tests of pairs of systems by their differences, and the record that all tests are told in."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError, UnreliableWarning
from surefoot.inference.bootstrap_test import bootstrap_test
from surefoot.inference.corrections import adjust
from surefoot.inference.effect_size import EffectSizes, effect_sizes
from surefoot.inference.intervals import Intervals, bootstrap_intervals, resamples_needed
from surefoot.inference.letters import compact_letters
from surefoot.inference.max_t import many_to_one
from surefoot.inference.outcome import Outcome
from surefoot.inference.randomization import randomization_test
from surefoot.inference.sign_test import sign_test
from surefoot.inference.t_test import t_test
from surefoot.inference.wilcoxon import wilcoxon
from surefoot.results.significance import TestResult
from surefoot.workflows.verdicts import some

FloatArray = npt.NDArray[np.float64]
Progress = Callable[[float, float], None]

PAIRED = ("t", "wilcoxon", "sign", "bootstrap", "randomization")
MAX_T_PERMUTATIONS = 100_000
# beyond this many systems letters are left out of the headline
_LETTERS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Pairs:
    """Differences to test, (n_pairs, n_topics), and who they are between."""

    system: tuple[str, ...]
    other: tuple[str, ...]
    x: FloatArray
    reference: FloatArray  # scores of the other system


@dataclass(frozen=True, slots=True)
class Plan:
    """Which test, and what all kinds of test share."""

    test: str
    confidence: float
    resamples: int | None
    seed: int
    threads: int
    progress: Progress | None
    settings: dict[str, Any]  # form, alpha, correction and champion among them

    @property
    def level(self) -> float:
        """Of significance."""
        return 1 - self.confidence


def every_pair(matrix: ScoreMatrix) -> Pairs:
    """All pairs of systems, in the order (0, 1), (0, 2), ..., (1, 2), ..."""
    first, second = np.triu_indices(len(matrix.systems), 1)
    if not len(first):
        raise InputError("a test needs two systems at least")
    return Pairs(
        tuple(matrix.systems[i] for i in first),
        tuple(matrix.systems[j] for j in second),
        matrix.values[first] - matrix.values[second],
        matrix.values[second],
    )


def compare_pairs(matrix: ScoreMatrix, pairs: Pairs, plan: Plan) -> TestResult:
    """One test of each pair, or max-T of all challengers against one champion."""
    x = pairs.x
    n = (~np.isnan(x)).sum(axis=1)
    mean = np.where(n > 0, np.nansum(x, axis=1) / np.maximum(n, 1), np.nan)
    count = plan.resamples
    if count is None:
        # enough that the smallest p-value survives a Bonferroni correction
        level = 1 - plan.level / len(x)
        count = MAX_T_PERMUTATIONS if plan.test == "maxt" else resamples_needed(level)
    sizes = effect_sizes(x, pairs.reference, confidence=plan.confidence)
    student = _student(x, plan.confidence)
    if plan.test == "maxt":
        joint = many_to_one(
            x,
            confidence=plan.confidence,
            n_permutations=count,
            seed=plan.seed,
            threads=plan.threads,
            progress=plan.progress,
        )
        outcome = Outcome(joint.statistic, joint.p_value, ("",) * len(x))
        p_adjusted = joint.p_adjusted
        error = student.standard_error
        margin = np.zeros(len(error))
        np.multiply(joint.critical, error, out=margin, where=error != 0)
        low, high = mean - margin, mean + margin
    else:
        outcome = _outcome(x, plan, count)
        p_adjusted = adjust(outcome.p_value, plan.settings["correction"])
        low, high = student.low[0], student.high[0]
    letters = {}
    if plan.settings["champion"] is None:
        letters = letters_of(matrix, p_adjusted, plan.level)
    if plan.test in ("bootstrap", "randomization", "maxt"):
        plan.settings["resamples"] = count
    return record(pairs, outcome, p_adjusted, mean, (low, high), sizes, n, letters, plan)


def _outcome(x: FloatArray, plan: Plan, count: int) -> Outcome:
    if plan.test == "t":
        return t_test(x)
    if plan.test == "sign":
        return sign_test(x)
    if plan.test == "wilcoxon":
        return wilcoxon(x, threads=plan.threads)
    shared = {"seed": plan.seed, "threads": plan.threads}
    if plan.test == "bootstrap":
        return bootstrap_test(x, n_resamples=count, progress=plan.progress, **shared)
    return randomization_test(x, n_permutations=count, progress=plan.progress, **shared)


def _student(x: FloatArray, confidence: float) -> Intervals:
    """The interval shown beside the tests; which bootstrap to trust is the business of `ci`."""
    with warnings.catch_warnings():  # the test's own notes say the same
        warnings.simplefilter("ignore", UnreliableWarning)
        return bootstrap_intervals(x, methods=["student"], confidence=confidence)


def letters_of(matrix: ScoreMatrix, p_adjusted: FloatArray, level: float) -> dict[str, str]:
    """The compact letter display of all pairs, in the order of `every_pair`."""
    n = len(matrix.systems)
    significant = np.zeros((n, n), dtype=bool)
    significant[np.triu_indices(n, 1)] = p_adjusted <= level
    letters = compact_letters(matrix.means(), significant | significant.T)
    return dict(zip(matrix.systems, letters, strict=True))


def record(
    pairs: Pairs,
    outcome: Outcome,
    p_adjusted: FloatArray,
    mean: FloatArray,
    ends: tuple[FloatArray, FloatArray],
    sizes: EffectSizes,
    topics: npt.NDArray[np.int64],
    letters: dict[str, str],
    plan: Plan,
) -> TestResult:
    """The result of tests of pairs, told in sentences too."""
    result = TestResult(
        system=pairs.system,
        other=pairs.other,
        test=plan.test,
        form=plan.settings["form"],
        alpha=np.nan if plan.settings["alpha"] is None else plan.settings["alpha"],
        statistic=outcome.statistic,
        p_value=outcome.p_value,
        p_adjusted=p_adjusted,
        effect_size=sizes.cohen_d,
        mean_difference=mean,
        low=ends[0],
        high=ends[1],
        effect_low=sizes.cohen_low,
        effect_high=sizes.cohen_high,
        hedges_g=sizes.hedges_g,
        glass_delta=sizes.glass_delta,
        glass_low=sizes.glass_low,
        glass_high=sizes.glass_high,
        topics=topics,
        note=_notes(outcome, topics, mean, sizes),
        letters=letters,
        settings={**plan.settings, **({"letters": letters} if letters else {})},
    )
    return replace(result, headline=_headline(result, plan))


def with_sentence(result: TestResult, sentence: str) -> TestResult:
    """The same with a further sentence in its headline."""
    return replace(result, headline=(*result.headline, sentence))


def _notes(
    outcome: Outcome, n: npt.NDArray[np.int64], mean: FloatArray, sizes: EffectSizes
) -> tuple[str, ...]:
    """The test's own notes; a number that is missing is never missing without one."""
    out = []
    rows = zip(outcome.note, n, mean, sizes.cohen_d, sizes.hedges_g, sizes.glass_delta, strict=True)
    for note, count, change, cohen, hedges, glass in rows:
        notes = [note]
        if count == 0:
            notes.append("no topic has a score of both systems")
        elif count == 1:
            if "two topics" not in note:
                notes.append("one topic: no effect size, and no interval")
        else:
            if np.isnan(cohen) and change != 0:
                notes.append("the difference is the same on every topic")
            elif np.isnan(hedges):
                notes.append("Hedges' g needs three topics")
            if np.isnan(glass):
                notes.append("Glass's delta needs another system whose scores vary")
        out.append("; ".join(filter(None, dict.fromkeys(notes))))
    return tuple(out)


def _headline(result: TestResult, plan: Plan) -> tuple[str, ...]:
    """How many pairs differ, and which."""
    significant = result.p_adjusted <= plan.level
    count = len(result.system)
    what = {
        "none": "uncorrected",
        "joint": f"for all {count} comparisons together",
    }.get(plan.settings["correction"], f"{plan.settings['correction']} over {count} comparisons")
    out = [
        f"{int(significant.sum())} of {count} differences are significant at "
        f"{100 * plan.level:.4g} % ({plan.test} test, {what})."
    ]
    letters = result.letters
    if plan.settings["champion"] is not None:
        worse_sign = 1.0 if result.form == "minus" else -1.0
        for word, sign in (("worse", worse_sign), ("better", -worse_sign)):
            names = [
                s
                for s, hit, m in zip(
                    result.system, significant, result.mean_difference, strict=True
                )
                if hit and np.sign(m) == sign
            ]
            if names:
                out.append(f"Significantly {word} than the champion: {some(names)}.")
    elif letters and any(letters.values()) and len(letters) <= _LETTERS_SHOWN:
        shown = ", ".join(f"{name} {text}" for name, text in letters.items())
        out.append(f"Systems that share a letter do not differ significantly: {shown}.")
    return tuple(out)
