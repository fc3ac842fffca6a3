"""Tables of gains by rank: ``system, topic, rank, score``."""

import csv
import os
from typing import Any

import numpy as np

from surefoot.errors import InputError, ParseError
from surefoot.io.scores import _read_text
from surefoot.results.posterior import RankGains

_COLUMNS = ("system", "topic", "rank", "score")


def read_gains(source: Any) -> RankGains:
    """Read per-rank gains from a CSV or TSV file, or any frame that narwhals understands."""
    if isinstance(source, RankGains):
        return source
    if not isinstance(source, (str, os.PathLike)):
        import narwhals as nw

        try:
            frame = nw.from_native(source, eager_only=True)
        except TypeError:
            raise InputError(
                f"gains by rank cannot be a {type(source).__name__}. "
                "Hint: a table with the columns system, topic, rank, score"
            ) from None
        return _from_columns({n: frame[n].to_list() for n in frame.columns}, "the data frame")
    path = str(source)
    lines = _read_text(path).splitlines()
    if not lines:
        raise InputError(f"{path}: the table is empty")
    delimiter = "\t" if "\t" in lines[0] else ","
    rows = csv.reader(lines, delimiter=delimiter)
    header = [name.strip().lower() for name in next(rows)]
    columns: dict[str, list[Any]] = {name: [] for name in header}
    for number, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise ParseError(
                path, number, f"has {len(row)} fields where the header has {len(header)}"
            )
        for name, value in zip(header, row, strict=True):
            columns[name].append(value)
    return _from_columns(columns, path)


def _from_columns(columns: dict[str, list[Any]], path: str) -> RankGains:
    missing = [name for name in _COLUMNS if name not in columns]
    if missing:
        raise InputError(
            f"{path}: has no column {', '.join(missing)}. "
            "Hint: family zoib_rank reads system, topic, rank, score"
        )
    systems, system = _codes([str(v) for v in columns["system"]])
    topics, topic = _codes([str(v) for v in columns["topic"]])
    numbers = {}
    for name in ("rank", "score"):
        try:
            numbers[name] = np.array([float(v) for v in columns[name]])
        except (TypeError, ValueError):
            raise InputError(f"{path}: column {name} holds something that is no number") from None
        bad = np.flatnonzero(~np.isfinite(numbers[name]))
        if bad.size:
            raise ParseError(path, int(bad[0]) + 2, f"{name} is not finite")
    return RankGains(systems, topics, system, topic, numbers["rank"], numbers["score"])


def _codes(names: list[str]) -> tuple[tuple[str, ...], Any]:
    index: dict[str, int] = {}
    codes = np.fromiter((index.setdefault(n, len(index)) for n in names), np.int64, len(names))
    return tuple(index), codes
