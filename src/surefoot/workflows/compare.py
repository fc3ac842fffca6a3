"""Significance tests of challengers against a champion, or of all pairs of systems."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.inference.anova import anova
from surefoot.inference.bootstrap_test import bootstrap_test
from surefoot.inference.corrections import CORRECTIONS, adjust
from surefoot.inference.effect_size import EffectSizes, effect_sizes
from surefoot.inference.intervals import bootstrap_intervals, resamples_needed
from surefoot.inference.letters import compact_letters
from surefoot.inference.max_t import all_pairs, many_to_one
from surefoot.inference.outcome import Outcome
from surefoot.inference.randomization import randomization_test
from surefoot.inference.sign_test import sign_test
from surefoot.inference.t_test import t_test
from surefoot.inference.tukey import tukey
from surefoot.inference.wilcoxon import wilcoxon
from surefoot.io.scores import read_scores
from surefoot.overlays.value import Linear, ValueFunction
from surefoot.results.significance import TestResult
from surefoot.workflows.comparison import (
    chosen_names,
    describe,
    loss_aversion,
    prepare,
    value_function,
)

FloatArray = npt.NDArray[np.float64]
Progress = Callable[[float, float], None]

PAIRED = ("t", "wilcoxon", "sign", "bootstrap", "randomization")
JOINT = ("anova", "tukey", "maxt")
TESTS = (*PAIRED, *JOINT)
# beyond this many systems letters are left out of the headline
_LETTERS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Differences to test, (n_pairs, n_topics), and who they are between."""

    system: tuple[str, ...]
    other: tuple[str, ...]
    x: FloatArray
    reference: FloatArray  # scores of the other system


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
    run = _Run(matrix, test, confidence, resamples, seed, threads, progress)
    settings: dict[str, Any] = {
        "test": test,
        "champion": None,
        "correction": correction or ("joint" if test in JOINT else "holm"),
        "form": form,
        "alpha": alphas[0],
        "confidence": confidence,
        "seed": seed,
        "measure": matrix.measure,
    }
    if champion is not None:
        settings["champion"] = champion if isinstance(champion, str) else list(champion)
    if test == "anova":
        table = run.anova(settings)
        if champion is None:
            return table
        named = ", ".join(chosen_names(champion, matrix.systems, "a champion"))
        return _with_headline(table, f"It takes all systems alike, {named} too.")
    if test == "tukey" or (test == "maxt" and champion is None):
        return run.all_together(champion, settings)
    if champion is None:
        pairs = _every_pair(matrix)
    else:
        compared = prepare(matrix, champion, systems=systems)
        rows = compared.challengers
        name, function = value_function(value, matrix, compared.champions)
        worth: ValueFunction = Linear(alphas[0]) if function is None else function
        settings |= describe(name, function)
        if function is not None:
            alphas = (float("nan"),)
            settings["alpha"] = None
        sign = -1.0 if form == "minus" else 1.0
        pairs = _Pairs(
            tuple(matrix.systems[i] for _ in compared.champions for i in rows),
            tuple(c.name for c in compared.champions for _ in rows),
            np.concatenate(
                [sign * worth(matrix.values[rows] - c.scores) for c in compared.champions]
            ),
            np.concatenate([np.tile(c.scores, (len(rows), 1)) for c in compared.champions]),
        )
    return run.pairs(pairs, correction or "holm", form, alphas[0], settings)


# pytest would take the verb for a test case of every module that imports it
setattr(test, "__test__", False)  # noqa: B010


def _every_pair(matrix: ScoreMatrix) -> _Pairs:
    first, second = np.triu_indices(len(matrix.systems), 1)
    if not len(first):
        raise InputError("a test needs two systems at least")
    return _Pairs(
        tuple(matrix.systems[i] for i in first),
        tuple(matrix.systems[j] for j in second),
        matrix.values[first] - matrix.values[second],
        matrix.values[second],
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """What all kinds of test share."""

    matrix: ScoreMatrix
    test: str
    confidence: float
    resamples: int | None
    seed: int
    threads: int
    progress: Progress | None

    def pairs(
        self, pairs: _Pairs, correction: str, form: str, alpha: float, settings: dict[str, Any]
    ) -> TestResult:
        """One test of each pair, or max-T of all challengers against one champion."""
        x = pairs.x
        n = (~np.isnan(x)).sum(axis=1)
        mean = np.where(n > 0, np.nansum(x, axis=1) / np.maximum(n, 1), np.nan)
        count = self.resamples
        if count is None:
            # enough that the smallest p-value survives a Bonferroni correction
            level = 1 - (1 - self.confidence) / len(x)
            count = 100_000 if self.test == "maxt" else resamples_needed(level)
        sizes = effect_sizes(x, pairs.reference, confidence=self.confidence)
        if self.test == "maxt":
            joint = many_to_one(
                x,
                confidence=self.confidence,
                n_permutations=count,
                seed=self.seed,
                threads=self.threads,
                progress=self.progress,
            )
            outcome = Outcome(joint.statistic, joint.p_value, ("",) * len(x))
            p_adjusted = joint.p_adjusted
            error = self._student(x).standard_error
            margin = np.zeros(len(error))
            np.multiply(joint.critical, error, out=margin, where=error != 0)
            low, high = mean - margin, mean + margin
        else:
            outcome = self._paired(x, count)
            p_adjusted = adjust(outcome.p_value, correction)
            student = self._student(x)
            low, high = student.low[0], student.high[0]
        letters = self._letters(pairs, p_adjusted) if settings["champion"] is None else {}
        if self.test in ("bootstrap", "randomization", "maxt"):
            settings["resamples"] = count
        return self._result(
            pairs, outcome, p_adjusted, mean, low, high, sizes, n, form, alpha, letters, settings
        )

    def _paired(self, x: FloatArray, count: int) -> Outcome:
        if self.test == "t":
            return t_test(x)
        if self.test == "sign":
            return sign_test(x)
        if self.test == "wilcoxon":
            return wilcoxon(x, threads=self.threads)
        if self.test == "bootstrap":
            return bootstrap_test(
                x,
                n_resamples=count,
                seed=self.seed,
                threads=self.threads,
                progress=self.progress,
            )
        return randomization_test(
            x,
            n_permutations=count,
            seed=self.seed,
            threads=self.threads,
            progress=self.progress,
        )

    def _student(self, x: FloatArray) -> Any:
        """The interval shown beside the tests; which bootstrap to trust is the business of `ci`."""
        import warnings

        from surefoot.errors import UnreliableWarning

        with warnings.catch_warnings():  # the test's own notes say the same
            warnings.simplefilter("ignore", UnreliableWarning)
            return bootstrap_intervals(x, methods=["student"], confidence=self.confidence)

    def all_together(
        self, champion: str | Iterable[str] | None, settings: dict[str, Any]
    ) -> TestResult:
        """Tukey's test or max-T over all pairs, on the topics that every system has."""
        complete = ~self.matrix.missing.any(axis=0)
        values = np.ascontiguousarray(self.matrix.values[:, complete])
        dropped = int((~complete).sum())
        if values.shape[1] < 2:
            raise InputError(
                f"only {values.shape[1]} topics have a score of every system, and two are needed. "
                "Hint: --test t compares pairs on the topics they share"
            )
        full = _every_pair(ScoreMatrix(self.matrix.systems, _names(values.shape[1]), values))
        n = np.full(len(full.system), values.shape[1])
        mean = full.x.mean(axis=1)
        if self.test == "tukey":
            found = tukey(values, confidence=self.confidence)
            outcome = Outcome(found.statistic, found.p_value, ("",) * len(n))
            p_adjusted, margin = found.p_adjusted, found.margin
        else:
            settings["resamples"] = self.resamples or 100_000
            joint = all_pairs(
                values,
                confidence=self.confidence,
                n_permutations=settings["resamples"],
                seed=self.seed,
                threads=self.threads,
                progress=self.progress,
            )
            table = anova(values)
            error = float(np.sqrt(table.mean_square[2] / values.shape[1]))
            outcome = Outcome(joint.statistic, joint.p_value, ("",) * len(n))
            p_adjusted, margin = joint.p_adjusted, joint.critical * error
        settings["topics_dropped"] = dropped
        letters = self._letters(full, p_adjusted)
        sizes = effect_sizes(full.x, full.reference, confidence=self.confidence)
        result = self._result(
            full, outcome, p_adjusted, mean, mean - margin, mean + margin, sizes, n, "alpha", 0.0,
            letters, settings,
        )  # fmt: skip
        if dropped:
            result = _with_headline(
                result, f"{dropped} topics without a score of every system were left out."
            )
        return result if champion is None else _against(result, champion, self.matrix)

    def anova(self, settings: dict[str, Any]) -> TestResult:
        """The table of the two-way analysis of variance."""
        complete = ~self.matrix.missing.any(axis=0)
        table = anova(self.matrix.values[:, complete])
        dropped = int((~complete).sum())
        settings["topics_dropped"] = dropped
        nothing = np.full(4, np.nan)
        significant = table.p_value[0] <= 1 - self.confidence
        headline = [
            f"The systems {'differ' if significant else 'do not differ significantly'}: "
            f"F({table.df[0]:g}, {table.df[2]:g}) = {table.f[0]:.4g}, p = {table.p_value[0]:.3g}."
        ]
        if dropped:
            headline.append(f"{dropped} topics without a score of every system were left out.")
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
            topics=np.full(4, int(complete.sum())),
            note=("", "", "", ""),
            table={
                "sum_of_squares": table.sum_of_squares,
                "df": table.df,
                "mean_square": table.mean_square,
            },
            headline=tuple(headline),
            settings=settings,
        )

    def _letters(self, pairs: _Pairs, p_adjusted: FloatArray) -> dict[str, str]:
        n = len(self.matrix.systems)
        significant = np.zeros((n, n), dtype=bool)
        first, second = np.triu_indices(n, 1)
        significant[first, second] = p_adjusted <= 1 - self.confidence
        letters = compact_letters(self.matrix.means(), significant | significant.T)
        return dict(zip(self.matrix.systems, letters, strict=True))

    def _result(
        self,
        pairs: _Pairs,
        outcome: Outcome,
        p_adjusted: FloatArray,
        mean: FloatArray,
        low: FloatArray,
        high: FloatArray,
        sizes: EffectSizes,
        n: npt.NDArray[np.int64],
        form: str,
        alpha: float,
        letters: dict[str, str],
        settings: dict[str, Any],
    ) -> TestResult:
        return TestResult(
            system=pairs.system,
            other=pairs.other,
            test=self.test,
            form=form,
            alpha=alpha,
            statistic=outcome.statistic,
            p_value=outcome.p_value,
            p_adjusted=p_adjusted,
            effect_size=sizes.cohen_d,
            mean_difference=mean,
            low=low,
            high=high,
            effect_low=sizes.cohen_low,
            effect_high=sizes.cohen_high,
            hedges_g=sizes.hedges_g,
            glass_delta=sizes.glass_delta,
            glass_low=sizes.glass_low,
            glass_high=sizes.glass_high,
            topics=n,
            note=_notes(outcome, n, mean, sizes.cohen_d),
            letters=letters,
            headline=_headline(pairs, p_adjusted, mean, self, form, letters, settings),
            settings={**settings, **({"letters": letters} if letters else {})},
        )


def _notes(
    outcome: Outcome, n: npt.NDArray[np.int64], mean: FloatArray, effect: FloatArray
) -> tuple[str, ...]:
    """The test's own notes; a number that is missing is never missing without one."""
    out = []
    for note, count, change, size in zip(outcome.note, n, mean, effect, strict=True):
        if count == 0:
            why = "no topic has a score of both systems"
        elif count == 1:
            why = "" if "two topics" in note else "one topic: no effect size, and no interval"
        elif np.isnan(size) and change != 0:
            why = "the difference is the same on every topic"
        else:
            why = ""
        out.append(note if why in note else "; ".join(filter(None, (note, why))))
    return tuple(out)


def _names(n: int) -> tuple[str, ...]:
    return tuple(str(j) for j in range(n))


def _with_headline(result: TestResult, sentence: str) -> TestResult:
    from dataclasses import replace

    return replace(result, headline=(*result.headline, sentence))


def _against(result: TestResult, champion: str | Iterable[str], matrix: ScoreMatrix) -> TestResult:
    """The pairs with a champion, as challenger minus champion; adjusted for all pairs still."""
    from dataclasses import replace

    wanted = chosen_names(champion, matrix.systems, "a champion")
    for name in wanted:
        matrix.index(name)
    rows, flip = [], []
    for k, (a, b) in enumerate(zip(result.system, result.other, strict=True)):
        if (a in wanted) != (b in wanted):
            rows.append(k)
            flip.append(a in wanted)
    sign = np.where(flip, -1.0, 1.0)
    turned = np.array(flip, dtype=bool)

    def ends(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        a, b = low[rows], high[rows]
        return np.where(turned, -b, a), np.where(turned, -a, b)

    low, high = ends(result.low, result.high)
    effect_low, effect_high = ends(result.effect_low, result.effect_high)
    base = np.array([matrix.row(n) for n in wanted])
    system = tuple(
        result.other[k] if f else result.system[k] for k, f in zip(rows, flip, strict=True)
    )
    other = tuple(
        result.system[k] if f else result.other[k] for k, f in zip(rows, flip, strict=True)
    )
    sizes = effect_sizes(
        np.array([matrix.row(a) - matrix.row(b) for a, b in zip(system, other, strict=True)]),
        np.array([base[wanted.index(b)] for b in other]),
        confidence=float(result.settings["confidence"]),
    )
    return replace(
        result,
        system=system,
        other=other,
        statistic=result.statistic[rows],
        p_value=result.p_value[rows],
        p_adjusted=result.p_adjusted[rows],
        effect_size=sign * result.effect_size[rows],
        mean_difference=sign * result.mean_difference[rows],
        low=low,
        high=high,
        effect_low=effect_low,
        effect_high=effect_high,
        hedges_g=sign * result.hedges_g[rows],
        glass_delta=sizes.glass_delta,
        glass_low=sizes.glass_low,
        glass_high=sizes.glass_high,
        topics=result.topics[rows],
        note=tuple(result.note[k] for k in rows),
    )


def _headline(
    pairs: _Pairs,
    p_adjusted: FloatArray,
    mean: FloatArray,
    run: _Run,
    form: str,
    letters: dict[str, str],
    settings: dict[str, Any],
) -> tuple[str, ...]:
    """How many pairs differ, and which."""
    level = 1 - run.confidence
    significant = p_adjusted <= level
    how = settings["correction"]
    what = {
        "none": "uncorrected",
        "joint": f"for all {len(pairs.system)} comparisons together",
    }.get(how, f"{how} over {len(pairs.system)} comparisons")
    out = [
        f"{int(significant.sum())} of {len(pairs.system)} differences are significant at "
        f"{100 * level:.4g} % ({run.test} test, {what})."
    ]
    if settings["champion"] is not None:
        worse_sign = 1.0 if form == "minus" else -1.0
        for word, sign in (("worse", worse_sign), ("better", -worse_sign)):
            names = [
                s
                for s, hit, m in zip(pairs.system, significant, mean, strict=True)
                if hit and np.sign(m) == sign
            ]
            if names:
                out.append(f"Significantly {word} than the champion: {_some(names)}.")
    elif letters and any(letters.values()) and len(letters) <= _LETTERS_SHOWN:
        shown = ", ".join(f"{name} {text}" for name, text in letters.items())
        out.append(f"Systems that share a letter do not differ significantly: {shown}.")
    return tuple(out)


def _some(names: Sequence[str], limit: int = 8) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
