"""How alike the orders of systems are that different overlays give."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.io.scores import read_scores
from surefoot.overlays.kendall import kendall_tau
from surefoot.overlays.rbo import rbo
from surefoot.results.orders import OrdersResult
from surefoot.workflows.comparison import Numbers, loss_aversion, prepare, value_function
from surefoot.workflows.overlay_scores import OVERLAYS, overlay_name, overlay_scorer


def orders(
    scores: Any,
    *,
    champion: str = "mean",
    alpha: Numbers = None,
    overlays: Sequence[str] = OVERLAYS,
    values: Sequence[str] = ("linear",),
    systems: str | Iterable[str] | None = None,
    population: Any = None,
    p: float = 0.9,
) -> OrdersResult:
    """Compare the orders that overlays give to the systems, least risky first.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores.
    champion : str
        Baseline of URisk and TRisk; as a system it is not ordered itself.
    alpha : float or list, optional
        Each alpha gives one order of each overlay; default 1.
    overlays : list of str
        Among mean, u_risk, t_risk, z_risk and geo_risk. TRisk values of different systems have
        different units; their order is descriptive.
    values : list of str
        Among linear, smooth and refit: each gives orders of its own.
    systems, population : optional
        As in `risk`.
    p : float
        Persistence of the rank-biased overlap.

    Notes
    -----
    Benham 2023, Section 3.1.4. Systems with equal scores keep the order of the table.
    """
    alphas, _ = loss_aversion(alpha, None)
    whole = prepare(read_scores(scores), champion, systems=systems, population=population)
    if len(whole.champions) != 1:
        raise InputError("orders takes a single champion")
    rows = whole.challengers
    lists: dict[str, Any] = {}
    for value in values:
        name, function = value_function(value, whole.matrix, whole.champions)
        for overlay in overlays:
            for a in alphas:
                label = overlay_name(overlay, a, name)
                if label not in lists:
                    lists[label] = overlay_scorer(whole, overlay, a, function)(None)[rows]
    if len(lists) < 2:
        raise InputError("give at least two overlays, alphas or value functions to compare")
    defined = ~np.any([np.isnan(column) for column in lists.values()], axis=0)
    if not defined.any():
        raise InputError("no system has a value under every overlay")
    lists = {label: column[defined] for label, column in lists.items()}
    ranked = {label: np.argsort(-column, kind="stable").tolist() for label, column in lists.items()}
    pairs = list(combinations(lists, 2))
    overlaps = [rbo(ranked[a], ranked[b], p=p) for a, b in pairs]
    taus = np.array([kendall_tau(lists[a], lists[b]) for a, b in pairs])
    least = int(np.argmin([o.low for o in overlaps]))
    headline = (
        f"{int(defined.sum())} systems in {len(lists)} orders; least alike: {pairs[least][0]} and "
        f"{pairs[least][1]} (overlap {overlaps[least].low:.3f}, tau {taus[least]:.3f}).",
    )
    return OrdersResult(
        first=tuple(a for a, _ in pairs),
        second=tuple(b for _, b in pairs),
        rbo_low=np.array([o.low for o in overlaps]),
        rbo_high=np.array([o.high for o in overlaps]),
        kendall_tau=taus,
        systems=int(defined.sum()),
        note=tuple("an order in which all are tied" if np.isnan(tau) else "" for tau in taus),
        headline=headline,
        settings={"champion": whole.champions[0].name, "alpha": list(alphas), "p": p},
    )
