"""Relevance labels from judgments, tables or Python."""

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from surefoot.data.qrels import Qrels
from surefoot.errors import InputError, ParseError
from surefoot.io.sources import read_text


@dataclass(frozen=True, slots=True)
class Label:
    """One grade that one labeller gave to one document."""

    topic: str
    doc: str
    grade: int
    labeller: str = ""


def read_labels(source: Any, *, top: int | None = None, labeller: str = "") -> list[Label]:
    """Read labels.

    Parameters
    ----------
    source : path, "-", Qrels, ``{topic: {doc: grade}}``, data frame or iterable of `Label`
        A file is qrels (topic, iteration, document, grade, no header) or a CSV or TSV table with
        the header ``topic, doc, grade[, labeller]``.
    top : int, optional
        Largest grade allowed. Grades below 0 (spam in TREC judgments) count as 0.
    labeller : str
        Who gave the labels that do not name their labeller.
    """
    if isinstance(source, (str, os.PathLike)):
        path = str(source)
        rows = _from_text(path)
    else:
        path, rows = "the labels", _from_python(source)
    labels = []
    for line, topic, doc, text, name in rows:
        try:
            grade = _grade(text, top)
        except ValueError as error:
            if line:
                raise ParseError(path, line, str(error)) from None
            raise InputError(f"{path}: topic {topic!r}, doc {doc!r}: {error}") from None
        labels.append(Label(topic, doc, grade, name or labeller))
    return labels


Row = tuple[int, str, str, Any, str]


def _from_text(path: str) -> Iterator[Row]:
    text = read_text(path)
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        raise InputError(f"{path}: has no labels")
    head = next(line for line in lines if line.strip())
    delimiter = "\t" if "\t" in head else ","
    names = [c.strip().casefold() for c in head.split(delimiter)]
    if "topic" in names and delimiter in head:
        yield from _from_table(path, lines, delimiter, names)
        return
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 4:
            raise ParseError(
                path,
                number,
                f"has {len(fields)} fields. Hint: labels are qrels (topic 0 doc grade) or a table "
                "with the header topic,doc,grade[,labeller]",
            )
        yield number, fields[0], fields[2], fields[3], ""


def _from_table(path: str, lines: list[str], delimiter: str, names: list[str]) -> Iterator[Row]:
    missing = [c for c in ("topic", "doc", "grade") if c not in names]
    if missing:
        raise InputError(
            f"{path}: a table of labels needs the columns topic, doc, grade; "
            f"missing: {', '.join(missing)}"
        )
    topic, doc, grade = (names.index(c) for c in ("topic", "doc", "grade"))
    by = names.index("labeller") if "labeller" in names else None
    reader = csv.reader(lines, delimiter=delimiter)
    header_seen = False
    for row in reader:
        if not row or not any(cell.strip() for cell in row):
            continue
        if not header_seen:
            header_seen = True
            continue
        if len(row) != len(names):
            raise ParseError(
                path,
                reader.line_num,
                f"has {len(row)} cells where the header has {len(names)}",
            )
        name = "" if by is None else row[by].strip()
        yield reader.line_num, row[topic].strip(), row[doc].strip(), row[grade].strip(), name


def _from_python(source: Any) -> Iterator[Row]:
    if isinstance(source, Qrels):
        source = source.to_dict()
    if isinstance(source, Mapping):
        for topic, by_doc in source.items():
            for doc, grade in by_doc.items():
                yield 0, str(topic), str(doc), grade, ""
        return
    if hasattr(source, "columns"):
        import narwhals

        frame = narwhals.from_native(source, eager_only=True)
        missing = [c for c in ("topic", "doc", "grade") if c not in frame.columns]
        if missing:
            raise InputError(f"the labels lack the columns {', '.join(missing)}")
        named = "labeller" in frame.columns
        for row in frame.iter_rows(named=True):
            name = str(row["labeller"]) if named and row["labeller"] is not None else ""
            yield 0, str(row["topic"]), str(row["doc"]), row["grade"], name
        return
    if not isinstance(source, Iterable):
        raise _no_labels(source)
    for label in source:
        if not isinstance(label, Label):
            raise _no_labels(label)
        yield 0, label.topic, label.doc, label.grade, label.labeller


def _no_labels(got: Any) -> InputError:
    return InputError(
        "labels are a path, Qrels, {topic: {document: grade}}, a data frame with topic, doc and "
        f"grade, or Label objects, but got {type(got).__name__}"
    )


def _grade(value: Any, top: int | None) -> int:
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        number = float("nan")
    if not number.is_integer():
        raise ValueError(f"the grade {value!r} is not a whole number")
    if top is not None and number > top:
        raise ValueError(f"the grade {value} is above the study's largest grade, {top}")
    return max(int(number), 0)
