"""TREC text, read line by line in plain Python: slow, and the measure of cpp/text_*.hpp."""

import math
import re
from collections.abc import Iterator

# bytes that separate fields, and those that no text has
_BLANKS = b" \t\v\f\r"
_CONTROL = bytes(c for c in range(0x20) if c not in b" \t\n\v\f\r")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

Row = tuple[str, str, float, float]


class BadLineError(Exception):
    """A line that cannot be read, by its number."""


def read_lines(data: bytes, *, n_fields: int) -> list[Row]:
    """Rows (topic, document, value, rank) of judgments (4 fields) or of a run (6 fields)."""
    rows = []
    for line_number, fields in _lines(data):
        words_behind = n_fields == 6 and len(fields) > 6 and not _is_number(fields[5])
        if len(fields) != n_fields and not words_behind:
            raise BadLineError(line_number)
        value = _number(fields[4 if n_fields == 6 else 3], line_number)
        rank = _number(fields[3], line_number) if n_fields == 6 else 0.0
        topic, document = (f.decode("utf-8", "surrogateescape") for f in (fields[0], fields[2]))
        rows.append((topic, document, value, rank))
    return rows


def group(rows: list[Row], *, duplicates: str) -> dict[str, dict[str, tuple[float, float]]]:
    """``{topic: {document: (value, rank)}}`` in order of first appearance."""
    table: dict[str, dict[str, tuple[float, float]]] = {}
    for topic, document, value, rank in rows:
        row = table.setdefault(topic, {})
        if document in row:
            if duplicates == "error":
                raise BadLineError(document)
            if duplicates == "first":
                continue
        row[document] = (value, rank)
    return table


def order(documents: dict[str, tuple[float, float]], *, ties: str) -> list[str]:
    """Documents of one topic in rank order."""

    def by_id(document: str) -> bytes:
        return document.encode("utf-8", "surrogateescape")

    names = list(documents)
    if ties == "rank":
        return sorted(names, key=lambda d: documents[d][1])
    if ties == "trec":
        names.sort(key=by_id, reverse=True)
    elif ties == "docid":
        names.sort(key=by_id)
    return sorted(names, key=lambda d: -documents[d][0])


def _lines(data: bytes) -> Iterator[tuple[int, list[bytes]]]:
    for line_number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if any(c in _CONTROL for c in line) or re.search(rb"\r[ \t\v\f\r]*[^ \t\v\f\r]", line):
            raise BadLineError(line_number)
        fields = [f for f in re.split(rb"[ \t\v\f\r]+", line) if f]
        if fields:
            yield line_number, fields


def _is_number(field: bytes) -> bool:
    return bool(_NUMBER.fullmatch(field)) and math.isfinite(float(field))


def _number(field: bytes, line_number: int) -> float:
    if not _is_number(field):
        raise BadLineError(line_number)
    return float(field)
