"""Two-column tables: topics put into slices, systems put into groups."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, ParseError
from surefoot.io.tables import frame_table, read_table


def read_slices(source: Any) -> dict[str, list[str]]:
    """Read slice -> topics; a topic may be in several slices.

    Parameters
    ----------
    source : path, mapping or data frame
        A table with the columns ``topic`` and ``slice``, ``{topic: slice}`` or
        ``{slice: [topics]}``.
    """
    out: dict[str, list[str]] = {}
    if isinstance(source, Mapping) and all(
        isinstance(v, (list, tuple, set, frozenset)) for v in source.values()
    ):
        return {str(name): [str(t) for t in topics] for name, topics in source.items()}
    for topic, name in _pairs(source, "topic", "slice"):
        out.setdefault(name, []).append(topic)
    return out


def read_groups(source: Any) -> dict[str, str]:
    """Read system -> group from a table with the columns ``system`` and ``group``, or a mapping."""
    out: dict[str, str] = {}
    for system, group in _pairs(source, "system", "group"):
        if out.setdefault(system, group) != group:
            raise InputError(f"system {system!r} is in two groups: {out[system]!r} and {group!r}")
    return out


def _pairs(source: Any, key: str, value: str) -> list[tuple[str, str]]:
    if isinstance(source, Mapping):
        return [(str(k), str(v)) for k, v in source.items()]
    if isinstance(source, (str, os.PathLike)):
        table = read_table(str(Path(source)))
    else:
        frame = frame_table(source, f"the table of {value}s")
        if frame is None:
            raise InputError(
                f"a table of {value}s cannot be a {type(source).__name__}. "
                "Hint: a path, a dict or a data frame"
            )
        table = frame
    names = {c.strip().lower(): c for c in table.columns}
    if key not in names or value not in names:
        message = f"the header must name {key} and {value}, but names {', '.join(table.columns)}"
        raise ParseError(table.name, 1, message) if table.lines else InputError(message)
    return list(zip(table.names(names[key]), table.names(names[value]), strict=True))
