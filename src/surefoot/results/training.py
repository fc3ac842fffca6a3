"""A trained ranker's risk profile against every baseline: its model card."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from surefoot.results.record import Column, Result

CARD_COLUMNS = (
    "split",
    "baseline",
    "measure",
    "form",
    "alpha",
    "queries",
    "mean",
    "baseline_mean",
    "f_risk",
    "f_reward",
    "risk_reward",
    "wins",
    "losses",
    "ties",
    "loss_win",
    "loss_over_20",
    "u_risk",
    "t_risk",
    "geo_risk",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingCard(Result):
    """One row per data split and baseline; baseline `none` where there is no champion."""

    command: ClassVar[str] = "train"
    terminal: ClassVar[tuple[str, ...]] = (
        "split",
        "baseline",
        "mean",
        "baseline_mean",
        "wins",
        "losses",
        "loss_over_20",
        "u_risk",
        "t_risk",
    )

    entries: tuple[dict[str, Any], ...] = field(repr=False)
    history: tuple[dict[str, float], ...] = field(default=(), repr=False)

    def columns(self) -> dict[str, Column]:
        """The card's columns."""
        return {name: [e[name] for e in self.entries] for name in CARD_COLUMNS}
