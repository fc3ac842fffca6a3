"""BRisk-: model the risk-adjusted scores of all systems, compare each with the champion."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.inference.bayes.brisk import risk_adjusted, system_risk
from surefoot.inference.bayes.priors import Prior
from surefoot.io.scores import read_scores
from surefoot.results.brisk import Brisk
from surefoot.workflows.posterior import as_posterior, doubts, provenance
from surefoot.workflows.ppd_risk import challenger_rows, check_interval, listed
from surefoot.workflows.verdicts import times

FAMILIES = ("skew_normal", "gaussian", "student")


def brisk(
    scores: Any,
    *,
    champion: str,
    r: float = 5.0,
    family: str = "skew_normal",
    interval: float = 0.95,
    draws: int | None = None,
    priors: Mapping[str, str | Prior] | Sequence[str] = (),
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
    r : float
        How many times a loss counts as much as a gain (``r = 1 + alpha``).
    family : str
        ``skew_normal``, ``gaussian`` or ``student``.
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
    if family not in FAMILIES:
        raise InputError(
            f"risk-adjusted scores leave the interval from 0 to 1, so family {family!r} cannot "
            f"model them. Hint: one of {', '.join(FAMILIES)}"
        )
    r = float(r)
    if not (np.isfinite(r) and r >= 1):
        raise InputError(f"r must be a number not less than 1, but got {r:g}")
    table = read_scores(scores)
    challenger_rows(table.systems, champion, None, index=table.index)
    adjusted = risk_adjusted(table, champion, r)
    posterior = as_posterior(
        adjusted, family=family, default=family, seed=seed, threads=threads, draws=draws,
        priors=priors, show=progress,
    )  # fmt: skip
    base = adjusted.index(champion)
    risk = system_risk(posterior.draws["system"], base, interval=interval)
    names = adjusted.systems
    apart = ~risk.overlaps
    riskier = [
        n for n, a, m in zip(names, apart, risk.mean, strict=True) if a and m > risk.mean[base]
    ]
    safer = [
        n for n, a, m in zip(names, apart, risk.mean, strict=True) if a and m < risk.mean[base]
    ]

    def without_champion(values: Any) -> Any:
        values = values.copy()
        values[base] = np.nan
        return values

    return Brisk(
        champion=champion,
        family=posterior.family,
        r=r,
        systems=names,
        mean=risk.mean,
        low=risk.low,
        high=risk.high,
        overlaps_champion=risk.overlaps,
        p_riskier=without_champion(risk.p_riskier),
        difference=without_champion(risk.difference),
        difference_low=without_champion(risk.difference_low),
        difference_high=without_champion(risk.difference_high),
        settings={
            "champion": champion, "form": "minus", "r": r, "interval": interval, "seed": seed,
            **provenance(posterior),
        },
        headline=(
            f"With losses counted {times(r - 1)}, riskier than {champion}: {listed(riskier)}; "
            f"safer: {listed(safer)}; the intervals of "
            f"{len(names) - 1 - len(riskier) - len(safer)} of {len(names) - 1} challengers overlap "
            "the champion's and decide nothing.",
            f"{interval:.0%} intervals of effects on risk-adjusted scores; higher is riskier.",
            *doubts(posterior),
        ),
        inputs=posterior.inputs,
    )  # fmt: skip
