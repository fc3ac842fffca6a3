"""The table that says which group submitted a system."""

import csv
import os
from collections.abc import Mapping
from typing import Any

from surefoot.errors import InputError, ParseError
from surefoot.io.sources import read_text


def read_groups(source: Any) -> dict[str, str]:
    """Read system -> group from a ``system, group`` CSV or TSV file, a frame, or a dict."""
    if isinstance(source, Mapping):
        return {str(k): str(v) for k, v in source.items()}
    if not isinstance(source, (str, os.PathLike)):
        import narwhals as nw

        try:
            frame = nw.from_native(source, eager_only=True)
        except TypeError:
            raise InputError(
                f"groups cannot be a {type(source).__name__}. Hint: a path, a dict or a data frame"
            ) from None
        if "system" not in frame.columns or "group" not in frame.columns:
            raise InputError(f"groups need the columns system and group, not {frame.columns}")
        pairs = zip(frame["system"].to_list(), frame["group"].to_list(), strict=True)
        return {str(s): str(g) for s, g in pairs}
    lines = read_text(os.fspath(source)).splitlines()
    head = lines[0] if lines else ""
    rows = csv.reader(lines, delimiter="\t" if "\t" in head else ",")
    header = [h.strip().lower() for h in next(rows, [])]
    if "system" not in header or "group" not in header:
        raise ParseError(str(source), 1, f"the header must name system and group, but is {head!r}")
    system, group = header.index("system"), header.index("group")
    out = {}
    for row in rows:
        if not row:
            continue
        if len(row) != len(header):
            raise ParseError(
                str(source),
                rows.line_num,
                f"has {len(row)} fields where the header has {len(header)}",
            )
        out[row[system].strip()] = row[group].strip()
    return out
