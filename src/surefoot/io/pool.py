"""Pools of unlabelled queries from tables, in blocks of queries so that memory stays bounded."""

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.pool import Pool
from surefoot.errors import InputError, ParseError
from surefoot.extras import require
from surefoot.io.sources import Source

FloatArray = npt.NDArray[np.float64]
Columns = Mapping[str, Sequence[Any]]

REQUIRED = ("topic", "ranking", "rank", "doc")
_TOLERANCE = 1e-3


def read_pool(source: Any, *, grades: int | None = None) -> Pool:
    """Read a whole pool.

    Parameters
    ----------
    source : path, "-", Pool, mapping of columns or data frame
        ``topic, ranking, rank, doc[, p0, ..., pK]`` and further numeric columns.
    grades : int, optional
        Number of grades K + 1 when there are no columns ``p0, ..., pK``.
    """
    if isinstance(source, Pool):
        return source
    if isinstance(source, (str, os.PathLike)):
        parts = list(_chunks(str(source)))
        columns = {k: [v for part in parts for v in part[k]] for k in parts[0]}
        return build_pool(columns, name=str(source), grades=grades)
    if not isinstance(source, Mapping):
        import narwhals

        try:
            source = narwhals.from_native(source, eager_only=True).to_dict(as_series=False)
        except TypeError:
            raise InputError(
                "a pool is a path, a mapping of columns or a data frame, but got "
                f"{type(source).__name__}"
            ) from None
    return build_pool(source, name="the pool", grades=grades)


def read_pool_blocks(
    source: Any, *, grades: int | None = None, rows_per_block: int = 50_000
) -> Iterator[Pool]:
    """Read a pool block by block of whole topics; every block knows the same rankings.

    A file whose rows are not grouped by topic (all of one ranking, then all of the other) cannot be
    read in blocks and is held in memory as one.
    """
    if isinstance(source, Pool) or not isinstance(source, (str, os.PathLike)) or source == "-":
        yield read_pool(source, grades=grades)
        return
    path = str(source)
    survey = _survey(path)
    if survey is None:
        yield read_pool(path, grades=grades)
        return
    carry: dict[str, list[Any]] | None = None
    for chunk in _chunks(path):
        if carry is None:
            carry = {k: list(v) for k, v in chunk.items()}
        else:
            for k, v in chunk.items():
                carry[k].extend(v)
        topic = carry["topic"]
        if len(topic) < rows_per_block or topic[0] == topic[-1]:
            continue
        # the last topic may go on in the next chunk
        end = len(topic) - 1
        while topic[end - 1] == topic[-1]:
            end -= 1
        block = {k: v[:end] for k, v in carry.items()}
        yield build_pool(block, name=path, grades=grades, rankings=survey)
        carry = {k: v[end:] for k, v in carry.items()}
    if carry is not None:
        yield build_pool(carry, name=path, grades=grades, rankings=survey)


def _survey(path: str) -> tuple[str, ...] | None:
    """The rankings of a file that is grouped by topic; None if it is not."""
    rankings: dict[str, None] = {}
    seen: set[str] = set()
    last: str | None = None
    for chunk in _chunks(path):
        rankings.update(dict.fromkeys(map(str, chunk["ranking"])))
        for topic in chunk["topic"]:
            if topic != last:
                if topic in seen:
                    return None
                seen.add(topic)
                last = topic
    return tuple(rankings)


def _chunks(path: str, rows: int = 50_000) -> Iterator[dict[str, list[Any]]]:
    """Columns of text, some rows at a time; a Parquet file by its batches."""
    source = Source(path)
    if source.is_parquet and source.is_plain_file:
        parquet = require("pyarrow.parquet", purpose="reading Parquet")
        try:
            batches = parquet.ParquetFile(path).iter_batches(rows)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        for batch in batches:
            yield _require_columns(batch.to_pydict(), path)
        return
    with source.stream() as file:
        try:
            first = file.readline()
            delimiter = "\t" if "\t" in first else ","
            header = next(csv.reader([first], delimiter=delimiter), [])
            names = [name.strip() for name in header]
            if not names:
                raise InputError(f"{path}: the pool is empty")
            _require_columns(dict.fromkeys(names, ()), path)
            reader = csv.reader(file, delimiter=delimiter)
            block: list[list[str]] = []
            empty = True
            for row in reader:
                if not row:
                    continue
                if len(row) != len(names):
                    raise ParseError(
                        path,
                        reader.line_num + 1,
                        f"has {len(row)} cells where the header has {len(names)}",
                    )
                block.append(row)
                if len(block) == rows:
                    empty = False
                    yield dict(zip(names, map(list, zip(*block, strict=True)), strict=True))
                    block = []
            if block:
                yield dict(zip(names, map(list, zip(*block, strict=True)), strict=True))
            elif empty:
                raise InputError(f"{path}: the pool has a header but no rows")
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: is not UTF-8 text ({error.reason})") from None


def _require_columns(columns: dict[str, Any], path: str) -> dict[str, Any]:
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise InputError(
            f"{path}: a pool needs the columns {', '.join(REQUIRED)}; "
            f"missing: {', '.join(missing)} (found {', '.join(columns) or 'none'})"
        )
    return columns


def build_pool(
    columns: Columns,
    *,
    name: str,
    grades: int | None = None,
    rankings: Sequence[str] | None = None,
) -> Pool:
    """A pool from columns of one value a row; rows in any order."""
    _require_columns(dict(columns), name)
    topic_names, topic = _codes(columns["topic"])
    ranking_names, ranking = _codes(columns["ranking"], rankings)
    rank = _numbers(columns["rank"], "rank", name)
    if np.isnan(rank).any():
        raise InputError(f"{name}: {_row(columns, int(np.isnan(rank).argmax()))} has no rank")
    documents = [str(d) for d in columns["doc"]]

    # items: the distinct (topic, doc), numbered topic by topic in order of first appearance
    index: dict[tuple[int, str], int] = {}
    loose = np.fromiter(
        (index.setdefault(key, len(index)) for key in zip(topic.tolist(), documents, strict=True)),
        np.int64,
        len(documents),
    )
    owner = np.fromiter((t for t, _ in index), np.int64, len(index))
    by_topic = np.argsort(owner, kind="stable")
    number = np.empty_like(by_topic)
    number[by_topic] = np.arange(len(by_topic))
    item = number[loose]
    names = [d for _, d in index]
    docs = tuple(names[i] for i in by_topic)
    item_offset = np.zeros(len(topic_names) + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(topic_names)), out=item_offset[1:])

    offsets, items = [], []
    for r in range(len(ranking_names)):
        rows = np.flatnonzero(ranking == r)
        rows = rows[np.lexsort((rank[rows], topic[rows]))]
        _refuse_repeats(columns, rows, topic, rank, "rank", name)
        _refuse_repeats(
            columns, rows[np.argsort(item[rows], kind="stable")], item, item, "doc", name
        )
        offset = np.zeros(len(topic_names) + 1, np.int64)
        np.cumsum(np.bincount(topic[rows], minlength=len(topic_names)), out=offset[1:])
        offsets.append(offset)
        items.append(item[rows].astype(np.int32))

    probability = _probability(columns, item, len(docs), name, grades)
    extra = {}
    for column, values in columns.items():
        if column in REQUIRED or _grade_of(column) is not None:
            continue
        numeric = _numbers(values, column, name, strict=False)
        if numeric is not None:
            extra[column] = _per_item(numeric, item, len(docs))
    return Pool(
        topic_names,
        ranking_names,
        item_offset,
        docs,
        tuple(offsets),
        tuple(items),
        probability,
        extra,
    )


def _codes(
    values: Sequence[Any], known: Sequence[str] | None = None
) -> tuple[tuple[str, ...], npt.NDArray[np.int64]]:
    index = {name: i for i, name in enumerate(known or ())}
    codes = np.fromiter(
        (index.setdefault(str(v), len(index)) for v in values), np.int64, len(values)
    )
    return tuple(index), codes


def _row(columns: Columns, i: int) -> str:
    return f"topic {columns['topic'][i]!r}, doc {columns['doc'][i]!r}"


def _refuse_repeats(
    columns: Columns,
    rows: npt.NDArray[Any],
    group: npt.NDArray[Any],
    key: npt.NDArray[Any],
    what: str,
    name: str,
) -> None:
    same = (np.diff(group[rows]) == 0) & (np.diff(key[rows]) == 0)
    if same.any():
        i = int(rows[int(same.argmax()) + 1])
        raise InputError(
            f"{name}: ranking {columns['ranking'][i]!r} of topic {columns['topic'][i]!r} has the "
            f"{what} {columns[what][i]!r} more than once"
        )


def _numbers(values: Sequence[Any], column: str, name: str, *, strict: bool = True) -> Any:
    """A float array, NaN for empty cells; None for text when not strict."""
    try:
        return np.array([np.nan if v is None or v == "" else v for v in values], dtype=np.float64)
    except (ValueError, TypeError):
        if not strict:
            return None
    for i, v in enumerate(values):
        try:
            float(v)
        except (ValueError, TypeError):
            raise InputError(f"{name}: row {i + 1}: {column} {v!r} is not a number") from None
    raise InputError(f"{name}: column {column} is not numeric")


def _per_item(values: FloatArray, item: npt.NDArray[np.int64], n_items: int) -> FloatArray:
    """The mean over the rows of each item that have a value."""
    present = ~np.isnan(values)
    total = np.bincount(item[present], weights=values[present], minlength=n_items)
    count = np.bincount(item[present], minlength=n_items)
    out = np.full(n_items, np.nan)
    np.divide(total, count, out=out, where=count > 0)
    return out


def _grade_of(column: str) -> int | None:
    """2 for the column name "p2"."""
    return int(column[1:]) if column[:1] == "p" and column[1:].isdigit() else None


def _probability(
    columns: Columns, item: npt.NDArray[np.int64], n_items: int, name: str, grades: int | None
) -> FloatArray:
    """p(y | x, z) of each item; an item that two rankings list gets the mixture of its rows."""
    found = sorted(g for g in map(_grade_of, columns) if g is not None)
    if not found:
        if grades is None:
            raise InputError(
                f"{name}: has no probabilities p0, p1, ... Hint: say how many grades there are "
                "with --grades, to take them as equally likely"
            )
        if grades < 2:
            raise InputError(f"grades must be at least 2, got {grades}")
        return np.broadcast_to(np.full(grades, 1 / grades), (n_items, grades))
    if found != list(range(len(found))):
        raise InputError(f"{name}: the columns p* must be p0, p1, ... without a gap")
    if len(found) < 2:
        raise InputError(f"{name}: one grade (p0) leaves nothing to estimate")
    if grades is not None and grades != len(found):
        raise InputError(f"{name}: has p0 to p{found[-1]}, so {len(found)} grades, not {grades}")
    rows = np.column_stack([_numbers(columns[f"p{g}"], f"p{g}", name) for g in found])
    total = rows.sum(axis=1)
    wrong = ~((rows >= 0).all(axis=1) & (np.abs(total - 1) <= _TOLERANCE))
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(
            f"{name}: the probabilities of {_row(columns, i)} must be at least 0 and sum to 1, "
            f"got {rows[i].tolist()}"
        )
    rows /= total[:, None]
    out = np.zeros((n_items, len(found)))
    for g in range(len(found)):
        # of two models of relevance take the mixture (Sawade et al. 2012, Section 5.2)
        out[:, g] = np.bincount(item, weights=rows[:, g], minlength=n_items)
    out /= np.bincount(item, minlength=n_items)[:, None]
    return out
