"""How verdicts move as artifact systems join the model, best or worst first."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.inference.bayes.artifact import ORDERS, STEPS, nested_tables
from surefoot.inference.bayes.brisk import system_risk
from surefoot.inference.bayes.predictive import predicted_risk, risk_replicates
from surefoot.io.scores import read_scores
from surefoot.results.artifacts import ArtifactStudy
from surefoot.workflows.posterior import as_posterior


def artifacts(
    scores: Any,
    *,
    champion: str,
    challengers: Sequence[str],
    r: float = 1.0,
    family: str = "gaussian",
    orders: Sequence[str] = ORDERS,
    steps: Sequence[int] = STEPS,
    draws: int | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> ArtifactStudy:
    """Refit with 1, 5, 10, 20 and 40 artifacts (thesis, Sect. 4.2.5) and compare verdicts.

    Parameters
    ----------
    challengers : sequence of str
        Systems to report; every other system but the champion is an artifact.
    steps : sequence of int
        Numbers of artifacts; those that exceed what the table has are left out.
    """
    table = read_scores(scores)
    if champion in challengers or not challengers:
        raise InputError("name at least one challenger that is not the champion")
    unknown = [order for order in orders if order not in ORDERS]
    if unknown:
        raise InputError(f"unknown order {unknown[0]!r}. Hint: one of {', '.join(ORDERS)}")
    named = [champion, *challengers]
    columns: dict[str, list[Any]] = {
        name: []
        for name in (
            "order", "artifacts", "systems", "mean", "low", "high", "overlaps_champion",
            "risk_median", "risk_low", "risk_high", "significant",
        )
    }  # fmt: skip
    for order in orders:
        for count, part in nested_tables(table, named, order=order, steps=steps):
            posterior = as_posterior(
                part, family=family, default=family, seed=seed, threads=threads, draws=draws,
                show=progress,
            )  # fmt: skip
            effect = system_risk(posterior.draws["system"], 0)
            sums = risk_replicates(posterior, 0, range(1, len(named)), seed=seed, threads=threads)
            risk = predicted_risk(sums, r)
            for i, name in enumerate(named):
                champions = i == 0
                row = (
                    order, count, name, -effect.mean[i], -effect.high[i], -effect.low[i],
                    bool(effect.overlaps[i]),
                    np.nan if champions else risk.median[i - 1],
                    np.nan if champions else risk.low[i - 1],
                    np.nan if champions else risk.high[i - 1],
                    False if champions else bool(risk.significant[i - 1]),
                )  # fmt: skip
                for key, value in zip(columns, row, strict=True):
                    columns[key].append(value)
    if not columns["order"]:
        raise InputError(
            f"the table has only {len(table.systems) - len(named)} artifacts, fewer than the "
            f"smallest step {min(steps)}"
        )
    sentences = []
    for name in challengers:
        moved = []
        for order in orders:
            apart = [
                m
                for o, m, s, over in zip(
                    columns["order"],
                    columns["artifacts"],
                    columns["systems"],
                    columns["overlaps_champion"],
                    strict=True,
                )
                if o == order and s == name and not over
            ]
            moved.append(f"{order} first {_listed(apart)}")
        sentences.append(f"{name} and {champion} separate with: {'; '.join(moved)}.")
    return ArtifactStudy(
        champion=champion,
        r=float(r),
        family=family,
        order=tuple(columns["order"]),
        artifacts=tuple(columns["artifacts"]),
        systems=tuple(columns["systems"]),
        mean=np.array(columns["mean"]),
        low=np.array(columns["low"]),
        high=np.array(columns["high"]),
        overlaps_champion=np.array(columns["overlaps_champion"]),
        risk_median=np.array(columns["risk_median"]),
        risk_low=np.array(columns["risk_low"]),
        risk_high=np.array(columns["risk_high"]),
        significant=np.array(columns["significant"]),
        settings={
            "champion": champion, "challengers": list(challengers), "r": r, "form": "minus",
            "family": family, "steps": list(steps), "orders": list(orders), "seed": seed,
        },
        headline=tuple(sentences),
    )  # fmt: skip


def _listed(counts: Sequence[int]) -> str:
    return "none of the steps" if not counts else "m = " + ", ".join(map(str, counts))
