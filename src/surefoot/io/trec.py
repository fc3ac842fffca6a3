"""TREC judgments and runs: files, dicts and data frames to data, and the join of the two."""

import bz2
import gzip
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.qrels import Qrels
from surefoot.data.rankings import TIES, JudgedRankings
from surefoot.data.run import Run
from surefoot.errors import InputError, ParseError


def read_qrels(source: Any, *, duplicates: str = "error") -> Qrels:
    """Read judgments.

    Parameters
    ----------
    source : path, "-", Qrels or ``{topic: {document: grade}}``
        A TREC file has the columns topic, iteration, document, grade.
    duplicates : "error", "first" or "last"
        What to do where a document is judged twice for a topic.
    """
    if isinstance(source, Qrels):
        return source
    if isinstance(source, Mapping):
        return Qrels.from_dict(source)
    path = os.fspath(source)
    table: dict[str, dict[str, float]] = {}
    for number, fields in _lines(path):
        if len(fields) != 4:
            raise ParseError(path, number, f"has {len(fields)} fields, not 4")
        _insert(
            table, fields[0], fields[2], _number(path, number, fields[3]), duplicates, path, number
        )
    if not table:
        raise InputError(f"{path}: the file has no judgments")
    return Qrels.from_dict(table, name=path)


def read_run(source: Any, *, duplicates: str = "error") -> Run:
    """Read a run.

    Parameters
    ----------
    source : path, "-", Run or ``{topic: {document: score}}``
        A TREC file has the columns topic, iteration, document, rank, score, tag.
    duplicates : "error", "first" or "last"
        What to do where a document is retrieved twice for a topic.
    """
    if isinstance(source, Run):
        return source
    if isinstance(source, Mapping):
        return Run.from_dict(source)
    path = os.fspath(source)
    table: dict[str, dict[str, float]] = {}
    ranks: dict[str, dict[str, float]] = {}
    tag = ""
    for number, fields in _lines(path):
        if len(fields) not in (5, 6):
            raise ParseError(path, number, f"has {len(fields)} fields, not 6")
        topic, _, document, rank, score = fields[:5]
        tag = fields[5] if len(fields) == 6 else ""
        _insert(table, topic, document, _number(path, number, score), duplicates, path, number)
        _insert(ranks, topic, document, _number(path, number, rank), duplicates, path, number)
    if not table:
        raise InputError(f"{path}: the file has no retrieved documents")
    run = Run.from_dict(table, name=run_name(path), tag=tag)
    flat = [r for by_document in ranks.values() for r in by_document.values()]
    run.ranks[:] = flat
    return run


def run_name(path: str) -> str:
    """A run's name: its file's, without folder and endings."""
    name = Path(path).name
    for ending in (".gz", ".bz2", ".zst"):
        name = name.removesuffix(ending)
    for ending in (".run", ".txt", ".trec", ".res"):
        name = name.removesuffix(ending)
    return name or path


def judge_run(
    qrels: Any,
    run: Any,
    *,
    ties: str = "trec",
    depth: int = 0,
    duplicates: str = "error",
    threads: int = 1,
) -> JudgedRankings:
    """Join one run with the judgments and put it in rank order.

    Parameters
    ----------
    qrels, run
        Anything that `read_qrels` and `read_run` take.
    ties : "trec", "file", "rank" or "docid"
        Order by score descending, equal scores by document id descending ("trec", bytes compared),
        ascending ("docid") or as in the file ("file"); "rank" orders by the rank column instead.
    depth : int
        Keep the first `depth` documents of each topic; 0 keeps all.
    duplicates : "error", "first" or "last"
        What to do where a document is retrieved twice for a topic.
    threads : int
        0 for all cores.
    """
    if ties not in TIES:
        raise InputError(f"ties must be one of {', '.join(TIES)}, but got {ties!r}")
    if depth < 0:
        raise InputError(f"depth must be an integer not less than 0, but got {depth}")
    qrels = read_qrels(qrels, duplicates=duplicates)
    run = read_run(run, duplicates=duplicates)
    retrieved = run.to_dict()
    judged = qrels.to_dict()
    rank_of: dict[str, dict[str, float]] = {}
    for i, topic in enumerate(run.topics):
        rows = slice(int(run.offsets[i]), int(run.offsets[i + 1]))
        rank_of[topic] = dict(zip(retrieved[topic], run.ranks[rows].tolist(), strict=True))
    ids: list[list[str]] = []
    for topic in qrels.topics:
        scores = retrieved.get(topic, {})
        order = list(scores)
        if ties == "trec":
            order.sort(
                key=lambda d: (scores[d], d.encode("utf-8", "surrogateescape")), reverse=True
            )
        elif ties == "docid":
            order.sort(key=lambda d: (-scores[d], d.encode("utf-8", "surrogateescape")))
        elif ties == "file":
            order.sort(key=lambda d: -scores[d])
        else:
            order.sort(key=rank_of[topic].__getitem__ if scores else None)
        ids.append(order[:depth] if depth else order)
    nothing: dict[str, float] = {}
    judged_grades = [sorted(judged[t].values(), reverse=True) for t in qrels.topics]
    return JudgedRankings(
        qrels.topics,
        np.concatenate([[0], np.cumsum([len(i) for i in ids])]).astype(np.int64),
        np.array(
            [judged[t].get(d, np.nan) for t, i in zip(qrels.topics, ids, strict=True) for d in i]
        ),
        np.array(
            [
                retrieved.get(t, nothing)[d]
                for t, i in zip(qrels.topics, ids, strict=True)
                for d in i
            ]
        ),
        np.array([t in retrieved for t in qrels.topics], dtype=np.bool_),
        qrels.offsets,
        np.array([g for grades in judged_grades for g in grades]),
        qrels.max_grade,
        name=run.name,
        tag=run.tag,
        ties=ties,
        depth=depth,
        extra_topics=sum(t not in judged for t in run.topics),
        read_ids=lambda: ids,
    )


def judge_runs(
    qrels: Any,
    runs: Sequence[Any],
    *,
    ties: str = "trec",
    depth: int = 0,
    duplicates: str = "error",
    threads: int = 0,
) -> list[JudgedRankings]:
    """Join several runs with the judgments; see `judge_run`. Parallel over runs."""
    qrels = read_qrels(qrels, duplicates=duplicates)
    return [
        judge_run(qrels, run, ties=ties, depth=depth, duplicates=duplicates, threads=threads)
        for run in runs
    ]


def _lines(path: str) -> list[tuple[int, list[str]]]:
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    elif raw[:3] == b"BZh":
        raw = bz2.decompress(raw)
    text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    rows = [(number, line.split()) for number, line in enumerate(text.split("\n"), start=1)]
    return [(number, fields) for number, fields in rows if fields]


def _number(path: str, line: int, text: str) -> float:
    try:
        if "_" in text:
            raise ValueError
        value = float(text)
    except ValueError:
        raise ParseError(path, line, f"is not a number: {text!r}") from None
    if not np.isfinite(value):
        raise ParseError(path, line, f"is not a finite number: {text!r}")
    return value


def _insert(
    table: dict[str, dict[str, float]],
    topic: str,
    document: str,
    value: float,
    duplicates: str,
    path: str,
    line: int,
) -> None:
    row = table.setdefault(topic, {})
    if document in row:
        if duplicates == "error":
            raise ParseError(path, line, f"document {document!r} occurs twice for topic {topic!r}")
        if duplicates == "first":
            return
    row[document] = value
