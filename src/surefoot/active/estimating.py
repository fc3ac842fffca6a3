"""The estimate of a study, with an interval."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.active.answers import Answers, read_answers
from surefoot.active.estimators.bootstrap import bootstrap_interval
from surefoot.active.estimators.estimate import Estimate
from surefoot.active.estimators.priority import inclusion, priority_mean
from surefoot.active.estimators.regression import regression_mean
from surefoot.active.estimators.weighted import weighted_mean
from surefoot.active.group_sequential import LOOKS, last_look, look_levels, look_times
from surefoot.active.quantities import quantities
from surefoot.active.sequential import Reach, betting_interval, parse_rule, planned_stake
from surefoot.active.store.study import Study
from surefoot.errors import InputError
from surefoot.results.active_estimate import EstimateResult

FloatArray = npt.NDArray[np.float64]

METHODS = ("eq6", "regression", "difference")
DEFAULT_METHOD = "eq6"
INTERVALS = ("delta", "bootstrap", "group", "sequence")


def estimate(
    study: str | os.PathLike[str] | Study,
    *,
    method: str | None = None,
    interval: str | None = None,
    confidence: float | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> EstimateResult:
    """Estimate a study's quantities from the draws that are labelled.

    Parameters
    ----------
    study : path, URL or Study
        Only read.
    method : str, optional
        ``eq6``: the paper's weighted mean; ``regression``: the same with the model's predictions as
        a control variate; ``difference``: with the predictions taken as they are. By default what
        the plan says.
    interval : str, optional
        ``delta``; ``bootstrap``; ``group``: of the last of five planned looks, which cover
        together; ``sequence``: valid however often one looks, whatever the labels (a confidence
        sequence, wider for it). By default ``group`` for a study with a stopping rule, else
        ``delta``.
    confidence : float, optional
        By default the study's.
    """
    opened = study if isinstance(study, Study) else Study(study)
    settings = opened.settings
    chosen = method or settings.get("method", DEFAULT_METHOD)
    level = float(settings["confidence"] if confidence is None else confidence)
    kind = interval or ("group" if settings["stop"] else "delta")
    _check(chosen, kind, level, settings)
    if resamples < 1:
        raise InputError(f"resamples must be at least 1, got {resamples}")
    answers = read_answers(opened)
    look = 0
    if kind == "group":
        answers, look = _at_last_look(opened, answers)
    n = len(answers.draws)
    if n == 0:
        raise InputError(
            f"{opened.database.shown}: nothing to estimate from, no drawn query is labelled yet. "
            "Hint: surefoot active next, then active label"
        )
    census = len(answers.p) == int(settings["topics"])
    threshold = opened.threshold(n) if settings["design"] == "priority" else None
    predicted_mean = np.array(settings["predicted_mean"])
    rows = []
    listed = quantities(
        settings["measure"], tuple(settings["rankings"]), compare=bool(settings["compare"])
    )
    for quantity in listed:
        value, predicted = quantity.weights @ answers.value, quantity.weights @ answers.predicted
        if census:
            # every query is labelled: the mean is known (errata Active-6)
            exact = float(answers.p @ value)
            rows.append((exact, 0.0, exact, exact))
            continue
        sample = _Sample(
            answers,
            value,
            predicted,
            float(quantity.weights @ predicted_mean),
            threshold,
            chosen,
        )
        result = sample.estimate(np.arange(n)[None, :])
        point, error = float(result.value[0]), float(result.standard_error[0])
        if kind == "sequence":
            low, high = sample.sequence(settings, quantity.place, level)
            low, high = min(low, point), max(high, point)
        elif kind == "bootstrap" and n > 1:
            low, high = bootstrap_interval(
                lambda index, sample=sample: sample.estimate(index).value,  # type: ignore[misc]
                n,
                confidence=level,
                resamples=resamples,
                seed=seed,
            )
        elif kind == "group" and look == 0:
            low = high = float("nan")
        else:
            at = 1 - look_levels(level)[look - 1] if kind == "group" else level
            ends = result.interval(at)
            low, high = float(ends[0][0]), float(ends[1][0])
        rows.append((point, error, low, high))
    design = "priority " if settings["design"] == "priority" else ""
    label = "census" if census else f"{design}{chosen} {kind}"
    values, errors, lows, highs = (tuple(column) for column in zip(*rows, strict=True))
    result_settings = {
        **{k: v for k, v in settings.items() if k != "sequence"},
        "method": chosen,
        "interval": kind,
        "resamples": resamples if kind == "bootstrap" else None,
        "look": look if kind == "group" else None,
    }
    out = EstimateResult(
        settings=result_settings,
        quantity=tuple(q.name for q in listed),
        estimate=values,
        se=errors,
        low=lows,
        high=highs,
        confidence=level,
        draws=n,
        labelled=len(answers.p),
        cost=answers.cost,
        method=label,
    )
    return _with_headline(out, answers)


def _at_last_look(study: Study, answers: Answers) -> tuple[Answers, int]:
    """The draws of the last planned look, and its number."""
    planned = float(study.settings["expected_draws"])
    ended = not answers.waiting and bool(study.progress().ended)
    look, n = last_look(len(answers.draws), planned, ended=ended)
    return (answers.first(n) if look else answers), look


@dataclass(frozen=True, slots=True)
class _Sample:
    """One quantity of one study, ready to be estimated from any choice of its draws."""

    answers: Answers
    value: FloatArray
    predicted: FloatArray
    predicted_mean: float
    threshold: float | None  # None: drawn with replacement
    method: str

    def estimate(self, index: npt.NDArray[np.int64]) -> Estimate:
        """The estimate from each row of draw numbers."""
        row = self.answers.row[index]
        p, q, value, predicted = (
            a[row] for a in (self.answers.p, self.answers.q, self.value, self.predicted)
        )
        count = np.full(len(index), index.shape[1], dtype=np.float64)
        if self.threshold is not None:
            control = None if self.method == "eq6" else predicted
            chance = inclusion(q, np.full((1, 1), self.threshold))
            return priority_mean(
                p, chance, value, predicted=control, predicted_mean=self.predicted_mean
            )
        if self.method == "eq6":
            return weighted_mean(p / q, value, count)
        slope = 1.0 if self.method == "difference" else None
        return regression_mean(p / q, value, predicted, self.predicted_mean, count, slope=slope)

    def sequence(
        self, settings: Mapping[str, Any], place: int, confidence: float
    ) -> tuple[float, float]:
        """The confidence sequence of Eq. 6 at these draws."""
        kept = settings["sequence"]
        row = self.answers.row
        return betting_interval(
            (self.answers.p / self.answers.q)[row],
            self.value[row],
            Reach.from_dict(kept["reach"][place]),
            confidence=confidence,
            step=planned_stake(kept["sigma"][place], settings["expected_draws"], confidence),
        )


def check_method(method: str, design: str) -> None:
    """Refuse an estimator that does not exist, or not for the design."""
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if design == "priority" and method == "difference":
        raise InputError("a priority study knows the methods eq6 and regression")


def _check(method: str, interval: str, confidence: float, settings: Mapping[str, Any]) -> None:
    check_method(method, settings["design"])
    if interval not in INTERVALS:
        raise InputError(f"interval must be one of {', '.join(INTERVALS)}, got {interval!r}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, got {confidence:g}")
    priority = settings["design"] == "priority"
    if priority and interval != "delta":
        raise InputError(
            f"the interval {interval} needs independent draws, which a priority sample does not "
            "have. Hint: --interval delta"
        )
    if interval == "sequence" and method != "eq6":
        raise InputError("the interval sequence is of the method eq6. Hint: --method eq6")


def _look_words(look: int, planned: float) -> str:
    """Which of the planned looks the interval is of."""
    times = look_times(planned)
    if look == 0:
        return f"No interval before the first of {LOOKS} planned looks, after {times[0]} draws."
    if look == LOOKS:
        return f"The last of {LOOKS} planned looks."
    after = f"after {times[look]} draws" if look < len(times) else "at the end of the budget"
    return f"Look {look} of {LOOKS}; draws after it count from the next one on, {after}."


def _with_headline(result: EstimateResult, answers: Answers) -> EstimateResult:
    from dataclasses import replace

    name, low, high = result.quantity[0], result.low[0], result.high[0]
    settings = result.settings
    first = settings["rankings"][0]
    lines = []
    if settings["compare"]:
        other = settings["rankings"][1]
        if low > 0:
            lines.append(f"{first} is better than {other}: the interval lies above 0.")
        elif high < 0:
            lines.append(f"{first} is worse than {other}: the interval lies below 0.")
        else:
            lines.append(f"No verdict yet between {first} and {other}: the interval includes 0.")
    source = f"from {result.draws} draws of {result.labelled} labelled queries"
    if low == low:
        lines.append(
            f"{name} = {result.estimate[0]:.4f}, {result.confidence:.0%} confidence interval "
            f"{low:.4f} to {high:.4f}, {source}."
        )
    else:
        lines.append(f"{name} = {result.estimate[0]:.4f}, {source}.")
    if settings["interval"] == "group":
        lines.append(_look_words(int(settings["look"]), float(settings["expected_draws"])))
    if answers.waiting:
        lines.append(
            f"{answers.waiting} later draws wait behind a query without labels and are left out."
        )
    if settings["stop"] and settings["interval"] in ("group", "sequence"):
        met = parse_rule(settings["stop"]).met(low, high)
        lines.append(
            f"The stopping rule ({settings['stop']}) is met."
            if met
            else f"The stopping rule ({settings['stop']}) is not met yet."
        )
    return replace(result, headline=tuple(lines))
