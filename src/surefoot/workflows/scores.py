"""From whatever the user has to one score matrix."""

from collections.abc import Sequence
from typing import Any

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.io.scores import read_scores


def load_scores(
    scores: Any = None,
    *,
    qrels: Any = None,
    runs: Sequence[Any] = (),
    measure: str | None = None,
    threads: int = 0,
) -> ScoreMatrix:
    """Scores from a table, or from judgments and runs under a measure.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix, optional
        Anything that `read_scores` takes.
    qrels, runs, measure
        Judgments, runs and the measure to evaluate first, when there is no table.
    """
    if scores is not None and (qrels is not None or runs):
        raise InputError("give either a score table or --qrels with --run, not both")
    if scores is not None:
        return read_scores(scores, measure=measure, named=True)
    if qrels is None or not runs or measure is None:
        raise InputError("give a score table, or all of --qrels QRELS --run RUN... -m MEASURE")
    from surefoot.workflows.evaluate import evaluate_matrix

    return evaluate_matrix(qrels, runs, measure, threads=threads)
