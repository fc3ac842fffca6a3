"""How much each challenger risks against a champion."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# numeric columns that carry their field's name, in the order of the table
_FIRST = (
    "alpha",
    "f_risk",
    "f_reward",
    "u_gain",
    "u_risk",
    "se_parametric",
    "se_jackknife",
    "t_risk",
    "df",
    "p_value",
    "p_adjusted",
    "wins",
    "losses",
    "ties",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualRange:
    """What the unjudged documents leave open; one entry a row of the risk table.

    Parameters
    ----------
    u_low, u_high : arrays
        Range of URisk over all completions of the judgments; exact for the bounds given.
    t_low, t_high : arrays
        Enclosing range of TRisk.
    verdict : tuple of str
        The verdict that holds under every completion, or "open".
    certain_losses, certain_wins, undecided : arrays
        Topics that lose, win, or could do either.
    deciding_topics : tuple of str
        The fewest topics whose judgments would settle the verdict, widest first.
    deciding_documents : tuple of str
        The unjudged documents that could change the differences on these topics most (for a measure
        that is no sum over documents, those that are shown first); empty where the scores did not
        come from judgments and runs.
    """

    u_low: FloatArray
    u_high: FloatArray
    t_low: FloatArray
    t_high: FloatArray
    verdict: tuple[str, ...]
    certain_losses: IntArray
    certain_wins: IntArray
    undecided: IntArray
    deciding_topics: tuple[str, ...]
    deciding_documents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskResult(Result):
    """One row for each challenger, champion, alpha and slice.

    Every array has one entry a row. With ``form`` "minus" the overlays are negated, as in the
    thesis: r = 1 + alpha, and higher is riskier.

    Parameters
    ----------
    system, champion : tuple of str
        Who is compared with whom.
    form : str
        "alpha" or "minus".
    value : str
        "linear", or the name of another value function (alpha is NaN then).
    alpha : array
        How much more a loss counts than a gain.
    f_risk, f_reward, u_gain, u_risk : arrays
        Mean loss, mean gain, mean difference, and the same with losses counted 1 + alpha times.
    se_parametric, se_jackknife, t_risk, df, p_value, p_adjusted : arrays
        URisk's standard errors and its exact two-sided t test.
    wins, losses, ties, loss_over : arrays
        Numbers of topics; `loss_over` those that lose more than 20 % of the champion's score.
    z_risk, geo_risk : arrays
        Against the whole population of systems.
    break_even_alpha : array
        The alpha at which gains and losses cancel.
    errors_agree : bool array
        Whether both standard errors agree, TRisk's condition for inference; false where there is
        none.
    verdict : tuple of str
        "risky", "safe" or "unclear", at the level in the settings.
    topics : array
        Topics that system and champion share.
    slice : tuple of str, optional
        "all" or the name of a group of topics.
    residual : ResidualRange, optional
        Where scores carry bounds.
    note : tuple of str
        Why a number of the row is missing.
    """

    command: ClassVar[str] = "risk"
    terminal: ClassVar[tuple[str, ...]] = (
        "system",
        "champion",
        "slice",
        "form",
        "alpha",
        "verdict",
        "wins",
        "losses",
        "loss_over_20",
        "u_risk",
        "t_risk",
        "p_adjusted",
    )

    system: tuple[str, ...]
    champion: tuple[str, ...]
    form: str
    value: str
    alpha: FloatArray
    f_risk: FloatArray
    f_reward: FloatArray
    u_gain: FloatArray
    u_risk: FloatArray
    se_parametric: FloatArray
    se_jackknife: FloatArray
    t_risk: FloatArray
    df: FloatArray
    p_value: FloatArray
    p_adjusted: FloatArray
    wins: IntArray
    losses: IntArray
    ties: IntArray
    loss_over: IntArray
    z_risk: FloatArray
    geo_risk: FloatArray
    break_even_alpha: FloatArray
    errors_agree: npt.NDArray[np.bool_]
    verdict: tuple[str, ...]
    topics: IntArray
    slice: tuple[str, ...] | None = None
    residual: ResidualRange | None = None
    note: tuple[str, ...] = field(default=())

    def columns(self) -> dict[str, Column]:
        """The table, the contract's columns first."""
        rows = len(self.system)
        out: dict[str, Column] = {
            "system": self.system,
            "champion": self.champion,
            "form": (self.form,) * rows,
        }
        for name in _FIRST:
            out[name] = getattr(self, name)
        out["loss_over_20"] = self.loss_over
        out["z_risk"] = self.z_risk
        out["geo_risk"] = self.geo_risk
        out["r"] = 1 + self.alpha
        out["break_even_alpha"] = self.break_even_alpha
        out["errors_agree"] = self.errors_agree
        out["verdict"] = self.verdict
        out["topics"] = self.topics
        out["value"] = (self.value,) * rows
        if self.slice is not None:
            out["slice"] = self.slice
        if self.residual is not None:
            known = self.residual
            out["u_risk_low"] = known.u_low
            out["u_risk_high"] = known.u_high
            out["t_risk_low"] = known.t_low
            out["t_risk_high"] = known.t_high
            out["verdict_any_judgments"] = known.verdict
            out["certain_losses"] = known.certain_losses
            out["certain_wins"] = known.certain_wins
            out["undecided_topics"] = known.undecided
            out["deciding_topics"] = known.deciding_topics
            out["deciding_documents"] = known.deciding_documents
        out["note"] = self.note or ("",) * rows
        return out
