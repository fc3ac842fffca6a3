"""One score a system under a named overlay, on any of the topics."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.overlays.differences import differences
from surefoot.overlays.geo_risk import geo_risk
from surefoot.overlays.t_risk import t_risk
from surefoot.overlays.u_risk import per_topic, u_risk
from surefoot.overlays.value import ValueFunction
from surefoot.overlays.z_risk import deviations, z_risk
from surefoot.workflows.comparison import Comparison

FloatArray = npt.NDArray[np.float64]
Columns = npt.NDArray[np.int64]
Scorer = Callable[[Columns | None], FloatArray]

OVERLAYS = ("mean", "u_risk", "t_risk", "z_risk", "geo_risk")


def overlay_scorer(
    whole: Comparison, overlay: str, alpha: float, function: ValueFunction | None = None
) -> Scorer:
    """A function from topics (None for all) to the overlay's score of every system.

    Parameters
    ----------
    whole : Comparison
        With a single champion.
    overlay : str
        One of `OVERLAYS`.
    alpha : float
        Extra weight of a loss, unused by ``mean``.
    function : callable, optional
        Value function instead of the linear one.
    """
    if overlay not in OVERLAYS:
        raise InputError(f"unknown overlay {overlay!r}. Hint: one of {', '.join(OVERLAYS)}")
    values = whole.matrix.values
    base = whole.champions[0].scores
    weight = alpha if function is None else 0.0

    def score(columns: Columns | None) -> FloatArray:
        part = values if columns is None else values[:, columns]
        if overlay == "mean":
            known = ~np.isnan(part)
            return per_topic(np.nansum(part, axis=1), known.sum(axis=1).astype(float))
        if overlay in ("z_risk", "geo_risk"):
            people = None if whole.population is None else whole.population.values
            if people is not None and columns is not None:
                people = people[:, columns]
            z = deviations(part, people, member=whole.members, value=function, threads=1)
            return z_risk(z, weight) if overlay == "z_risk" else geo_risk(z, weight)
        champion = base if columns is None else base[columns]
        if function is None:
            d = differences(part, champion, threads=1)
        else:
            d = differences(function(part - champion), np.zeros(len(champion)), threads=1)
        return u_risk(d, weight) if overlay == "u_risk" else t_risk(d, weight)

    return score


def overlay_name(overlay: str, alpha: float, value: str = "linear") -> str:
    """``u_risk(alpha=1)``, ``u_risk(smooth)`` or ``mean``."""
    if overlay == "mean":
        return overlay
    return f"{overlay}(alpha={alpha:g})" if value == "linear" else f"{overlay}({value})"
