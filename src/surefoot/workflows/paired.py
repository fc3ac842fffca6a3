"""One challenger against the champion, by a Bayesian model of the pair alone."""

from typing import Any

import numpy as np

from surefoot.data.seed import check_seed
from surefoot.errors import InputError
from surefoot.inference.bayes.paired import sample_paired
from surefoot.io.scores import read_scores
from surefoot.results.paired import Paired
from surefoot.workflows.posterior import (
    Priors,
    champion_row,
    check_count,
    check_interval,
    loss_weights,
)
from surefoot.workflows.verdicts import times

METHOD = "importance sampling from a fitted mixture"


def paired(
    scores: Any,
    *,
    champion: str,
    challenger: str,
    r: float = 1.0,
    model: str = "gaussian",
    draws: int = 20_000,
    priors: Priors = (),
    interval: float = 0.95,
    seed: int = 0,
) -> Paired:
    """Mean, spread and shape of one pair's risk-adjusted differences.

    Parameters
    ----------
    scores : table
        Anything that `read_scores` takes.
    r : float
        How many times a loss counts as much as a gain.
    model : str
        ``gaussian``, ``skew_normal`` (thesis, Algorithms 4.1 and 4.2) or ``bivariate``
        (Sakai's model of both systems' scores, Algorithm 2.4).
    priors : mapping or sequence of str
        What differs from the default priors of ``b``, ``sigma`` and ``lambda``, as in `fit`;
        ``bivariate`` has flat ones.
    interval : float
        Probability of the interval ``low`` to ``high`` of each parameter, and of the verdict's.

    Notes
    -----
    Differences are in the minus form: positive is a loss. No correction for many systems is made;
    `ppd_risk` makes one.
    """
    check_seed(seed)
    check_interval(interval)
    check_count("draws", draws, 100)
    levels = loss_weights(r)
    if len(levels) > 1:
        raise InputError(f"r is one number here, but got {r!r}")
    r = levels[0]
    table = read_scores(scores)
    if champion == challenger:
        raise InputError(f"{champion!r} cannot be compared with itself")
    if not isinstance(challenger, str):
        raise InputError(f"name the challenger: a system of the table, not {challenger!r}")
    base, other = table.values[champion_row(table, champion)], table.row(challenger)
    found = sample_paired(
        model, base, other, r=r, n_draws=draws, priors=priors, rng=np.random.default_rng(seed)
    )
    values = dict(found.draws)
    if model == "bivariate":
        values["mean_risk"] = found.mean_risk
        # Sakai (2017): effect size over the champion's standard deviation
        values["glass_delta"] = -found.mean_risk / values["sigma_champion"]
    p_risky = float((found.mean_risk > 0).mean())
    tails = ((1 - interval) / 2, (1 + interval) / 2)
    low, high = np.quantile(found.mean_risk, tails)
    verdict = (
        f"{challenger} is riskier than {champion}" if low > 0
        else f"{challenger} is safe in place of {champion}" if high < 0
        else f"{challenger} and {champion} cannot be told apart"
    )  # fmt: skip
    return Paired(
        champion=champion,
        challenger=challenger,
        model=model,
        r=r,
        p_risky=p_risky,
        summary={
            name: (
                float(x.mean()),
                float(x.std(ddof=1)),
                *(float(q) for q in np.quantile(x, (0.025, 0.5, 0.975))),
            )  # type: ignore[misc]
            for name, x in values.items()
        },
        low=np.array([np.quantile(x, tails[0]) for x in values.values()]),
        high=np.array([np.quantile(x, tails[1]) for x in values.values()]),
        draws=values,
        settings={
            "champion": champion, "challenger": challenger, "r": r, "form": "minus",
            "model": model, "draws": draws, "interval": interval, "seed": seed, "method": METHOD,
            "khat": found.khat, "efficiency": found.efficiency, "warnings": list(found.warnings),
            "p_risky": p_risky,
        },
        headline=(
            f"{verdict}: mean loss per query between {low:.4f} and {high:.4f} "
            f"({100 * interval:g}%), {p_risky:.1%} chance that it is above 0, with losses "
            f"counted {times(r - 1)}.",
            f"Model: {model} of this pair alone, {draws} draws by {METHOD}.",
            *(f"Caution: {doubt}." for doubt in found.warnings),
        ),
    )  # fmt: skip
