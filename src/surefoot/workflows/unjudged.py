"""The unjudged documents that a ranking shows first: what to judge next for a topic."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from surefoot.data.qrels import Qrels
from surefoot.data.run import Run
from surefoot.io.trec import read_qrels, read_run


def unjudged_documents(
    qrels: Any, runs: Iterable[Any], wanted: Mapping[str, Iterable[str]], *, limit: int = 3
) -> dict[str, dict[str, list[str]]]:
    """System -> topic -> its first unjudged documents, best first.

    Parameters
    ----------
    qrels, runs
        Judgments and runs, anything that `read_qrels` and `read_run` take.
    wanted : mapping
        System -> topics to look at; runs of other systems are not kept.
    limit : int
        Documents a topic.
    """
    judgments = read_qrels(qrels)
    out: dict[str, dict[str, list[str]]] = {}
    for source in runs:
        run = read_run(source)
        if run.name in wanted:
            out[run.name] = {t: _first(judgments, run, t, limit) for t in wanted[run.name]}
    return out


def _first(judgments: Qrels, run: Run, topic: str, limit: int) -> list[str]:
    if topic not in run.topics:
        return []
    judged: set[str] = set()
    if topic in judgments.topics:
        i = judgments.topics.index(topic)
        begin, end = int(judgments.offsets[i]), int(judgments.offsets[i + 1])
        judged = set(judgments.documents.strings(begin, end))
    i = run.topics.index(topic)
    begin, end = int(run.offsets[i]), int(run.offsets[i + 1])
    documents = run.documents.strings(begin, end)
    scores = run.scores[begin:end]
    # trec_eval's order: score descending, then document id descending
    order = sorted(range(len(documents)), key=lambda k: documents[k], reverse=True)
    order = [order[k] for k in np.argsort(-scores[order], kind="stable")]
    return [documents[k] for k in order if documents[k] not in judged][:limit]
