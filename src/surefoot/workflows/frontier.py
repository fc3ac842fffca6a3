"""Risk against reward over a family of settings."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.io.scores import read_scores
from surefoot.io.slices import read_groups
from surefoot.overlays.differences import differences
from surefoot.overlays.frontier import dominator, efficient, r_loss
from surefoot.overlays.u_risk import f_reward, f_risk, u_gain
from surefoot.results.frontier import FrontierResult
from surefoot.workflows.comparison import prepare

FloatArray = npt.NDArray[np.float64]

RISKS = ("f_risk", "losses", "loss_over_20", "r_loss")
REWARDS = ("u_gain", "f_reward")


def frontier(
    scores: Any,
    *,
    champion: str,
    risk: str = "f_risk",
    reward: str = "u_gain",
    relevant: Any = None,
    families: Any = None,
    systems: str | Iterable[str] | None = None,
) -> FrontierResult:
    """Place settings on a risk-reward plot and find the efficient ones.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores, one system a setting.
    champion : str
        What the settings vary or would replace.
    risk : str
        ``f_risk`` (mean loss), ``losses`` or ``loss_over_20`` (share of topics), or ``r_loss``
        (relevant documents lost, needs `relevant`).
    reward : str
        ``u_gain`` (mean difference) or ``f_reward`` (mean gain).
    relevant : optional
        Table of the relevant documents in each system's top k, per topic, for ``r_loss``.
    families : optional
        A ``system,group`` table or ``{system: group}``: each family has a frontier of its own.
    systems : list of str, optional
        Settings; default all but the champion.

    Notes
    -----
    Collins-Thompson 2009; Benham 2023, Section 2.5.2.
    """
    if risk not in RISKS or reward not in REWARDS:
        raise InputError(
            f"risk must be one of {', '.join(RISKS)} and reward one of {', '.join(REWARDS)}, but "
            f"got {risk!r} and {reward!r}"
        )
    whole = prepare(read_scores(scores), champion, systems=systems)
    if len(whole.champions) != 1:
        raise InputError("frontier takes a single champion")
    base = whole.champions[0]
    rows = whole.challengers
    names = [whole.matrix.systems[i] for i in rows]
    d = differences(whole.matrix.values[rows], base.scores)
    if risk == "r_loss":
        risks = _documents_lost(relevant, base.name, names)
    elif risk == "f_risk":
        risks = f_risk(d)
    else:
        count = d.losses if risk == "losses" else d.loss_over
        risks = count / np.where(d.count > 0, d.count, np.nan)
    rewards = u_gain(d) if reward == "u_gain" else f_reward(d)
    mean = float(np.nanmean(base.scores)) if (~np.isnan(base.scores)).any() else float("nan")
    percent = 100 * u_gain(d) / mean if mean else np.full(len(names), np.nan)
    group_of = {} if families is None else read_groups(families)
    family = [group_of.get(n, "other" if group_of else "all") for n in names]
    own = np.zeros(len(names), bool)
    for group in dict.fromkeys(family):
        members = np.array([f == group for f in family])
        own[members] = efficient(risks[members], rewards[members])
    overall = efficient(risks, rewards)
    beaten = []
    for i in range(len(names)):
        by = None if overall[i] else dominator(risks, rewards, i)
        beaten.append("" if by is None else names[by])
    position = {f: k for k, f in enumerate(dict.fromkeys(family))}
    order = sorted(range(len(names)), key=lambda i: (position[family[i]], risks[i], -rewards[i]))
    best = [names[i] for i in order if overall[i]]
    shown = ", ".join(best[:6]) + (f" and {len(best) - 6} more" if len(best) > 6 else "")
    return FrontierResult(
        system=tuple(names[i] for i in order),
        family=tuple(family[i] for i in order),
        risk=risks[order],
        reward=rewards[order],
        percent_gain=percent[order],
        efficient=own[order],
        efficient_overall=overall[order],
        beaten_by=tuple(beaten[i] for i in order),
        note=tuple(_why(risks[i], percent[i]) for i in order),
        headline=(
            f"{len(best)} of {len(names)} settings are efficient, from the least risky to the most "
            f"rewarding: {shown}.",
        ),
        settings={"champion": base.name, "risk": risk, "reward": reward},
    )


def _why(risk: float, percent: float) -> str:
    """Why a number is missing."""
    if np.isnan(risk):
        return "no topic in common"
    return "the champion's mean is 0: no percentage of it" if np.isnan(percent) else ""


def _documents_lost(relevant: Any, champion: str, names: list[str]) -> FloatArray:
    if relevant is None:
        raise InputError(
            "r_loss needs the relevant documents in each top k, a table like the scores"
        )
    counts = read_scores(relevant)
    return r_loss(counts.select(systems=names).values, counts.row(champion))
