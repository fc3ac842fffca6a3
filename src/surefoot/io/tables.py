"""Tables of any kind as plain columns: CSV, TSV, JSON, JSON Lines, Parquet, data frames."""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.errors import InputError, ParseError
from surefoot.extras import require
from surefoot.io.faults import shown
from surefoot.io.sources import Source


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length, and where each row was.

    Parameters
    ----------
    name : str
        The file, or what stands for it in messages.
    columns : mapping
        Column name -> values.
    lines : sequence of int
        Line of each row in the file; empty for a table that is no text.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]
    lines: Sequence[int] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def fault(self, row: int, message: str) -> InputError:
        """An error about one row, with its line in a file or its number in a frame."""
        if self.lines:
            return ParseError(self.name, self.lines[row], message)
        return InputError(f"{self.name}, row {row}: {message}")

    def names(self, column: str) -> list[str]:
        """A column of ids as text; whole numbers that a frame holds as floats lose their '.0'."""
        out = []
        for row, value in enumerate(self.columns[column]):
            if value is None or value == "" or value != value:
                raise self.fault(row, f"the {column} is empty")
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            out.append(str(value))
        return out

    def numbers(self, column: str, *, missing: bool, what: str = "") -> list[float]:
        """A column of finite numbers; empty cells and NA are NaN where `missing` allows them."""
        out = []
        for row, cell in enumerate(self.columns[column]):
            value = number(cell)
            if value is None or (not missing and math.isnan(value)):
                text = shown(cell.encode("utf-8", "replace")) if isinstance(cell, str) else cell
                hint = ". Hint: write decimals with a point" if "," in str(cell) else ""
                raise self.fault(row, f"the {what or column} is not a finite number: {text}{hint}")
            out.append(value)
        return out


def number(cell: Any) -> float | None:
    """A finite float, NaN for an empty or missing cell, None for anything else."""
    if cell is None:
        return math.nan
    if isinstance(cell, str):
        cell = cell.strip()
        if cell.lower() in ("", "na", "nan", "null", "none"):
            return math.nan
        if "_" in cell:
            return None
    try:
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isinf(value) else value


def parquet_table(source: Source) -> Table:
    """A Parquet file, packed or not, or one from standard input."""
    parquet = require("pyarrow.parquet", purpose="reading Parquet")
    data = source.path if source.is_plain_file else io.BytesIO(b"".join(source.blocks()))
    try:
        return Table(source.path, parquet.read_table(data).to_pydict())
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{source.path}: the Parquet data are damaged ({reason})") from None


def text_table(text: str, name: str) -> Table:
    """CSV, TSV, JSON or JSON Lines, told apart by their first character and line."""
    if text.lstrip()[:1] in ("{", "["):
        return _json_table(text, name)
    lines = lines_of(text)
    start = next((i for i, line in enumerate(lines) if line.strip()), None)
    if start is None:
        raise InputError(f"{name}: the file is empty")
    delimiter = delimiter_of(lines[start])
    header = [h.strip() for h in cells(lines[start], delimiter)]
    repeated = next((h for i, h in enumerate(header) if h in header[:i]), None)
    if repeated is not None:
        raise ParseError(name, start + 1, f"the header names {repeated!r} twice")
    columns: dict[str, list[Any]] = {h: [] for h in header}
    numbers: list[int] = []
    for number_, row in _rows(lines, start + 1, delimiter, name):
        if len(row) != len(header):
            raise ParseError(
                name,
                number_,
                f"has {len(row)} fields where the header has {len(header)}: "
                f"{shown(lines[number_ - 1].encode('utf-8', 'replace'))}",
            )
        numbers.append(number_)
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    if not numbers:
        raise InputError(f"{name}: the table has a header and no rows")
    return Table(name, columns, numbers)


def delimiter_of(head: str) -> str | None:
    """Tab, comma or semicolon where the header has one; None means blanks."""
    return next((d for d in "\t,;" if d in head), None)


def cells(line: str, delimiter: str | None) -> list[str]:
    """The cells of one line."""
    if delimiter is None:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return [line]


def lines_of(text: str) -> list[str]:
    """Lines by any of the three line ends, and by nothing else that Unicode calls one."""
    return re.split("\r\n|\n|\r", text)


def _rows(
    lines: Sequence[str], start: int, delimiter: str | None, name: str
) -> Iterable[tuple[int, list[str]]]:
    """(line number, cells) of each row that is not blank; a quoted cell may hold newlines."""
    if delimiter is None:
        for i in range(start, len(lines)):
            if lines[i].strip():
                yield i + 1, lines[i].split()
        return
    reader = csv.reader(io.StringIO("\n".join(lines[start:])), delimiter=delimiter)
    before = 0
    try:
        for row in reader:
            if row and any(cell.strip() for cell in row):
                yield start + before + 1, row
            before = reader.line_num
    except csv.Error as error:
        raise ParseError(name, start + before + 1, f"is not CSV ({error})") from None


def _json_table(text: str, name: str) -> Table:
    """One object a line, a list of objects, or the object that `--format json` writes."""
    rows: list[Any] = []
    numbers: list[int] = []
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        whole = None
    if isinstance(whole, dict) and isinstance(whole.get("rows"), list):
        rows = whole["rows"]
    elif isinstance(whole, list):
        rows = whole
    else:
        for line_number, line in enumerate(lines_of(text), start=1):
            if not line.strip():
                continue
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                message = f"is not JSON ({error.msg}): {shown(line.encode('utf-8', 'replace'))}"
                raise ParseError(name, line_number, message) from None
            numbers.append(line_number)
    table = Table(name, {}, numbers)
    if not rows:
        raise InputError(f"{name}: the table has no rows")
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise table.fault(i, f"is not a JSON object: {shown(json.dumps(row).encode())}")
        if row.keys() != rows[0].keys():
            raise table.fault(i, f"has the keys {sorted(row)} where others have {sorted(rows[0])}")
    return Table(name, {str(k): [row[k] for row in rows] for k in rows[0]}, numbers)


def read_table(path: str) -> Table:
    """A table from a file, whatever its format."""
    source = Source(path)
    return table_of(source)


def table_of(source: Source) -> Table:
    """The same from a source that is open already."""
    return parquet_table(source) if source.is_parquet else text_table(source.text(), source.path)


def frame_table(frame: Any, name: str) -> Table | None:
    """A pandas, polars or Arrow table (anything that narwhals takes); None for other objects."""
    import narwhals as nw

    if type(frame).__module__.startswith("pandas") and (
        type(frame.index).__name__ != "RangeIndex" or frame.index.name is not None
    ):
        # the index of a pandas frame holds the topics, or what it was grouped by
        names = [n if n is not None else "topic" for n in frame.index.names]
        frame = frame.rename_axis(names).reset_index()
    if type(frame).__module__.startswith("pyarrow") and type(frame).__name__ == "RecordBatch":
        frame = require("pyarrow", purpose="reading Arrow").Table.from_batches([frame])
    try:
        native = nw.from_native(frame)
    except TypeError:
        return None
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    columns = {str(c): native[c].to_list() for c in native.columns}
    return Table(name, columns)
