"""Results as CSV, TSV, JSON, JSON Lines, Parquet and LaTeX."""

import json
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from surefoot.errors import InputError
from surefoot.extras import require
from surefoot.io.atomic import atomic_open
from surefoot.results.record import Column, Result

FORMATS = ("table", "csv", "tsv", "json", "jsonl", "parquet", "latex")

# how a file's name ends -> format; with .gz after it, compressed
SUFFIXES = {f".{name}": name for name in ("csv", "tsv", "json", "jsonl", "parquet")}
SUFFIXES |= {".tex": "latex", ".txt": "table"}


def format_of(path: Path) -> str:
    """The format that a file's name asks for; TSV for a name without an ending and for a pipe."""
    suffix = Path(_unpacked(path)).suffix
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if suffix and not (path.exists() and not path.is_file()):
        raise InputError(
            f"cannot tell a format from the name {path}. Hint: --format, or a name that ends in "
            f"{', '.join(SUFFIXES)} (or those with .gz)"
        )
    return "tsv"


def _unpacked(path: Path) -> str:
    return path.name.lower().removesuffix(".gz")


@contextmanager
def open_output(path: Path, mode: str = "w") -> Iterator[IO[Any]]:
    """`atomic_open`; compressed, without the time of day, where the name ends in .gz."""
    if _unpacked(path) == path.name.lower():
        with atomic_open(path, mode) as file:
            yield file
        return
    import gzip  # slow to load, and few names end so
    import io

    with (
        atomic_open(path, "wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as packed,
    ):
        if "b" in mode:
            yield cast(IO[Any], packed)
            return
        with io.TextIOWrapper(packed, "utf-8", errors="surrogateescape", newline="\n") as text:
            yield text


def write_result(result: Result, *, format: str, path: Path | None) -> None:
    """Write a result in a machine format to a file (atomically) or, without one, to stdout."""
    if format == "parquet":
        if path is None and sys.stdout.isatty():
            raise InputError("parquet is binary and cannot go to the terminal. Hint: add -o FILE")
        arrow = require("pyarrow", purpose="writing Parquet")
        parquet = require("pyarrow.parquet", purpose="writing Parquet")
        table = arrow.table({k: _arrow(arrow, v) for k, v in result.columns().items()})
        if path is None:
            sink = arrow.BufferOutputStream()
            parquet.write_table(table, sink)
            sys.stdout.buffer.write(memoryview(sink.getvalue()))
            return
        with open_output(path, "wb") as file:
            parquet.write_table(table, file)
        return
    text = to_text(result, format=format)
    if path is None:
        sys.stdout.write(text)
    else:
        with open_output(path) as file:
            file.write(text)


def to_text(result: Result, *, format: str) -> str:
    """The rows of a result in a text format; numbers unrounded."""
    if format == "json":
        return _json(result.to_dict())
    if format == "jsonl":
        rows = result.to_dict()["rows"]
        return "".join(map(_json, rows))
    if format in ("csv", "tsv"):
        delimiter = "\t" if format == "tsv" else ","
        columns = result.columns()
        cells = [_cells([name], delimiter) + _cells(c, delimiter) for name, c in columns.items()]
        return "".join(f"{delimiter.join(row)}\n" for row in zip(*cells, strict=True))
    if format == "latex":
        return _latex(result)
    raise InputError(f"unknown format {format!r}. Hint: one of {', '.join(FORMATS)}")


def _json(value: Any) -> str:
    """One line of JSON; what is not UTF-8 is escaped, since JSON is."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def _cells(column: Column, delimiter: str) -> list[str]:
    """One column as CSV cells: empty for nothing, shortest exact digits, quotes where needed."""
    if isinstance(column, np.ndarray) and column.dtype == np.float64:
        return ["" if x != x else repr(x) for x in column.tolist()]
    values = column.tolist() if isinstance(column, np.ndarray) else column
    cells = [v if type(v) is str else _cell(v) for v in values]
    special = f'{delimiter}"\r\n'
    if not any(c in text for text in set(cells) for c in special):
        return cells
    return [
        '"{}"'.format(text.replace('"', '""')) if any(c in text for c in special) else text
        for text in cells
    ]


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _arrow(arrow: Any, column: Any) -> Any:
    return arrow.array(list(column) if not hasattr(column, "dtype") else column.tolist())


_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | dict.fromkeys(map(chr, (*range(0x20), *range(0x7F, 0xA0))), " ")  # a blank line ends a row
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def _latex(result: Result) -> str:
    """A booktabs table, numbers to four decimals."""
    columns = result.columns()
    rows = list(result.rows())
    numeric = [all(_is_number(r[c]) for r in rows) for c in columns]
    lines = [
        r"\begin{tabular}{" + "".join("r" if n else "l" for n in numeric) + "}",
        r"\toprule",
        " & ".join(c.translate(_LATEX) for c in columns) + r" \\",
        r"\midrule",
    ]
    for row in rows:
        lines.append(" & ".join(_latex_cell(v) for v in row.values()) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _latex_cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "--"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if 0 < abs(value) < 1e-4:
            digits, exponent = f"{value:.1e}".split("e")
            return rf"${digits} \cdot 10^{{{int(exponent)}}}$"
        return f"${value:.4f}$" if value < 0 else f"{value:.4f}"
    return str(value).translate(_LATEX)
