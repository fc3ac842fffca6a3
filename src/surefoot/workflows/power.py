"""How many topics a comparison needs, or which power it reaches."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.inference.population import Population, fit_population
from surefoot.inference.power_formulas import (
    nagata_power,
    nagata_topics,
    smallest,
    t_power,
    t_topics,
    webber_power,
    webber_topics,
    within_system_sd,
)
from surefoot.inference.power_simulation import REJECTS, simulated_power
from surefoot.io.scores import read_scores
from surefoot.overlays.value import Linear, ValueFunction
from surefoot.results.power import PowerResult
from surefoot.workflows.comparison import (
    check_draws,
    describe,
    loss_aversion,
    prepare,
    value_function,
)
from surefoot.workflows.power_joint import JOINT, OVERLAYS, JointPower, joint_power

FloatArray = npt.NDArray[np.float64]
Progress = Callable[[float, float], None]

# names that users know the tests by -> what is simulated
ALIASES = {"t_risk": "t", "trisk": "t", "u_risk": "t", "t_gain": "t", "u_gain": "t"}
_GAINS = ("t_gain", "u_gain")


@dataclass(slots=True)
class _Rows:
    """The table under construction."""

    level: float
    target: float
    system: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    test: list[str] = field(default_factory=list)
    method: list[str] = field(default_factory=list)
    effect: list[float] = field(default_factory=list)
    topics: list[int | None] = field(default_factory=list)
    power: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    note: list[str] = field(default_factory=list)

    def add(
        self,
        pair: tuple[str, str],
        test: str,
        method: str,
        effect: float,
        topics: int | None,
        power: float,
        error: float = 0.0,
        note: str = "",
    ) -> None:
        """One row."""
        self.system.append(pair[0])
        self.other.append(pair[1])
        self.test.append(test)
        self.method.append(method)
        self.effect.append(effect)
        self.topics.append(topics)
        self.power.append(power)
        self.error.append(error)
        self.note.append(note)


def power(
    scores: Any = None,
    *,
    champion: str | None = None,
    system: str | Iterable[str] | None = None,
    test: str = "t",
    alpha: float | None = None,
    r: float | None = None,
    value: str | ValueFunction = "linear",
    effect: float | None = None,
    delta: float | None = None,
    sd: float | None = None,
    topics: int | float | Sequence[float] | None = None,
    target: float = 0.8,
    level: float = 0.05,
    comparisons: int = 1,
    margins: str = "smoothed",
    copula: str = "empirical",
    simulations: int = 2000,
    resamples: int = 2000,
    most_topics: int = 20_000,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> PowerResult:
    """Say how many topics are needed to find a difference, or how likely some number finds it.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix, optional
        With it, new topics for the same systems are simulated from these scores: margins fitted to
        each system and tied together by a copula.
    champion, system : str
        Whose difference is to be found; all challengers when `system` is left out.
    test : str
        ``t``, ``wilcoxon``, ``sign``, ``bootstrap``, ``randomization``, or an interval that must
        leave zero out: ``basic``, ``studentized``, ``percentile``, ``bca``. ``t_risk`` and
        ``u_risk`` are ``t`` on risk-adjusted differences (alpha 1 unless given), ``t_gain`` and
        ``u_gain`` on plain ones. Of all systems of the table at once:
        ``anova``, ``tukey``, ``maxt`` (against the champion). ``z_risk`` and ``geo_risk`` (alpha 1
        unless given) carry no significance: the power is the chance that new topics put the two
        systems in the order that these scores put them in.
    alpha, r : float, optional
        Losses count 1 + alpha = r times; default 0, plain differences.
    value : str or callable, optional
        What a difference is worth instead: ``smooth``, ``refit`` or a function, as in `risk`.
    effect : float, optional
        Without scores: the mean of the differences over their standard deviation; or
    delta, sd : float, optional
        those two. With scores, `delta` replaces the observed mean difference in the formulas.
    topics : int or list, optional
        Answer with the power at these numbers of topics instead.
    target : float
        The power wanted.
    level : float
        Significance level, shared by `comparisons` (Bonferroni).
    margins : str
        ``smoothed``: the observed scores, spread half way to their neighbours; or ``beta``, with
        atoms at 0 and 1.
    copula : str
        ``empirical``: systems keep the ranks of an observed topic; or ``gaussian``.
    simulations, resamples : int
        Simulated data sets for each number of topics, and resamples in each.

    Returns
    -------
    PowerResult

    Examples
    --------
    >>> import surefoot as sf
    >>> dict(zip((p := sf.power(effect=0.5)).method, p.topics))
    {'webber': 32, 'nagata': 34, 'noncentral_t': 34}
    """
    if comparisons < 1:
        raise InputError(f"comparisons must be at least 1, but got {comparisons}")
    check_draws(seed, simulations=simulations, resamples=resamples)
    if not 0 < level < 1 or not 0 < target < 1:
        raise InputError("the level and the target power must lie between 0 and 1")
    kind = ALIASES.get(test, test)
    if kind not in (*REJECTS, *JOINT):
        known = ", ".join((*REJECTS, *ALIASES, *JOINT))
        raise InputError(f"unknown test {test!r}. Hint: one of {known}")
    if test in (*ALIASES, *OVERLAYS) and alpha is None and r is None:
        alpha = 0.0 if test in _GAINS else 1.0
    alphas, form = loss_aversion(0.0 if alpha is None and r is None else alpha, r)
    if len(alphas) != 1:
        raise InputError("power takes one value of alpha or r")
    if test in _GAINS and alphas[0] != 0:
        raise InputError(f"{test} counts losses as they are. Hint: u_risk or t_risk take alpha")
    if kind in ("anova", "tukey") and (alphas[0] != 0 or value != "linear" or form == "minus"):
        raise InputError(
            f"the {kind} test compares plain scores. Hint: maxt tests risk-adjusted differences of "
            "all challengers"
        )
    if kind in JOINT and delta is not None:
        raise InputError(f"the {kind} test takes its differences from SCORES, not from delta")
    at = _numbers(topics)
    rows = _Rows(level / comparisons, target)
    settings: dict[str, Any] = {
        "test": test,
        "form": form,
        "alpha": alphas[0],
        "level": level,
        "comparisons": comparisons,
        "target": target,
        "seed": seed,
    }
    if scores is None:
        if kind != "t":
            raise InputError(
                f"there is no formula for the {test} test. Hint: give SCORES to simulate from"
            )
        _formulas(rows, ("", ""), _effect(effect, delta, sd), at)
    else:
        if effect is not None or sd is not None:
            raise InputError("effect and sd are for formulas; SCORES have their own")
        if champion is None:
            raise InputError("name the champion that the systems are compared with")
        settings |= {
            "champion": champion,
            "margins": margins,
            "copula": copula,
            "simulations": simulations,
            "resamples": resamples,
        }
        matrix = read_scores(scores)
        settings["sd_within_systems"] = within_system_sd(matrix.values)
        settings["measure"] = matrix.measure
        compared = prepare(matrix, champion, systems=system)
        if len(compared.champions) != 1 or not compared.champions[0].system:
            raise InputError("the power needs one champion, a system of the table")
        name, function = value_function(value, compared.matrix, compared.champions)
        settings |= describe(name, function)
        if kind in JOINT:
            together = joint_power(
                compared, champion, kind, alpha=alphas[0], function=function, level=rows.level,
                margins=margins, copula=copula, simulations=simulations, resamples=resamples,
                seed=seed, threads=threads,
            )  # fmt: skip
            _together(rows, together, kind, at, most_topics, progress)
        else:
            work = len(compared.challengers)
            worth = Linear(alphas[0]) if function is None else function
            for k, i in enumerate(compared.challengers):
                _simulate(
                    rows, compared.matrix, champion, int(i), worth, kind, test, at, delta,
                    margins, copula, simulations, resamples, most_topics, seed, threads,
                )  # fmt: skip
                if progress is not None:
                    progress(k + 1, work)
        if function is not None:
            alphas = (float("nan"),)
            settings["alpha"] = None
    return PowerResult(
        system=tuple(rows.system),
        other=tuple(rows.other),
        test=tuple(rows.test),
        method=tuple(rows.method),
        form=form,
        alpha=alphas[0],
        effect=np.array(rows.effect),
        topics=tuple(rows.topics),
        power=np.array(rows.power),
        power_error=np.array(rows.error),
        level=rows.level,
        target=target,
        note=tuple(rows.note),
        headline=_headline(rows, bool(at)),
        settings=settings,
    )


def _numbers(topics: int | float | Sequence[float] | None) -> tuple[int, ...]:
    if topics is None:
        return ()
    many = (topics,) if isinstance(topics, (int, float)) else tuple(topics)
    for n in many:
        if n != int(n) or n < 2:
            raise InputError(
                f"a number of topics must be an integer not less than 2, but got {n:g}"
            )
    return tuple(int(n) for n in many)


def _effect(effect: float | None, delta: float | None, sd: float | None) -> float:
    """Thesis Eq. 2.27."""
    if effect is not None:
        if delta is not None or sd is not None:
            raise InputError("give the effect, or delta and sd, not both")
        return effect
    if delta is None or sd is None:
        raise InputError("give SCORES with a champion, or an effect, or both delta and sd")
    if not sd > 0:
        raise InputError(f"sd must be above zero, but got {sd:g}")
    return delta / sd


def _formulas(rows: _Rows, pair: tuple[str, str], effect: float, at: tuple[int, ...]) -> None:
    """Three formulas for the t-test."""
    kinds = (
        ("webber", webber_topics, webber_power),
        ("nagata", nagata_topics, nagata_power),
        ("noncentral_t", t_topics, t_power),
    )
    for name, needed, reached in kinds:
        numbers = at or (max(needed(effect, power=rows.target, level=rows.level), 2),)
        for n in numbers:
            rows.add(pair, "t", name, effect, n, reached(n, effect, level=rows.level))


def _simulate(
    rows: _Rows,
    matrix: ScoreMatrix,
    champion: str,
    challenger: int,
    value: ValueFunction,
    kind: str,
    test: str,
    at: tuple[int, ...],
    delta: float | None,
    margins: str,
    copula: str,
    simulations: int,
    resamples: int,
    most_topics: int,
    seed: int,
    threads: int,
) -> None:
    """Formulas with the observed effect, for the t-test, and the simulation for any test."""
    pair = (matrix.systems[challenger], champion)
    both = matrix.values[[challenger, matrix.index(champion)]]
    both = both[:, ~np.isnan(both).any(axis=0)]
    population = fit_population(both, margins=margins, copula=copula)
    x = value(both[0] - both[1])
    spread = float(x.std(ddof=1))
    if spread <= 1e-12 * float(np.abs(both).max()):
        rows.add(pair, test, "simulation", np.nan, None, np.nan, 0.0,
                 "the difference is the same on every topic")  # fmt: skip
        return
    mean = float(x.mean()) if delta is None else delta
    effect = mean / spread
    # the copula keeps each system's mean but not that of losses and wins apart: move the
    # differences to the mean that is to be found, ties staying ties
    sample = _differences(population, value, 1000, 200, np.random.default_rng([seed, 0]))
    different = float((sample != 0).mean())
    shift = (mean - float(sample.mean())) / max(different, 1e-9)
    simulated_effect = mean / float((sample + np.where(sample != 0, shift, 0.0)).std())

    def draw(n: int, sets: int, rng: np.random.Generator) -> FloatArray:
        drawn = _differences(population, value, n, sets, rng)
        moved: FloatArray = drawn + np.where(drawn != 0, shift, 0.0)
        return moved

    def reached(n: int) -> tuple[float, float]:
        return simulated_power(
            draw,
            n,
            test=kind,
            level=rows.level,
            n_sets=simulations,
            n_resamples=resamples,
            seed=seed,
            threads=threads,
        )

    if at:
        if kind == "t":
            _formulas(rows, pair, effect, at)
        for n in at:
            rows.add(pair, test, "simulation", simulated_effect, n, *reached(n))
        return
    too_many = _TOO_MANY.format(most_topics)
    expected = most_topics + 1
    if effect != 0:
        expected = (
            t_topics(effect, power=rows.target, level=rows.level)
            if (abs(effect) > 1e-3)
            else most_topics + 1
        )
    if kind == "t" and expected <= most_topics:
        _formulas(rows, pair, effect, ())
    if expected > 2 * most_topics:
        rows.add(pair, test, "simulation", simulated_effect, None, np.nan, 0.0, too_many)
        return
    known: dict[int, tuple[float, float]] = {}

    def enough(n: int) -> bool:
        if n > most_topics:
            return True
        known[n] = reached(n)
        return known[n][0] >= rows.target

    n = smallest(enough, start=max(2, expected // 2))
    if n > most_topics:
        rows.add(pair, test, "simulation", simulated_effect, None, np.nan, 0.0, too_many)
    else:
        rows.add(pair, test, "simulation", simulated_effect, n, *known[n])


_TOO_MANY = "more than {:,} topics: the difference is too small to find"


def _together(
    rows: _Rows,
    power: JointPower,
    kind: str,
    at: tuple[int, ...],
    most_topics: int,
    progress: Progress | None,
) -> None:
    """Rows of a test or an overlay of all systems, each number of topics simulated once."""
    for n in at:
        for pair, effect, share, error in zip(power.pairs, power.effect, *power.at(n), strict=True):
            rows.add(pair, kind, "simulation", float(effect), n, float(share), float(error))
    if at:
        return
    for k, (pair, effect) in enumerate(zip(power.pairs, power.effect, strict=True)):

        def enough(n: int, k: int = k) -> bool:
            return n > most_topics or bool(power.at(n)[0][k] >= rows.target)

        # effects this small would only be simulated to be given up
        hopeless = abs(effect) < (1e-9 if kind in OVERLAYS else 2 / np.sqrt(most_topics))
        n = most_topics + 1 if hopeless else smallest(enough, start=16)
        if n > most_topics:
            note = _TOO_MANY.format(most_topics)
            rows.add(pair, kind, "simulation", float(effect), None, np.nan, 0.0, note)
        else:
            share, error = power.at(n)
            rows.add(pair, kind, "simulation", float(effect), n, float(share[k]), float(error[k]))
        if progress is not None:
            progress(k + 1, len(power.pairs))


def _differences(
    population: Population, value: ValueFunction, n: int, sets: int, rng: np.random.Generator
) -> FloatArray:
    """(n_sets, n_topics) differences of two systems on new topics."""
    scores = population.draw(n, sets, rng)
    return value(scores[0] - scores[1])


def _headline(rows: _Rows, asked: bool) -> tuple[str, ...]:
    """The answer of the most faithful method for each pair."""
    best: dict[tuple[str, str, int | None], int] = {}
    rank = {"simulation": 3, "noncentral_t": 2, "nagata": 1, "webber": 0}
    for i, method in enumerate(rows.method):
        key = (rows.system[i], rows.other[i], rows.topics[i] if asked else None)
        if key not in best or rank[method] > rank[rows.method[best[key]]]:
            best[key] = i
    out = []
    for i in list(best.values())[:8]:
        who = f"{rows.system[i]} against {rows.other[i]}" if rows.other[i] else rows.system[i]
        who = who or "This effect"
        if rows.test[i] in OVERLAYS and rows.topics[i] is not None:
            out.append(
                f"{who}: {rows.topics[i]} topics put the two in the order of these scores with a "
                f"chance of {rows.power[i]:.2f} ({rows.test[i]})."
            )
        elif rows.topics[i] is None:
            out.append(f"{who}: {rows.note[i]}.")
        elif asked:
            out.append(
                f"{who}: {rows.topics[i]} topics find the difference with a chance of "
                f"{rows.power[i]:.2f} ({rows.test[i]} test)."
            )
        else:
            out.append(
                f"{who}: {rows.topics[i]} topics are needed for a power of {rows.target:g} "
                f"({rows.test[i]} test)."
            )
    if len(best) > 8:
        out.append(f"... and {len(best) - 8} more.")
    return tuple(out)
