"""Judgments and runs as tables: CSV, TSV, JSON Lines, Parquet, data frames, records."""

from typing import Any

from surefoot.io.sources import Source
from surefoot.kernels import text as kernel


def is_table(source: Source) -> bool:
    """Whether the first line is the header of a table of judgments or retrieved documents."""
    return False


def keep_table(source: Source, kind: str, duplicates: str) -> kernel.Keeper:
    """Read a table from a file."""
    raise NotImplementedError


def from_object(source: Any, kind: str, duplicates: str) -> kernel.Keeper:
    """Read a data frame or records."""
    raise NotImplementedError
