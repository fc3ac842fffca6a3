"""The quantities that a gate can ask for: one challenger, one champion, one set of topics."""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.errors import UnreliableWarning
from surefoot.inference.bootstrap_test import bootstrap_test
from surefoot.inference.corrections import adjust
from surefoot.inference.intervals import DEFAULT_METHOD, METHODS, bootstrap_intervals
from surefoot.inference.randomization import randomization_test
from surefoot.inference.sign_test import sign_test
from surefoot.inference.wilcoxon import wilcoxon
from surefoot.overlays.differences import Differences, differences
from surefoot.overlays.geo_risk import geo_risk
from surefoot.overlays.t_risk import p_value, t_risk
from surefoot.overlays.u_risk import f_reward, f_risk, u_risk
from surefoot.overlays.value import Linear
from surefoot.overlays.z_risk import Deviations, deviations, z_risk
from surefoot.workflows.comparison import Comparison
from surefoot.workflows.expressions import Quantity
from surefoot.workflows.judgments import Contest
from surefoot.workflows.unjudged import Unjudged

FloatArray = npt.NDArray[np.float64]

DEFAULT_ALPHA = 1.0


@dataclass(slots=True)
class Scope:
    """One set of topics: all of them or a slice."""

    name: str
    part: Comparison
    threads: int
    unjudged: Unjudged | None = None
    _deviations: Deviations | None = None

    def population(self) -> Deviations:
        """Deviations from what the population expects, computed when first asked for."""
        if self._deviations is None:
            part = self.part
            self._deviations = deviations(
                part.matrix.values,
                None if part.population is None else part.population.values,
                member=part.members,
                threads=self.threads,
            )
        return self._deviations


@dataclass(slots=True)
class Case:
    """One challenger on one scope, with what it takes to adjust for all the slices."""

    scope: Scope
    row: int
    seed: int
    threads: int
    siblings: tuple["Case", ...] = ()  # the same challenger on every slice, itself among them
    _sums: dict[float, Differences] = field(default_factory=dict)
    _known: dict[Quantity, float] = field(default_factory=dict)

    @property
    def delta(self) -> FloatArray:
        """Differences to the champion, NaN where a score is missing."""
        part = self.scope.part
        out: FloatArray = part.matrix.values[self.row] - part.champions[0].scores
        return out

    def sums(self, threshold: float = 0.2) -> Differences:
        """Sums of the differences, computed when first asked for."""
        if threshold not in self._sums:
            part = self.scope.part
            self._sums[threshold] = differences(
                part.matrix.values[self.row],
                part.champions[0].scores,
                loss_threshold=threshold,
                threads=1,
            )
        return self._sums[threshold]

    def value(self, wanted: Quantity) -> float:
        """The number of a quantity, computed once."""
        if wanted not in self._known:
            entry = QUANTITIES[wanted.name]
            options = dict(wanted.options)
            sign = 1.0
            if "r" in options:
                # the thesis' minus form: r = 1 + alpha, sign reversed
                options["alpha"] = options.pop("r") - 1
                sign = -1.0 if entry.signed else 1.0
            self._known[wanted] = sign * float(entry.compute(self, wanted.words, options))
        return self._known[wanted]


Compute = Callable[[Case, tuple[str, ...], Mapping[str, float]], float]


@dataclass(frozen=True, slots=True)
class Entry:
    """How to compute a quantity, and which arguments it takes."""

    explanation: str
    compute: Compute
    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    share: bool = False
    signed: bool = False


def check(wanted: Quantity) -> None:
    """Raise ValueError where a quantity's arguments are wrong."""
    entry = QUANTITIES[wanted.name]
    for word in wanted.words:
        if word not in entry.words:
            known = f"; it may be {', '.join(entry.words)}" if entry.words else ""
            raise ValueError(f"{wanted.name} does not take {word!r}{known}")
    if len(wanted.words) > 1:
        raise ValueError(f"{wanted.name} takes one method")
    options = dict(wanted.options)
    for name, value in options.items():
        if name not in entry.options:
            takes = f"it takes {', '.join(entry.options)}" if entry.options else "it takes none"
            raise ValueError(f"{wanted.name} has no argument {name!r}; {takes}")
        low, high = _DOMAINS[name]
        if not low <= value <= high or (name == "confidence" and value in (0.0, 1.0)):
            raise ValueError(f"{name} must lie between {low:g} and {high:g}, but is {value:g}")
    if "alpha" in options and "r" in options:
        raise ValueError("give alpha or r, not both (r = 1 + alpha)")


_DOMAINS = {
    "alpha": (0.0, 1e6),
    "r": (1.0, 1e6),
    "confidence": (0.0, 1.0),
    "share": (0.0, 1e6),
    "q": (0.0, 1.0),
}


def _alpha(options: Mapping[str, float]) -> float:
    return options.get("alpha", DEFAULT_ALPHA)


def _of_count(get: Callable[[Differences], FloatArray]) -> Compute:
    return lambda case, words, options: float(get(case.sums())[0])


def _of_share(get: Callable[[Differences], FloatArray]) -> Compute:
    def compute(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
        d = case.sums()
        return float(get(d)[0] / d.count[0]) if d.count[0] else float("nan")

    return compute


def _losses_over(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
    d = case.sums(options.get("share", 0.2))
    return float(d.loss_over[0] / d.count[0]) if d.count[0] else float("nan")


def _u_risk(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
    return float(u_risk(case.sums(), _alpha(options))[0])


def _raw_t(case: Case, alpha: float) -> float:
    return float(t_risk(case.sums(), alpha)[0])


TESTS = ("t", "wilcoxon", "sign", "bootstrap", "randomization")


def _raw_p(case: Case, alpha: float, test: str) -> float:
    if test == "t":
        return float(p_value(np.array(_raw_t(case, alpha)), case.sums().count[0] - 1))
    delta = case.delta
    x = Linear(alpha)(delta[~np.isnan(delta)])
    if len(x) == 0:
        return float("nan")
    if test == "wilcoxon":
        found = wilcoxon(x, threads=case.threads)
    elif test == "sign":
        found = sign_test(x)
    else:
        run = bootstrap_test if test == "bootstrap" else randomization_test
        found = run(x, seed=case.seed, threads=case.threads)
    return float(found.p_value[0])


def _p_value(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
    alpha, test = _alpha(options), (words or ("t",))[0]
    if not case.siblings:
        return _raw_p(case, alpha, test)
    every = adjust([_raw_p(other, alpha, test) for other in case.siblings], "holm")
    return float(every[[other is case for other in case.siblings].index(True)])


def _t_risk(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
    alpha = _alpha(options)
    t = _raw_t(case, alpha)
    if not case.siblings or not math.isfinite(t):
        return t
    from scipy.special import stdtrit

    # the t whose p-value is the one adjusted over the slices
    p = min(_p_value(case, (), options), 1.0)
    return float(np.copysign(stdtrit(case.sums().count[0] - 1, 1 - p / 2), t)) if p > 0 else t


def _end(which: str) -> Compute:
    def compute(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
        delta = case.delta
        x = Linear(_alpha(options))(delta[~np.isnan(delta)])
        if len(x) < 2:
            return float("nan")
        with warnings.catch_warnings():
            # an interval that cannot be had is NaN here, and the gate says so
            warnings.simplefilter("ignore", UnreliableWarning)
            found = bootstrap_intervals(
                x[None, :],
                methods=words or (DEFAULT_METHOD,),
                confidence=options.get("confidence", 0.95),
                comparisons=max(len(case.siblings), 1),
                seed=case.seed,
                threads=case.threads,
            )
        return float((found.low if which == "low" else found.high)[0, 0])

    return compute


def _population(overlay: Callable[[Deviations, float], FloatArray], champion: bool) -> Compute:
    def compute(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
        part = case.scope.part
        row = case.row
        if champion:
            base = part.champions[0]
            if not base.system:
                return float("nan")
            row = part.matrix.index(base.name)
        return float(overlay(case.scope.population(), _alpha(options))[row])

    return compute


def _delta(summary: Callable[[FloatArray], float]) -> Compute:
    def compute(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
        delta = case.delta
        known = delta[~np.isnan(delta)]
        return summary(known) if len(known) else float("nan")

    return compute


def _quantile(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
    delta = case.delta
    known = delta[~np.isnan(delta)]
    return float(np.quantile(known, options.get("q", 0.05))) if len(known) else float("nan")


def _mean_score(champion: bool) -> Compute:
    def compute(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
        part = case.scope.part
        shared = ~np.isnan(case.delta)
        scores = part.champions[0].scores if champion else part.matrix.values[case.row]
        return float(scores[shared].mean()) if shared.any() else float("nan")

    return compute


def _missing(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
    champion = ~np.isnan(case.scope.part.champions[0].scores)
    lacking = champion & np.isnan(case.delta)
    return float(lacking.sum() / champion.sum()) if champion.any() else float("nan")


def _range(get: str) -> Compute:
    """A number of the range over all completions of the judgments; the plain one without bounds."""

    def compute(case: Case, words: tuple[str, ...], options: Mapping[str, float]) -> float:
        part = case.scope.part
        base = part.champions[0]
        alpha = _alpha(options)
        d = case.sums()
        if not part.matrix.has_bounds or base.lower is None:
            if get.startswith("t_"):
                return _raw_t(case, alpha)
            if get.startswith("u_"):
                return float(u_risk(d, alpha)[0])
            share = {"certain_losses": d.losses, "certain_wins": d.wins}.get(get, 0 * d.count)
            return float(share[0] / d.count[0]) if d.count[0] else float("nan")
        known = Contest(part, base, case.row, alpha, unjudged=case.scope.unjudged).ranges()
        value = float(getattr(known, get))
        return value if get[:2] in ("t_", "u_") else value / max(float(d.count[0]), 1.0)

    return compute


_RISK = ("alpha", "r")
QUANTITIES: dict[str, Entry] = {
    "mean_difference": Entry(
        "mean score of the challenger minus the champion's (UGain)",
        lambda case, words, options: float(u_risk(case.sums(), 0.0)[0]),
    ),
    "u_gain": Entry(
        "the same",
        lambda case, words, options: float(u_risk(case.sums(), 0.0)[0]),
    ),
    "u_risk": Entry(
        "mean difference with losses counted 1 + alpha times", _u_risk, _RISK, signed=True
    ),
    "t_risk": Entry("URisk over its standard error", _t_risk, _RISK, signed=True),
    "t_gain": Entry(
        "mean difference over its standard error",
        lambda case, words, options: _t_risk(case, words, {"alpha": 0.0}),
    ),
    "p_value": Entry(
        "two-sided p that u_risk is 0, by the exact t distribution unless a test is named",
        _p_value,
        _RISK,
        TESTS,
    ),
    "ci_low": Entry(
        "lower end of the confidence interval of u_risk",
        _end("low"),
        ("alpha", "confidence"),
        METHODS,
    ),
    "ci_high": Entry(
        "upper end of the confidence interval of u_risk",
        _end("high"),
        ("alpha", "confidence"),
        METHODS,
    ),
    "f_risk": Entry(
        "mean loss, counted positive", lambda case, words, options: float(f_risk(case.sums())[0])
    ),
    "f_reward": Entry("mean gain", lambda case, words, options: float(f_reward(case.sums())[0])),
    "z_risk": Entry("ZRisk in the population", _population(z_risk, False), _RISK, signed=True),
    "geo_risk": Entry(
        "GeoRisk in the population", _population(geo_risk, False), _RISK, signed=True
    ),
    "champion_geo_risk": Entry(
        "the champion's GeoRisk", _population(geo_risk, True), _RISK, signed=True
    ),
    "wins": Entry("share of queries that improve", _of_share(lambda d: d.wins), share=True),
    "losses": Entry("share of queries that regress", _of_share(lambda d: d.losses), share=True),
    "ties": Entry("share of queries that stay", _of_share(lambda d: d.ties), share=True),
    "losses_over_20": Entry(
        "share of queries that lose more than 20 % of the champion's score",
        _of_share(lambda d: d.loss_over),
        share=True,
    ),
    "losses_over": Entry(
        "the same for another share of the champion's score: losses_over(share=0.5)",
        _losses_over,
        ("share",),
        share=True,
    ),
    "count_wins": Entry("number of queries that improve", _of_count(lambda d: d.wins)),
    "count_losses": Entry("number of queries that regress", _of_count(lambda d: d.losses)),
    "count_ties": Entry("number of queries that stay", _of_count(lambda d: d.ties)),
    "count_losses_over_20": Entry(
        "number of queries that lose more than 20 %", _of_count(lambda d: d.loss_over)
    ),
    "topics": Entry("number of queries that both have", _of_count(lambda d: d.count)),
    "missing": Entry(
        "share of the champion's queries that the challenger lacks", _missing, share=True
    ),
    "worst_delta": Entry("the largest loss on one query", _delta(lambda d: float(d.min()))),
    "median_delta": Entry("median difference", _delta(lambda d: float(np.median(d)))),
    "delta_quantile": Entry(
        "a quantile of the differences: delta_quantile(q=0.05)", _quantile, ("q",)
    ),
    "score": Entry("mean score of the challenger", _mean_score(False)),
    "champion_score": Entry("mean score of the champion", _mean_score(True)),
    "u_risk_low": Entry(
        "least u_risk over all completions of the judgments", _range("u_low"), ("alpha",)
    ),
    "u_risk_high": Entry("greatest u_risk over all completions", _range("u_high"), ("alpha",)),
    "t_risk_low": Entry("least t_risk over all completions", _range("t_low"), ("alpha",)),
    "t_risk_high": Entry("greatest t_risk over all completions", _range("t_high"), ("alpha",)),
    "certain_losses": Entry(
        "share of queries that regress whatever the unjudged documents are",
        _range("certain_losses"),
        share=True,
    ),
    "certain_wins": Entry(
        "share of queries that improve whatever the unjudged documents are",
        _range("certain_wins"),
        share=True,
    ),
    "undecided": Entry(
        "share of queries on which the unjudged documents decide", _range("undecided"), share=True
    ),
}
