"""Taking labels in: all labels of a call are kept, or none."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.active.store import schema
from surefoot.active.store.connect import sqlalchemy
from surefoot.active.store.create import now
from surefoot.active.store.study import Study
from surefoot.io.labels import Label

select = sqlalchemy.select


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of the labels of one call."""

    stored: int
    corrected: int
    unchanged: int
    elsewhere: int  # of topics or documents that the study does not ask about
    completed: int


def take_labels(study: Study, labels: Sequence[Label], *, source: str) -> Taken:
    """Store labels, then record the draws that they answer.

    A label that its labeller gave before in the same words is not stored again, so a file can be
    given twice; one that differs is stored as a correction beside the old one.
    """
    by_topic: dict[str, list[Label]] = {}
    for label in labels:
        by_topic.setdefault(label.topic, []).append(label)
    stored = corrected = unchanged = elsewhere = completed = 0
    stamp = now()
    with study.database.writing() as connection:
        for names in _pieces(list(by_topic)):
            found = {row.topic: row for row in _topics(connection, study.number, names)}
            history = _latest(connection, study.number, [row.number for row in found.values()])
            rows, finished = [], []
            for name in names:
                row = found.get(name)
                if row is None:
                    elsewhere += len(by_topic[name])
                    continue
                docs = json.loads(row.docs)
                place = {doc: i for i, doc in enumerate(docs)}
                known = history.setdefault(row.number, {})
                before = len({doc for doc, _ in known})
                for label in by_topic[name]:
                    if label.doc not in place:
                        elsewhere += 1
                        continue
                    key = (place[label.doc], label.labeller)
                    if known.get(key) == label.grade:
                        unchanged += 1
                        continue
                    corrected += key in known
                    stored += 1
                    known[key] = label.grade
                    rows.append(
                        {
                            "study": study.number,
                            "topic": row.number,
                            "doc": key[0],
                            "grade": label.grade,
                            "labeller": label.labeller,
                            "source": source,
                            "recorded": stamp,
                        }
                    )
                if before < len(docs) == len({doc for doc, _ in known}):
                    finished.append(row.number)
            if rows:
                connection.execute(schema.label.insert(), rows)
            if finished:
                completed += len(finished)
                connection.execute(
                    schema.complete.insert(),
                    [{"study": study.number, "topic": n, "recorded": stamp} for n in finished],
                )
        if completed:
            study.advance(connection)
    return Taken(stored, corrected, unchanged, elsewhere, completed)


def _topics(connection: Any, study: int, names: Sequence[str]) -> Any:
    t = schema.topic.c
    return connection.execute(
        select(t.number, t.topic, t.docs).where(t.study == study, t.topic.in_(names))
    )


def _latest(
    connection: Any, study: int, numbers: Sequence[int]
) -> dict[int, dict[tuple[int, str], int]]:
    """Topic -> (document, labeller) -> the grade that labeller gave last."""
    entry = schema.label.c
    rows = connection.execute(
        select(entry.topic, entry.doc, entry.labeller, entry.grade)
        .where(entry.study == study, entry.topic.in_(numbers))
        .order_by(entry.id)
    )
    out: dict[int, dict[tuple[int, str], int]] = {}
    for row in rows:
        out.setdefault(row.topic, {})[row.doc, row.labeller] = row.grade
    return out


def _pieces(names: Sequence[str], size: int = 500) -> Iterable[Sequence[str]]:
    return (names[i : i + size] for i in range(0, len(names), size))
