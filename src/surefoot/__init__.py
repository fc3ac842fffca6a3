"""Is it safe to replace this ranker with that one?

Every public verb is loaded on first use, so that ``import surefoot`` costs little more than Python.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> module that defines it
_HOMES = {
    "ScoreMatrix": "surefoot.data.scores",
    "SurefootError": "surefoot.errors",
    "active": "surefoot.active",
    "artifacts": "surefoot.workflows.artifacts",
    "brisk": "surefoot.workflows.brisk",
    "check": "surefoot.workflows.check",
    "cross_validate": "surefoot.workflows.cross_validate",
    "difficulty": "surefoot.workflows.difficulty",
    "evaluate": "surefoot.workflows.evaluate",
    "fit": "surefoot.workflows.fit",
    "forecast": "surefoot.workflows.forecast",
    "frontier": "surefoot.workflows.frontier",
    "gate": "surefoot.workflows.gate",
    "intervals": "surefoot.workflows.intervals",
    "learn": "surefoot.learn",
    "lint": "surefoot.workflows.lint",
    "models": "surefoot.workflows.models",
    "normality": "surefoot.workflows.normality",
    "orders": "surefoot.workflows.orders",
    "paired": "surefoot.workflows.paired",
    "pairs": "surefoot.workflows.ranks",
    "power": "surefoot.workflows.power",
    "ppd_risk": "surefoot.workflows.ppd_risk",
    "rank": "surefoot.workflows.rank",
    "ranks": "surefoot.workflows.ranks",
    "read_fit": "surefoot.io.fit_file",
    "read_qrels": "surefoot.io.trec",
    "read_run": "surefoot.io.trec",
    "read_scores": "surefoot.io.scores",
    "risk": "surefoot.workflows.risk",
    "save_fit": "surefoot.workflows.save_fit",
    "stability": "surefoot.workflows.stability",
    "test": "surefoot.workflows.compare",
    "topics": "surefoot.workflows.topics",
    "train": "surefoot.workflows.train",
}

__all__ = [
    "ScoreMatrix",
    "SurefootError",
    "__version__",
    "active",
    "artifacts",
    "brisk",
    "check",
    "cross_validate",
    "difficulty",
    "evaluate",
    "fit",
    "forecast",
    "frontier",
    "gate",
    "intervals",
    "learn",
    "lint",
    "models",
    "normality",
    "orders",
    "paired",
    "pairs",
    "power",
    "ppd_risk",
    "rank",
    "ranks",
    "read_fit",
    "read_qrels",
    "read_run",
    "read_scores",
    "risk",
    "save_fit",
    "stability",
    "test",
    "topics",
    "train",
]

if TYPE_CHECKING:
    _kernels: Any  # the compiled module
    from surefoot.data.scores import ScoreMatrix
    from surefoot.errors import SurefootError
    from surefoot.io.fit_file import read_fit
    from surefoot.io.scores import read_scores
    from surefoot.io.trec import read_qrels, read_run
    from surefoot.workflows.artifacts import artifacts
    from surefoot.workflows.brisk import brisk
    from surefoot.workflows.check import check
    from surefoot.workflows.compare import test
    from surefoot.workflows.cross_validate import cross_validate
    from surefoot.workflows.difficulty import difficulty
    from surefoot.workflows.evaluate import evaluate
    from surefoot.workflows.fit import fit
    from surefoot.workflows.forecast import forecast
    from surefoot.workflows.frontier import frontier
    from surefoot.workflows.gate import gate
    from surefoot.workflows.intervals import intervals
    from surefoot.workflows.lint import lint
    from surefoot.workflows.models import models
    from surefoot.workflows.normality import normality
    from surefoot.workflows.orders import orders
    from surefoot.workflows.paired import paired
    from surefoot.workflows.power import power
    from surefoot.workflows.ppd_risk import ppd_risk
    from surefoot.workflows.rank import rank
    from surefoot.workflows.ranks import pairs, ranks
    from surefoot.workflows.risk import risk
    from surefoot.workflows.save_fit import save_fit
    from surefoot.workflows.stability import stability
    from surefoot.workflows.topics import topics
    from surefoot.workflows.train import train


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    module = import_module(home)
    # a public name may be a subpackage itself, such as `active`
    value = module if home == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
