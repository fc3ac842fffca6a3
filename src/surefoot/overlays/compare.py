"""All overlays of many systems against one champion."""

import numpy as np
import numpy.typing as npt

from surefoot.overlays.differences import Differences, differences
from surefoot.overlays.geo_risk import geo_risk
from surefoot.overlays.t_risk import p_value, se_jackknife, se_parametric, t_risk
from surefoot.overlays.u_risk import break_even_alpha, f_reward, f_risk, u_gain, u_risk
from surefoot.overlays.value import ValueFunction
from surefoot.overlays.z_risk import Deviations, z_risk

FloatArray = npt.NDArray[np.float64]


def compare(
    values: FloatArray,
    champion: FloatArray,
    population: Deviations,
    *,
    alphas: tuple[float, ...],
    function: ValueFunction | None = None,
    tolerance: float = 0.0,
    threads: int = 0,
) -> dict[str, FloatArray]:
    """Overlay name -> (n_systems, n_alphas) values, in the alpha form.

    Parameters
    ----------
    values : (n_systems, n_topics) float array
        Scores of the challengers.
    champion : (n_topics,) float array
        Scores of the champion.
    population : Deviations
        The challengers' deviations from what a population expects, for ZRisk and GeoRisk; made with
        the same `function`.
    alphas : tuple of float
        With a value function of its own the risk has no alpha: give a single NaN.
    function : callable, optional
        Value function instead of the linear one.
    """
    d = differences(values, champion, tolerance=tolerance, threads=threads)
    worth = d if function is None else _worth(values, champion, function)
    weights = alphas if function is None else (0.0,) * len(alphas)
    out = {
        name: np.repeat(column[:, None], len(alphas), axis=1)
        for name, column in {
            "count": d.count,
            "wins": d.wins,
            "losses": d.losses,
            "ties": d.ties,
            "loss_over": d.loss_over,
            "differing": d.positive + d.negative,
            "f_risk": f_risk(d),
            "f_reward": f_reward(d),
            "u_gain": u_gain(d),
            "break_even_alpha": break_even_alpha(d),
            "df": np.maximum(d.count - 1, 0.0),
        }.items()
    }

    def over(overlay: object) -> FloatArray:
        return np.stack([overlay(a) for a in weights], axis=1)  # type: ignore[operator]

    out["u_risk"] = over(lambda a: u_risk(worth, a))
    out["se_parametric"] = over(lambda a: se_parametric(worth, a))
    out["se_jackknife"] = over(lambda a: se_jackknife(worth, a))
    out["t_risk"] = over(lambda a: t_risk(worth, a))
    out["p_value"] = p_value(out["t_risk"], out["df"])
    out["z_risk"] = over(lambda a: z_risk(population, a))
    out["geo_risk"] = over(lambda a: geo_risk(population, a))
    return out


def _worth(values: FloatArray, champion: FloatArray, function: ValueFunction) -> Differences:
    """Sums of function(difference), one system in memory at a time."""
    nothing = np.zeros(len(champion))
    rows = [differences(function(row - champion), nothing) for row in values]
    return Differences(
        **{
            name: np.concatenate([getattr(row, name) for row in rows])
            for name in Differences.__dataclass_fields__
        }
    )
