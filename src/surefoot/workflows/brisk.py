"""BRisk-: model the risk-adjusted scores of all systems, compare each with the champion."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.inference.bayes.brisk import SystemRisk, risk_adjusted, system_risk
from surefoot.io.scores import read_scores
from surefoot.results.brisk import Brisk
from surefoot.workflows.posterior import (
    Priors,
    as_posterior,
    challenger_rows,
    champion_row,
    check_interval,
    concerns,
    joint_provenance,
    loss_weights,
    told,
)
from surefoot.workflows.ppd_risk import listed
from surefoot.workflows.verdicts import times

FAMILIES = ("skew_normal", "gaussian", "student")


def brisk(
    scores: Any,
    *,
    champion: str,
    r: float | Sequence[float] = 5.0,
    family: str | None = None,
    systems: str | Iterable[str] | None = None,
    interval: float = 0.95,
    draws: int | None = None,
    priors: Priors = (),
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> Brisk:
    """Bayesian risk-adjusted effectiveness, corrected for many systems.

    Parameters
    ----------
    scores : table
        Anything that `read_scores` takes: plain scores, which are adjusted here.
    champion : str
        The system that would be replaced; its own scores stay as they are.
    r : float or sequence of float
        How many times a loss counts as much as a gain (``r = 1 + alpha``); each is a model of its
        own.
    family : str, optional
        ``skew_normal`` (the default), ``gaussian`` or ``student``.
    systems : sequence of str, optional
        Challengers to report; the others still inform the model.
    priors : mapping or sequence of str
        As in `fit`.

    Returns
    -------
    Brisk
        A challenger differs from the champion where the intervals do not overlap.

    Notes
    -----
    Benham (2023), Eq. 4.5 and Algorithm 4.4. The adjusted scores are "higher is better"; effects
    are negated, as in the thesis' tables, so that higher is riskier (errata thesis-43).
    """
    check_interval(interval)
    family = FAMILIES[0] if family is None else family
    if family not in FAMILIES:
        raise InputError(
            f"risk-adjusted scores leave the interval from 0 to 1, so family {family!r} cannot "
            f"model them. Hint: one of {', '.join(FAMILIES)}"
        )
    levels = loss_weights(r, minimum=1.0)
    table = read_scores(scores)
    base = champion_row(table, champion)
    shown = sorted([base, *challenger_rows(table, champion, systems)])
    posteriors, risks, verdicts = [], [], []
    for level in levels:
        posterior = as_posterior(
            risk_adjusted(table, champion, level), family=family, default=family, seed=seed,
            threads=threads, draws=draws, priors=priors, show=progress,
        )  # fmt: skip
        risk = system_risk(posterior.draws["system"], base, interval=interval)
        posteriors.append(posterior)
        risks.append(risk)
        verdicts.append(_verdict(table.systems, base, shown, level, risk))

    def column(name: str, *, of_champion: bool) -> npt.NDArray[Any]:
        """Every system at each r in turn; the champion has no difference to itself."""
        values = np.column_stack([getattr(risk, name) for risk in risks])
        if not of_champion:
            values[base] = np.nan
        return np.asarray(values[shown].ravel())

    made = joint_provenance(posteriors, [{"r": level} for level in levels])
    if len(levels) == 1:
        found = told(posteriors[0], *verdicts, _unit(interval))
    else:
        found = (
            *verdicts,
            _unit(interval),
            f"Model: {family}, one for each r, {made['draws']} draws by {made['method']}.",
            *(
                f"Caution: r = {level:g}: {doubt}"
                for level, posterior in zip(levels, posteriors, strict=True)
                for doubt in concerns(posterior)
            ),
        )
    return Brisk(
        champion=champion,
        family=family,
        r=np.tile(levels, len(shown)),
        systems=tuple(table.systems[i] for i in shown for _ in levels),
        mean=column("mean", of_champion=True),
        low=column("low", of_champion=True),
        high=column("high", of_champion=True),
        overlaps_champion=column("overlaps", of_champion=True),
        p_riskier=column("p_riskier", of_champion=False),
        difference=column("difference", of_champion=False),
        difference_low=column("difference_low", of_champion=False),
        difference_high=column("difference_high", of_champion=False),
        settings={
            "champion": champion, "form": "minus", "r": list(levels), "interval": interval,
            "seed": seed, "family": family, "priors": posteriors[0].settings.get("priors"), **made,
        },
        headline=found,
        inputs=posteriors[0].inputs,
    )  # fmt: skip


def _verdict(
    names: Sequence[str], base: int, shown: Sequence[int], r: float, risk: SystemRisk
) -> str:
    """Who is riskier than the champion, and who is safer."""
    apart = [i for i in shown if not risk.overlaps[i]]
    riskier = [names[i] for i in apart if risk.mean[i] > risk.mean[base]]
    safer = [names[i] for i in apart if risk.mean[i] < risk.mean[base]]
    n = len(shown) - 1
    return (
        f"With losses counted {times(r - 1)}, riskier than {names[base]}: {listed(riskier)}; "
        f"safer: {listed(safer)}; the intervals of {n - len(riskier) - len(safer)} of {n} "
        "challengers overlap the champion's and decide nothing."
    )


def _unit(interval: float) -> str:
    return f"{100 * interval:g}% intervals of effects on risk-adjusted scores; higher is riskier."
