"""Score tables: long, wide, trec_eval's and PyTerrier's, from files, frames or dicts."""

import bz2
import csv
import gzip
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError, ParseError
from surefoot.extras import require

# names that each role may have in a header
_SYSTEM = ("system", "name", "run", "runid")
_TOPIC = ("topic", "qid", "query_id", "q_id", "query")
_SCORE = ("score", "value")
_MEASURE = ("measure", "metric")


def read_scores(source: Any, *, measure: str | None = None) -> ScoreMatrix:
    """Read per-topic scores.

    Parameters
    ----------
    source : path, "-", ScoreMatrix, mapping or data frame
        A long or wide table (CSV, TSV, JSON Lines, Parquet, compressed too), trec_eval's -q output,
        ``{system: {topic: score}}``, or any frame that narwhals understands.
    measure : str, optional
        Which measure to keep where the table holds several.
    """
    if isinstance(source, ScoreMatrix):
        return source
    if isinstance(source, Mapping):
        return ScoreMatrix.from_dict(source, measure=measure or "")
    if not isinstance(source, (str, os.PathLike)):
        return _from_frame(source, measure)
    path = str(source)
    if Path(path).suffix == ".parquet":
        table = require("pyarrow.parquet", purpose="reading Parquet").read_table(path)
        return _from_columns(table.to_pydict(), path, measure)
    text = _read_text(path)
    suffix = Path(path.removesuffix(".gz").removesuffix(".bz2").removesuffix(".zst")).suffix
    if suffix in (".jsonl", ".ndjson") or text.lstrip()[:1] == "{":
        return _from_columns(_json_lines(text, path), path, measure)
    return _from_text(text, path, measure)


def _read_text(path: str) -> str:
    if path == "-":
        return sys.stdin.buffer.read().decode("utf-8-sig")
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    elif raw[:3] == b"BZh":
        raw = bz2.decompress(raw)
    elif raw[:4] == b"\x28\xb5\x2f\xfd":
        from backports import zstd

        raw = zstd.decompress(raw)
    return raw.decode("utf-8-sig")


def _json_lines(text: str, path: str) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise ParseError(path, number, f"not JSON: {error.msg}") from None
        if not columns:
            columns = {str(k): [] for k in row}
        if row.keys() != columns.keys():
            raise ParseError(path, number, f"has the keys {sorted(row)}, not {sorted(columns)}")
        for key, value in row.items():
            columns[key].append(value)
    return columns


def _from_text(text: str, path: str, measure: str | None) -> ScoreMatrix:
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        raise InputError(f"{path}: the score table is empty")
    head = lines[0]
    delimiter = "\t" if "\t" in head else "," if "," in head else None
    wide_or_long = delimiter is not None and _roles(_split(head, delimiter)) is not None
    if not wide_or_long and _is_trec_eval(lines):
        return _from_trec_eval(lines, path, measure)
    header = [h.strip() for h in _split(head, delimiter)]
    columns: dict[str, list[Any]] = {h: [] for h in header}
    if len(columns) != len(header):
        raise ParseError(path, 1, f"the header repeats a name: {head!r}")
    rows: Iterator[list[str]]
    if delimiter is None:
        rows = (line.split() for line in lines[1:])
    else:
        rows = csv.reader(io.StringIO("\n".join(lines[1:])), delimiter=delimiter)
    for number, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise ParseError(
                path, number, f"has {len(row)} fields where the header has {len(header)}"
            )
        for name, value in zip(header, row, strict=True):
            columns[name].append(value)
    return _from_columns(columns, path, measure)


def _split(line: str, delimiter: str | None) -> list[str]:
    return (
        line.split(delimiter)
        if delimiter is None
        else next(csv.reader([line], delimiter=delimiter))
    )


def _is_trec_eval(lines: Sequence[str]) -> bool:
    fields = lines[0].split()
    return len(fields) == 3 and _number(fields[2]) is not None


def _from_trec_eval(lines: Sequence[str], path: str, measure: str | None) -> ScoreMatrix:
    columns: dict[str, list[Any]] = {"system": [], "topic": [], "score": [], "measure": []}
    system = Path(path).name
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 3:
            raise ParseError(path, number, f"is not 'measure topic value': {line!r}")
        name, topic, value = fields
        if name == "runid":
            system = value
            continue
        if topic == "all":
            continue
        columns["system"].append(None)
        columns["topic"].append(topic)
        columns["score"].append(value)
        columns["measure"].append(name)
    columns["system"] = [system] * len(columns["topic"])
    return _from_columns(columns, path, measure)


def _roles(names: Sequence[str]) -> tuple[str, str, str, str | None] | None:
    """(system, topic, score, measure) column names of a long table, or None for a wide one."""

    def find(choices: Sequence[str]) -> str | None:
        return next((n for n in names if n.strip().lower() in choices), None)

    system, topic, score = find(_SYSTEM), find(_TOPIC), find(_SCORE)
    if system is None or topic is None or score is None:
        return None
    return system, topic, score, find(_MEASURE)


def _from_columns(
    columns: Mapping[str, Sequence[Any]], path: str, measure: str | None
) -> ScoreMatrix:
    roles = _roles(list(columns))
    if roles is None:
        return _from_wide(columns, path, measure)
    system_name, topic_name, score_name, measure_name = roles
    system = [str(v) for v in columns[system_name]]
    topic = [str(v) for v in columns[topic_name]]
    keep = [i for i, t in enumerate(topic) if t != "all"]
    label = measure or ""
    if measure_name is not None:
        names = [str(v) for v in columns[measure_name]]
        present = list(dict.fromkeys(names))
        if measure is None and len(present) > 1:
            raise InputError(
                f"{path}: the table holds several measures ({', '.join(present)}). "
                "Hint: choose one with -m"
            )
        label = measure if measure is not None else (present[0] if present else "")
        if present and label not in present:
            raise InputError(f"{path}: holds no measure {label!r}, only {', '.join(present)}")
        keep = [i for i in keep if names[i] == label]
    bounds = {}
    for bound in ("lower", "upper"):
        if bound in columns:
            bounds[bound] = _numbers([columns[bound][i] for i in keep], bound, path)
    return ScoreMatrix.from_long(
        [system[i] for i in keep],
        [topic[i] for i in keep],
        _numbers([columns[score_name][i] for i in keep], score_name, path),
        measure=label,
        lower=bounds.get("lower") if len(bounds) == 2 else None,
        upper=bounds.get("upper") if len(bounds) == 2 else None,
    )


def _from_wide(columns: Mapping[str, Sequence[Any]], path: str, measure: str | None) -> ScoreMatrix:
    names = list(columns)
    topic_name = next((n for n in names if n.strip().lower() in _TOPIC), None)
    systems = [n for n in names if n != topic_name]
    if not systems:
        raise InputError(f"{path}: the table has no system column, only {names}")
    n = len(columns[systems[0]])
    width = max(3, len(str(max(n - 1, 0))))
    topics = (
        [f"t{j:0{width}d}" for j in range(n)]
        if topic_name is None
        else [str(v) for v in columns[topic_name]]
    )
    values = np.array([_numbers(columns[s], s, path) for s in systems]).reshape(len(systems), n)
    return ScoreMatrix(tuple(systems), tuple(topics), values, measure=measure or "")


def _numbers(column: Sequence[Any], name: str, path: str) -> list[float]:
    out = []
    for position, cell in enumerate(column):
        value = _number(cell)
        if value is None:
            raise ParseError(
                path, position + 2, f"{name} is {cell!r}, which is not a finite number"
            )
        out.append(value)
    return out


def _number(cell: Any) -> float | None:
    """A finite float, NaN for an empty or missing cell, None for anything else."""
    if cell is None or cell == "":
        return float("nan")
    if isinstance(cell, str):
        if "_" in cell:
            return None
        if cell.strip().lower() in ("na", "nan", "null"):
            return float("nan")
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return None if value in (float("inf"), float("-inf")) else value


def _from_frame(frame: Any, measure: str | None) -> ScoreMatrix:
    import narwhals as nw

    try:
        native = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"scores cannot be a {type(frame).__name__}. "
            "Hint: a path, a dict of dicts, or a data frame"
        ) from None
    columns = {name: native[name].to_list() for name in native.columns}
    return _from_columns(columns, "the data frame", measure)
