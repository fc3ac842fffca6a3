"""The shape that every result shares: columns for machines, sentences for people, provenance."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from surefoot import __version__
from surefoot.extras import require

Column = Sequence[Any] | np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Base of all result records.

    A subclass is a frozen dataclass that holds arrays and names, sets `command`, and defines
    `columns`, the one table that all output formats are made of.

    Parameters
    ----------
    settings : mapping
        What was asked for and what was chosen (seed, alpha, engine, ...), JSON-compatible.
    headline : tuple of str
        The finding in plain sentences, the verdict first.
    inputs : mapping
        Hash of each input by name, for provenance.
    """

    command: ClassVar[str] = ""
    terminal: ClassVar[tuple[str, ...]] = ()  # the columns that people see first; empty for all

    settings: Mapping[str, Any] = field(default_factory=dict)
    headline: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __init_subclass__(cls) -> None:
        # a dataclass would print every array
        cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """What a session shows: the finding, and which columns there are."""
        kind = type(self).__name__
        try:
            rows, names = len(self), ", ".join(self.columns())
        except AttributeError:  # half made, as while it is copied
            return f"<{kind}>"
        lines = [*self.headline, f"{rows} row{'' if rows == 1 else 's'} of {names}"]
        return "\n".join([f"<{kind}", *(f"  {line}" for line in lines)]) + ">"

    def columns(self) -> dict[str, Column]:
        """Column name -> values, all of one length."""
        raise NotImplementedError

    if not TYPE_CHECKING:  # so that a misspelt field is still an error to the type checker

        def __getattr__(self, name: str) -> Column:
            """A column that is no field of its own, such as `loss_over_20`."""
            # a field that is not set yet, or a protocol asking around, must not call `columns`
            if not name.startswith("_") and name not in self.__dataclass_fields__:
                columns = self.columns()
                if name in columns:
                    return columns[name]
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def display(self) -> dict[str, Column]:
        """What a terminal shows, where another layout than that of `columns` is easier to read."""
        return self.columns()

    def __len__(self) -> int:
        return len(next(iter(self.columns().values()), ()))

    def rows(self, columns: Mapping[str, Column] | None = None) -> Iterator[dict[str, Any]]:
        """One plain dict a row; numbers unrounded, NaN kept."""
        columns = self.columns() if columns is None else columns
        lists = [c.tolist() if isinstance(c, np.ndarray) else list(c) for c in columns.values()]
        for values in zip(*lists, strict=True):
            yield dict(zip(columns, values, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of the command: command, version, settings, rows; NaN as None."""
        return {
            "command": self.command,
            "version": __version__,
            "settings": {k: _plain(v) for k, v in self.settings.items()},
            "rows": [{k: _plain(v) for k, v in row.items()} for row in self.rows()],
        }

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return require("pandas", purpose="to_pandas()").DataFrame(dict(self.columns()))

    def to_polars(self) -> Any:
        """The rows as a polars DataFrame."""
        polars = require("polars", purpose="to_polars()")
        columns = {k: _plain_column(v) for k, v in self.columns().items()}
        return polars.DataFrame(columns, strict=False)


def _plain_column(column: Column) -> Column:
    return column if isinstance(column, np.ndarray) else list(column)


def _plain(value: Any) -> Any:
    """JSON-compatible value: NumPy scalars unwrapped, NaN and infinities as None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, np.ndarray):
        return [_plain(v) for v in value.tolist()]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value
