"""Judge less: which queries to label under a budget, and honest estimates from the labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# public name -> (module, name there)
_HOMES = {
    "estimate": ("estimating", "estimate"),
    "export": ("report", "export"),
    "extend": ("collect", "extend"),
    "fit_relevance": ("relevance.model", "fit_relevance"),
    "label": ("collect", "label"),
    "next_tasks": ("collect", "next_tasks"),
    "plan": ("planning", "plan"),
    "pool": ("pooling", "pool"),
    "simulate": ("simulation", "simulate"),
    "status": ("report", "status"),
}

__all__ = [
    "estimate",
    "export",
    "extend",
    "fit_relevance",
    "label",
    "next_tasks",
    "plan",
    "pool",
    "simulate",
    "status",
]

if TYPE_CHECKING:
    from surefoot.active.collect import extend, label, next_tasks
    from surefoot.active.estimating import estimate
    from surefoot.active.planning import plan
    from surefoot.active.pooling import pool
    from surefoot.active.relevance.model import fit_relevance
    from surefoot.active.report import export, status
    from surefoot.active.simulation import simulate


def __getattr__(name: str) -> Any:
    """Load a verb on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'surefoot.active' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value = getattr(import_module(f"surefoot.active.{module}"), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
