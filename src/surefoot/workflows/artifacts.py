"""How verdicts move as artifact systems join the model, best or worst first."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.inference.bayes.artifact import ORDERS, STEPS, nested_tables
from surefoot.inference.bayes.brisk import system_risk
from surefoot.inference.bayes.predictive import predicted_risk, risk_replicates
from surefoot.io.scores import read_scores
from surefoot.results.artifacts import ArtifactStudy
from surefoot.workflows.comparison import chosen_names
from surefoot.workflows.posterior import (
    Priors,
    as_posterior,
    champion_row,
    check_count,
    check_interval,
    joint_provenance,
    loss_weights,
)
from surefoot.workflows.ppd_risk import listed
from surefoot.workflows.verdicts import plural

FAMILIES = ("gaussian", "zoib", "student", "skew_normal")


def artifacts(
    scores: Any,
    *,
    champion: str,
    challengers: str | Iterable[str],
    r: float | Sequence[float] = 1.0,
    family: str | None = None,
    orders: str | Sequence[str] = ORDERS,
    steps: int | Sequence[int] = STEPS,
    interval: float = 0.95,
    draws: int | None = None,
    priors: Priors = (),
    one_above: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> ArtifactStudy:
    """Refit with 1, 5, 10, 20 and 40 artifacts (thesis, Sect. 4.2.5) and compare verdicts.

    Parameters
    ----------
    challengers : sequence of str
        Systems to report; every other system but the champion is an artifact.
    r : float or sequence of float
        How many times a loss counts as much as a gain, in the predicted risk.
    family : str, optional
        ``gaussian`` (the default), ``zoib``, ``student`` or ``skew_normal``.
    steps : sequence of int
        Numbers of artifacts; those that exceed what the table has are left out, and named.
    interval : float
        Probability of the intervals of effects and of the predictive intervals.
    draws, priors, one_above
        As in `fit`, for every model.

    Notes
    -----
    ``overlaps_champion`` compares the intervals of two system effects, as `brisk` does;
    ``significant`` says whether the predictive interval of the risk excludes 0, as `ppd_risk`
    does. The second is about a difference and one prediction of all scores, so the two may
    disagree.
    """
    check_interval(interval)
    levels = loss_weights(r)
    counts = [
        check_count("a step", m, 0) for m in (steps if isinstance(steps, Iterable) else [steps])
    ]
    orders = [orders] if isinstance(orders, str) else list(orders)
    table = read_scores(scores)
    champion_row(table, champion)
    chosen = chosen_names(challengers, table.systems, "a challenger")
    if champion in chosen:
        raise InputError("name at least one challenger that is not the champion")
    unknown = [order for order in orders if order not in ORDERS]
    if unknown:
        raise InputError(f"unknown order {unknown[0]!r}. Hint: one of {', '.join(ORDERS)}")
    family = "gaussian" if family is None else family
    if family not in FAMILIES:
        raise InputError(f"unknown family {family!r} of scores. Hint: one of {', '.join(FAMILIES)}")
    named = [champion, *chosen]
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "order", "artifacts", "systems", "r", "mean", "low", "high", "overlaps_champion",
            "risk_median", "risk_low", "risk_high", "significant",
        )
    }  # fmt: skip
    posteriors, labels = [], []
    for order in orders:
        for count, part in nested_tables(table, named, order=order, steps=counts):
            posterior = as_posterior(
                part, family=family, default=family, seed=seed, threads=threads, draws=draws,
                priors=priors, one_above=one_above, show=progress,
            )  # fmt: skip
            posteriors.append(posterior)
            labels.append({"order": order, "artifacts": count})
            effect = system_risk(posterior.draws["system"], 0, interval=interval)
            sums = risk_replicates(posterior, 0, range(1, len(named)), seed=seed, threads=threads)
            risks = [predicted_risk(sums, level, interval=interval) for level in levels]
            for i, name in enumerate(named):
                for level, risk in zip(levels, risks, strict=True):
                    predicted = (np.nan, np.nan, np.nan, False)
                    if i > 0:
                        predicted = (
                            risk.median[i - 1], risk.low[i - 1], risk.high[i - 1],
                            bool(risk.significant[i - 1]),
                        )  # fmt: skip
                    row = (
                        order, count, name, level, -effect.mean[i], -effect.high[i],
                        -effect.low[i], bool(effect.overlaps[i]), *predicted,
                    )  # fmt: skip
                    for key, value in zip(columns, row, strict=True):
                        columns[key].append(value)
    if not columns["order"]:
        raise InputError(
            f"the table has only {len(table.systems) - len(named)} artifacts, fewer than the "
            f"smallest step {min(counts)}"
            if counts and orders
            else "give at least one step and one order"
        )
    made = joint_provenance(posteriors, labels)
    return ArtifactStudy(
        champion=champion,
        family=family,
        order=tuple(columns["order"]),
        artifacts=tuple(columns["artifacts"]),
        systems=tuple(columns["systems"]),
        **{name: np.array(values) for name, values in list(columns.items())[3:]},
        settings={
            "champion": champion, "challengers": list(chosen), "r": list(levels), "form": "minus",
            "family": family, "steps": counts, "orders": list(orders), "interval": interval,
            "seed": seed, "priors": posteriors[0].settings.get("priors"), "one_above": one_above,
            **made,
        },
        headline=(
            *(_verdict(columns, champion, name, orders) for name in chosen),
            *_left_out(table, named, counts),
            "overlaps_champion compares the intervals of two effects, significant whether the "
            "predictive interval of the risk excludes 0; the two may disagree.",
            f"Models: {family}, one for each order and number of artifacts, {made['draws']} draws "
            f"by {made['method']}.",
            *(f"Caution: {doubt}" for doubt in made["warnings"]),
        ),
        inputs=posteriors[0].inputs,
    )  # fmt: skip


def _verdict(
    columns: dict[str, list[Any]], champion: str, challenger: str, orders: Sequence[str]
) -> str:
    """With how many artifacts of each order the intervals of two effects stay apart."""
    apart: dict[str, dict[int, None]] = {order: {} for order in orders}
    for order, count, name, overlaps in zip(
        columns["order"],
        columns["artifacts"],
        columns["systems"],
        columns["overlaps_champion"],
        strict=True,
    ):
        if name == challenger and not overlaps:
            apart[order][count] = None
    if not any(apart.values()):
        return f"The intervals of {challenger} and {champion} overlap in every model."
    where = [
        f"the {order} {listed([str(m) for m in found], 9)}"
        if found
        else f"no number of the {order}"
        for order, found in apart.items()
    ]
    return (
        f"The intervals of {challenger} and {champion} are apart with {' and with '.join(where)} "
        "artifacts."
    )


def _left_out(table: ScoreMatrix, named: Sequence[str], counts: Sequence[int]) -> list[str]:
    there = len(table.systems) - len(named)
    beyond = [str(m) for m in counts if m > there]
    if not beyond:
        return []
    return [
        f"Left out: step{'s' if len(beyond) > 1 else ''} {listed(beyond, 9)}, as the table has "
        f"{plural(there, 'artifact')}."
    ]
