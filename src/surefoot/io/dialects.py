"""Judgments and runs as tables, frames or records, in the three spellings of their columns."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from surefoot.data.documents import Documents
from surefoot.errors import InputError, ParseError
from surefoot.io.faults import shown
from surefoot.io.sources import Source
from surefoot.io.tables import Table, cells, delimiter_of, frame_table, table_of
from surefoot.kernels import text as kernel

# ir_measures, PyTerrier, ranx, and our own spelling
_TOPIC = ("query_id", "qid", "q_id", "topic", "query-id")
_DOCUMENT = ("doc_id", "docno", "doc", "document", "docid", "corpus-id")
_VALUE = {
    "judgments": ("relevance", "label", "grade", "rel", "relevant", "judgment", "score"),
    "run": ("score",),
}


def is_table(source: Source) -> bool:
    """Whether a file's first line is the header of a table of judgments or retrieved documents."""
    if source.is_parquet:
        return True
    line = source.first_line().decode("utf-8", "replace").strip()
    if line[:1] == "{":
        return any(f'"{name}"' in line for name in _TOPIC)
    if not line or len(line) > 1000:
        return False
    header = [cell.strip().strip('"').lower() for cell in cells(line, delimiter_of(line))]
    return any(h in _TOPIC for h in header) and any(h in _DOCUMENT for h in header)


def keep_table(source: Source, kind: str, duplicates: str) -> kernel.Keeper:
    """Read a table from a file."""
    return _keep(table_of(source), kind, duplicates)


def from_object(source: Any, kind: str, duplicates: str) -> kernel.Keeper:
    """Read a data frame, ranx' Qrels or Run, or records such as ir_measures' namedtuples."""
    what = "the judgments" if kind == "judgments" else "the run"
    to_dict = getattr(source, "to_dict", None)
    if type(source).__module__.partition(".")[0] == "ranx" and callable(to_dict):
        rows = [(t, d, v) for t, by_document in to_dict().items() for d, v in by_document.items()]
        columns = dict(zip(("query_id", "doc_id", "score"), zip(*rows, strict=True), strict=True))
        return _keep(Table(what, columns), kind, duplicates)
    table = frame_table(source, what)
    if table is None:
        table = _records(source, what, kind)
    return _keep(table, kind, duplicates)


def is_record(item: Any) -> bool:
    """Whether it is one retrieved document, as ir_measures.ScoredDoc, and no frame of many."""
    return hasattr(item, "doc_id") and hasattr(item, "score") and not hasattr(item, "columns")


def _records(source: Any, what: str, kind: str) -> Table:
    """Objects with fields, as ir_measures.Qrel and ir_measures.ScoredDoc."""
    fields = ("query_id", "doc_id", "relevance" if kind == "judgments" else "score")
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        rows = list(source)
        if rows and all(all(hasattr(row, f) for f in fields) for row in rows):
            return Table(what, {f: [getattr(row, f) for row in rows] for f in fields})
        if not rows:
            raise InputError(f"{what} are empty" if kind == "judgments" else f"{what} is empty")
    raise InputError(
        f"{what} cannot be a {type(source).__name__}. "
        "Hint: a path, a dict of dicts, a data frame, or ir_measures' or ranx' objects"
    )


def _keep(table: Table, kind: str, duplicates: str) -> kernel.Keeper:
    """Rows of a table into a keeper, which groups them and looks for duplicates."""
    topic = _column(table, _TOPIC, "topic", kind)
    document = _column(table, _DOCUMENT, "document", kind)
    value = _column(table, _VALUE[kind], "grade" if kind == "judgments" else "score", kind)
    if not len(table):
        raise InputError(f"{table.name}: the table has no rows")
    topics, documents = Documents.pack(table.names(topic)), Documents.pack(table.names(document))
    values = np.array(table.numbers(value, missing=False))
    make = kernel.qrels_keeper if kind == "judgments" else kernel.run_keeper
    keeper = make(duplicates)
    rank = next((c for c in table.columns if c.strip().lower() == "rank"), None)
    if kind == "run" and rank is not None:
        ranks = np.array(table.numbers(rank, missing=False))
    else:
        ranks = np.arange(1.0, len(values) + 1.0)
    try:
        keeper.add_rows(topics.block, topics.ends, documents.block, documents.ends, values, ranks)
        keeper.finish()
    except kernel.TextError as error:
        _, row, text, owner, _ = error.args
        message = f"document {shown(text)} occurs twice for topic {shown(owner)}"
        hint = ". Hint: remove one, or keep one with duplicates 'first' or 'last'"
        raise table.fault(row - 1, message + hint) from None
    return keeper


def _column(table: Table, choices: tuple[str, ...], role: str, kind: str) -> str:
    found = [c for name in choices for c in table.columns if c.strip().lower() == name]
    if found:
        return found[0]
    what = "judgments" if kind == "judgments" else "a run"
    message = (
        f"the table has no {role} column for {what} among {', '.join(map(repr, table.columns))}. "
        f"Hint: call it {' or '.join(map(repr, choices[:3]))}"
    )
    if table.lines:
        raise ParseError(table.name, 1, message)
    raise InputError(f"{table.name}: {message}")
