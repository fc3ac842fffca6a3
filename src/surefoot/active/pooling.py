"""Runs to a pool: what every ranking shows for every query, as `plan` reads it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.data.run import Run
from surefoot.errors import InputError
from surefoot.io.trec import read_run
from surefoot.results.active_pool import PoolResult


def pool(runs: Any, *, depth: int | None = None) -> PoolResult:
    """Join runs to a pool of unlabelled queries.

    Parameters
    ----------
    runs : run, sequence of runs, or ``{name: run}``
        Each a path, `Run`, ``{topic: {document: score}}`` or data frame.
    depth : int, optional
        Keep the first documents of each ranking only.

    Returns
    -------
    PoolResult
        A row a ranked document; `plan` reads it as it is. `score` is standardised within each
        query and ranking, so that scores of different rankers can be averaged for the model of
        relevance ``scores``.
    """
    if depth is not None and depth < 1:
        raise InputError(f"depth must be at least 1, got {depth}")
    read = _named(runs)
    names = [run.name for run in read]
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise InputError(
            f"two runs have the name {repeated[0]!r}. Hint: rename a file, or give {{name: run}}"
        )
    table: dict[str, list[Any]] = {k: [] for k in ("topic", "ranking", "rank", "doc", "score")}
    topics = list(dict.fromkeys(t for run in read for t in run.topics))
    place = [{t: i for i, t in enumerate(run.topics)} for run in read]
    for topic in topics:
        for run, where in zip(read, place, strict=True):
            if topic in where:
                _append(table, run, where[topic], topic, depth)
    common = set(topics).intersection(*(set(run.topics) for run in read))
    lines = [f"{len(topics)} queries, {len(read)} rankings ({', '.join(names)})."]
    if len(common) < len(topics):
        lines.append(
            f"{len(topics) - len(common)} queries are not in every run; a ranking shows nothing "
            "for those that it lacks."
        )
    return PoolResult(
        settings={"rankings": names, "depth": depth, "topics": len(topics)},
        headline=tuple(lines),
        table=table,
    )


def _named(runs: Any) -> list[Run]:
    """The runs, each under its name."""
    if isinstance(runs, Mapping) and runs:
        inner = next(iter(runs.values()))
        nested = not isinstance(inner, Mapping) or isinstance(
            next(iter(inner.values()), None), Mapping
        )
        if nested:
            return [
                _renamed(read_run(run, name=str(name)), str(name)) for name, run in runs.items()
            ]
    listed = runs if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]
    if not listed:
        raise InputError("there is no run to make a pool of")
    return [read_run(run) for run in listed]


def _renamed(run: Run, name: str) -> Run:
    from dataclasses import replace

    return replace(run, name=name)


def _append(
    table: dict[str, list[Any]], run: Run, number: int, topic: str, depth: int | None
) -> None:
    """The rows of one query of one run, best first."""
    begin, end = int(run.offsets[number]), int(run.offsets[number + 1])
    score = run.scores[begin:end]
    names = run.documents.strings(begin, end)
    # trec_eval's order: score, then document id, both descending
    order = sorted(range(end - begin), key=lambda i: (score[i], names[i]), reverse=True)[:depth]
    spread = float(score.std())
    scaled = (score - score.mean()) / spread if spread > 0 else np.zeros(len(score))
    table["topic"] += [topic] * len(order)
    table["ranking"] += [run.name] * len(order)
    table["rank"] += range(1, len(order) + 1)
    table["doc"] += [names[i] for i in order]
    table["score"] += [round(float(scaled[i]), 6) for i in order]
