"""Objectives compared over folds, one row each: Table 3 of TRisk's paper, Table 7 of ZRisk's."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

CROSS_VALIDATION_COLUMNS = (
    "objective",
    "form",
    "alpha",
    "folds",
    "queries",
    "ndcg_1",
    "mean",
    "champion_mean",
    "risk_reward",
    "loss_win",
    "losses",
    "wins",
    "loss_over_20",
    "difference",
    "low",
    "high",
    "reward_risk_baselines",
    "win_loss_baselines",
    "losses_baselines",
    "wins_baselines",
    "loss_over_20_baselines",
)


@dataclass(frozen=True, slots=True)
class QueryScores:
    """Effectiveness on every test query of all folds: what further inference starts from.

    Parameters
    ----------
    topics : tuple of str
    values : (n_rows, n_seeds, n_queries) float array
        In the order of the table's rows.
    champion : (n_queries,) float array
    baselines : (n_baselines, n_queries) float array
        Of the learned baselines; without rows where there are none.
    """

    topics: tuple[str, ...]
    values: npt.NDArray[np.float64]
    champion: npt.NDArray[np.float64]
    baselines: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidation(Result):
    """One row per objective and alpha, over the test queries of all folds.

    The first block is against the single champion; `difference`, `low`, `high` compare the mean
    with the plain objective's (paired bootstrap over queries); the last block is the macro-average
    over the learned baselines, empty where there are none.
    """

    command: ClassVar[str] = "cross-validate"
    terminal: ClassVar[tuple[str, ...]] = (
        "objective",
        "alpha",
        "mean",
        "risk_reward",
        "loss_win",
        "losses",
        "wins",
        "loss_over_20",
        "low",
        "high",
    )

    entries: tuple[dict[str, Any], ...] = field(repr=False)
    scores: QueryScores = field(repr=False)

    def columns(self) -> dict[str, Column]:
        """The table's columns."""
        return {name: [e[name] for e in self.entries] for name in CROSS_VALIDATION_COLUMNS}
