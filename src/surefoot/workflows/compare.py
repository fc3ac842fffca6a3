"""Significance tests of challengers against a champion, or of all pairs of systems."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.inference.corrections import CORRECTIONS
from surefoot.io.scores import read_scores
from surefoot.overlays.value import Linear, ValueFunction
from surefoot.results.significance import TestResult
from surefoot.workflows.comparison import (
    Comparison,
    check_draws,
    chosen_names,
    describe,
    loss_aversion,
    prepare,
    value_function,
)
from surefoot.workflows.joint_tests import JOINT, anova_table, compare_all
from surefoot.workflows.paired_tests import (
    PAIRED,
    Pairs,
    Plan,
    Progress,
    compare_pairs,
    every_pair,
)

TESTS = (*PAIRED, *JOINT)


def test(
    scores: Any,
    *,
    champion: str | Iterable[str] | None = None,
    test: str = "t",
    correction: str | None = None,
    alpha: float | None = None,
    r: float | None = None,
    value: str | ValueFunction = "linear",
    confidence: float = 0.95,
    resamples: int | None = None,
    systems: str | Iterable[str] | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> TestResult:
    """Test whether systems differ.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores, anything that `read_scores` takes.
    champion : str or list of str, optional
        Compare every other system with it; all pairs without.
    test : str
        Of the differences on each topic: ``t``, ``wilcoxon``, ``sign``, ``bootstrap``,
        ``randomization``. Of all systems at once: ``anova``, ``tukey``, ``maxt``.
    correction : str, optional
        ``none``, ``bonferroni``, ``holm`` (default) or ``bh``; Tukey's and the max-T test adjust
        for all their comparisons themselves and take none.
    alpha, r : float, optional
        Test risk-adjusted differences, in which a loss counts 1 + alpha = r times; default 0, plain
        differences. Needs a champion.
    value : str or callable, optional
        What a difference is worth: ``linear`` (alpha), ``smooth``, ``refit`` or a function, as in
        `risk`.
    confidence : float
        Of the intervals for the mean difference and the effect size.
    resamples : int, optional
        Resamples or permutations: 100,000 by default for maxt, otherwise 20,000 or, with many
        comparisons, up to 200,000.

    Returns
    -------
    TestResult

    Examples
    --------
    >>> import surefoot as sf
    >>> table = {"old": {"q1": 0.5, "q2": 0.5, "q3": 0.4}, "new": {"q1": 0.7, "q2": 0.4, "q3": 0.5}}
    >>> sf.test(table, champion="old").p_value.round(3).tolist()
    [0.529]
    """
    if test not in TESTS:
        raise InputError(f"unknown test {test!r}. Hint: one of {', '.join(TESTS)}")
    if correction is not None and correction not in CORRECTIONS:
        raise InputError(
            f"unknown correction {correction!r}. Hint: one of {', '.join(CORRECTIONS)}"
        )
    if test in JOINT and correction not in (None, "none"):
        raise InputError(
            f"the {test} test needs no correction, it covers all its comparisons itself. "
            "Hint: leave --correction out"
        )
    check_draws(seed, resamples=resamples)
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, but got {confidence}")
    alphas, form = loss_aversion(0.0 if alpha is None and r is None else alpha, r)
    if len(alphas) != 1:
        raise InputError("a test takes one value of alpha or r")
    matrix = read_scores(scores)
    if systems is not None and champion is None:
        matrix = matrix.select(systems=chosen_names(systems, matrix.systems, "a system"))
    weighted = alphas[0] != 0 or form == "minus" or value != "linear"
    if weighted and (champion is None or test in ("anova", "tukey")):
        raise InputError(
            "risk-adjusted differences need a champion and a test against it. "
            "Hint: --champion NAME with t, wilcoxon, sign, bootstrap, randomization or maxt"
        )
    settings: dict[str, Any] = {
        "test": test,
        "champion": champion if champion is None or isinstance(champion, str) else list(champion),
        "correction": correction or ("joint" if test in JOINT else "holm"),
        "form": form,
        "alpha": alphas[0],
        "confidence": confidence,
        "seed": seed,
        "measure": matrix.measure,
    }
    plan = Plan(test, confidence, resamples, seed, threads, progress, settings)
    if test == "anova":
        return anova_table(matrix, champion, plan)
    if test == "tukey" or (test == "maxt" and champion is None):
        return compare_all(matrix, champion, plan)
    if champion is None:
        return compare_pairs(matrix, every_pair(matrix), plan)
    compared = prepare(matrix, champion, systems=systems)
    name, function = value_function(value, matrix, compared.champions)
    settings |= describe(name, function)
    if function is not None:
        settings["alpha"] = None
    return compare_pairs(matrix, _against(compared, function or Linear(alphas[0]), form), plan)


# pytest would take the verb for a test case of every module that imports it
setattr(test, "__test__", False)  # noqa: B010


def _against(compared: Comparison, worth: ValueFunction, form: str) -> Pairs:
    """What each challenger's differences to each champion are worth."""
    matrix, rows = compared.matrix, compared.challengers
    sign = -1.0 if form == "minus" else 1.0
    return Pairs(
        tuple(matrix.systems[i] for _ in compared.champions for i in rows),
        tuple(c.name for c in compared.champions for _ in rows),
        np.concatenate([sign * worth(matrix.values[rows] - c.scores) for c in compared.champions]),
        np.concatenate([np.tile(c.scores, (len(rows), 1)) for c in compared.champions]),
    )
