"""Judgments and runs to per-topic scores."""

from collections.abc import Sequence
from typing import Any

from surefoot.data.scores import ScoreMatrix


def evaluate_matrix(
    qrels: Any, runs: Sequence[Any], measure: str, *, threads: int = 0
) -> ScoreMatrix:
    """Scores of each run on each topic of the judgments under one measure."""
    raise NotImplementedError
