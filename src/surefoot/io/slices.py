"""The table that puts topics into slices."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, ParseError

Slices = dict[str, list[str]]


def read_slices(source: Any) -> Slices:
    """Read slice -> topics.

    Parameters
    ----------
    source : path, mapping or data frame
        A CSV or TSV file with the header ``topic,slice``; ``{topic: slice}``;
        ``{slice: [topics]}``; or a frame with these two columns.
    """
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, (str, Path)):
        return _from_file(Path(source))
    import narwhals as nw

    try:
        frame = nw.from_native(source, eager_only=True)
    except TypeError:
        raise InputError(
            f"slices cannot be a {type(source).__name__}. Hint: a path, a dict or a data frame"
        ) from None
    if "topic" not in frame.columns or "slice" not in frame.columns:
        raise InputError(f"slices need the columns topic and slice, not {frame.columns}")
    return _collect(zip(frame["topic"].to_list(), frame["slice"].to_list(), strict=True))


def _from_mapping(source: Mapping[str, Any]) -> Slices:
    if all(isinstance(v, (list, tuple, set, frozenset)) for v in source.values()):
        return {str(name): [str(t) for t in topics] for name, topics in source.items()}
    return _collect(source.items())


def _collect(pairs: Any) -> Slices:
    out: Slices = {}
    for topic, name in pairs:
        out.setdefault(str(name), []).append(str(topic))
    return out


def _from_file(path: Path) -> Slices:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot read {path}: {reason}") from None
    head = text.split("\n", 1)[0]
    delimiter = "\t" if "\t" in head else ","
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    header = [h.strip().lower() for h in next(rows, [])]
    if "topic" not in header or "slice" not in header:
        raise ParseError(str(path), 1, f"the header must name topic and slice, but is {head!r}")
    topic, name = header.index("topic"), header.index("slice")

    def pairs() -> Any:
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise ParseError(
                    str(path),
                    rows.line_num,
                    f"has {len(row)} fields where the header has {len(header)}",
                )
            yield row[topic].strip(), row[name].strip()

    return _collect(pairs())
