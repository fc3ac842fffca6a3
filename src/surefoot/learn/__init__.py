"""Rankers that know what they must not break: objectives, champions, boosters."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOMES = {
    "train_distributed": "surefoot.learn.distributed",
    "champion_bounds": "surefoot.learn.callables",
    "XGBoostObjective": "surefoot.learn.callables",
    "LightGBMObjective": "surefoot.learn.callables",
    "Champions": "surefoot.learn.champion",
    "Objective": "surefoot.learn.objectives",
    "Ranker": "surefoot.learn.model",
    "RankingGradient": "surefoot.learn.objectives",
    "RiskMonitor": "surefoot.learn.monitor",
    "RiskRanker": "surefoot.learn.ranker",
    "read_champions": "surefoot.learn.champion",
    "train_ranker": "surefoot.learn.boosting",
}

__all__ = [
    "Champions",
    "LightGBMObjective",
    "Objective",
    "Ranker",
    "RankingGradient",
    "RiskMonitor",
    "RiskRanker",
    "XGBoostObjective",
    "champion_bounds",
    "read_champions",
    "train_distributed",
    "train_ranker",
]

if TYPE_CHECKING:
    from surefoot.learn.boosting import train_ranker
    from surefoot.learn.callables import LightGBMObjective, XGBoostObjective, champion_bounds
    from surefoot.learn.champion import Champions, read_champions
    from surefoot.learn.distributed import train_distributed
    from surefoot.learn.model import Ranker
    from surefoot.learn.monitor import RiskMonitor
    from surefoot.learn.objectives import Objective, RankingGradient
    from surefoot.learn.ranker import RiskRanker


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'surefoot.learn' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
