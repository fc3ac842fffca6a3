"""Where a study stands, and its rows for an audit."""

import json
import os
from typing import Any

from surefoot.active.answers import agreed_grades, last_words
from surefoot.active.store.study import Study
from surefoot.errors import InputError
from surefoot.results.active_tasks import ExportResult, StatusResult
from surefoot.results.record import Column

KINDS = ("draws", "labels", "grades", "disagreements", "queries")


def status(study: str | os.PathLike[str] | Study) -> StatusResult:
    """Budget, draws, labellers and how far they agree."""
    opened = study if isinstance(study, Study) else Study(study)
    settings, now_at = opened.settings, opened.progress()
    labels = opened.labels()
    by_labeller: dict[str, int] = {}
    pairs = agreed = 0
    opinions = last_words(labels)
    corrections = len(labels) - sum(len(said) for said in opinions.values())
    for row in labels:
        by_labeller[row.labeller] = by_labeller.get(row.labeller, 0) + 1
    for said in opinions.values():
        grades = list(said.values())
        for i, one in enumerate(grades):
            for other in grades[i + 1 :]:
                pairs += 1
                agreed += one == other
    facts: dict[str, object] = {
        "measure": settings["measure"],
        "rankings": ", ".join(settings["rankings"]),
        "queries in the pool": now_at.topics,
        "variant": settings["variant"],
        "design": settings["design"],
        "draws": now_at.draws,
        "queries drawn": now_at.drawn,
        "queries labelled": now_at.labelled,
        "cost": settings["cost"],
        "budget": now_at.budget,
        "spent": now_at.spent,
        "labels": len(labels),
        "corrections": corrections,
        "documents with several labellers": sum(len(s) > 1 for s in opinions.values()),
        "agreement of labellers": agreed / pairs if pairs else None,
        "nothing left because": now_at.ended or None,
    }
    if settings["price"] is not None:
        unit = f" {settings['currency']}".rstrip()
        facts[f"spent{unit}"] = now_at.spent * settings["price"]
        facts[f"budget{unit}"] = now_at.budget * settings["price"]
    for name, count in sorted(by_labeller.items()):
        facts[f"labels by {name or '(unnamed)'}"] = count
    left = max(now_at.budget - now_at.spent, 0.0)
    return StatusResult(
        settings=_shown(opened),
        headline=(
            f"{now_at.labelled} of {now_at.drawn} drawn queries are labelled; "
            f"{left:.2f} of the budget of {now_at.budget:g} is left.",
        ),
        field_names=tuple(facts),
        field_values=tuple(facts.values()),
    )


def export(study: str | os.PathLike[str] | Study, kind: str = "draws") -> ExportResult:
    """All rows of one kind.

    Parameters
    ----------
    kind : str
        ``draws``: every draw with its probability, from which Eq. 6 can be recomputed; ``labels``:
        every label as given, corrections included; ``grades``: the grade in force of every
        document, as qrels need it; ``disagreements``: documents that labellers see differently;
        ``queries``: how every drawn query was sampled.
    """
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    opened = study if isinstance(study, Study) else Study(study)
    draws = opened.draws()
    labels = opened.labels()
    numbers = sorted({d.topic for d in draws} | {row.topic for row in labels})
    rows = {row.number: row for row in opened.topics(numbers)}
    docs = {number: json.loads(row.docs) for number, row in rows.items()}
    table: dict[str, Column]
    if kind == "draws":
        table = {
            "draw": [d.number for d in draws],
            "topic": [rows[d.topic].topic for d in draws],
            "p": [rows[d.topic].p for d in draws],
            "q": [d.q for d in draws],
            "uniform": [d.uniform for d in draws],
            "cost": [d.charged for d in draws],
            "labelled": [d.complete for d in draws],
        }
    elif kind == "labels":
        table = {
            "topic": [rows[e.topic].topic for e in labels],
            "doc": [docs[e.topic][e.doc] for e in labels],
            "grade": [e.grade for e in labels],
            "labeller": [e.labeller for e in labels],
            "source": [e.source for e in labels],
            "recorded": [e.recorded for e in labels],
        }
    elif kind == "grades":
        flat = [
            (rows[topic].topic, docs[topic][doc], grade)
            for topic, by_doc in sorted(agreed_grades(labels).items())
            for doc, grade in sorted(by_doc.items())
        ]
        table = {
            "topic": [f[0] for f in flat],
            "doc": [f[1] for f in flat],
            "grade": [f[2] for f in flat],
        }
    elif kind == "disagreements":
        table = _disagreements(labels, rows, docs)
    else:
        table = _queries(opened, rows)
    return ExportResult(
        settings={**_shown(opened), "kind": kind},
        headline=(f"{len(next(iter(table.values())))} {kind}.",),
        table=table,
    )


def _shown(study: Study) -> dict[str, Any]:
    """Settings for readers, without what only intervals need."""
    return {k: v for k, v in study.settings.items() if k != "sequence"}


def _disagreements(
    labels: list[Any], rows: dict[int, Any], docs: dict[int, list[str]]
) -> dict[str, Column]:
    """Documents with different grades, the widest apart first."""
    in_force = agreed_grades(labels)
    apart = [
        (topic, doc, said)
        for (topic, doc), said in last_words(labels).items()
        if len(set(said.values())) > 1
    ]
    apart.sort(key=lambda a: (min(a[2].values()) - max(a[2].values()), a[0], a[1]))
    return {
        "topic": [rows[topic].topic for topic, _, _ in apart],
        "doc": [docs[topic][doc] for topic, doc, _ in apart],
        "grade": [in_force[topic][doc] for topic, doc, _ in apart],
        "lowest": [min(said.values()) for _, _, said in apart],
        "highest": [max(said.values()) for _, _, said in apart],
        "said": [
            " ".join(f"{name or '(unnamed)'}={grade}" for name, grade in said.items())
            for _, _, said in apart
        ],
    }


def _queries(study: Study, rows: dict[int, Any]) -> dict[str, Column]:
    table: dict[str, Column] = {
        "topic": [r.topic for r in rows.values()],
        "p": [r.p for r in rows.values()],
        "q": [r.q for r in rows.values()],
        "cost": [r.cost for r in rows.values()],
        "priority": [r.priority for r in rows.values()],
    }
    for i, name in enumerate(study.settings["rankings"]):
        table[f"expected[{name}]"] = [json.loads(r.expected)[i] for r in rows.values()]
    return table
