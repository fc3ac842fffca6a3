"""Results for people: the finding first, then a table."""

import math
from collections.abc import Iterable
from typing import IO, Any

from surefoot.render.visible import visible
from surefoot.results.record import Result


def print_result(result: Result, *, file: IO[str] | None = None, max_rows: int = 60) -> None:
    """Print a result's headline and its rows; a long table shows its head and says so."""
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=file, soft_wrap=False, highlight=False)
    for sentence in result.headline:
        console.print(Text(visible(sentence)))
    rows = list(result.rows(result.display()))
    if not rows:
        return
    names = [n for n in result.terminal if n in rows[0]] if result.terminal else list(rows[0])
    empty = [n for n in rows[0] if all(row[n] == "" for row in rows)]
    names = [n for n in names if n not in empty]
    shown = rows[:max_rows]
    texts = {name: column([row[name] for row in shown]) for name in names}
    # what a column needs: a header may wrap at its words; numbers and short names stay in one piece
    numeric = {name: all(_is_number(row[name]) for row in shown) for name in names}
    needs = {
        name: max(
            *(len(word) for word in name.split("_")),
            *(cell_len(t) if numeric[name] or cell_len(t) <= 20 else 20 for t in texts[name]),
        )
        for name in names
    }
    # the first column of a single row says what the row is about
    same = [n for n in names[len(rows) == 1 :] if _settled(rows, n)]
    too_wide = _total(needs[n] for n in names) > console.width
    settled = same if len(rows) > 1 or too_wide else []
    said = [f"{n} {cell(rows[0][n])}" for n in settled]
    if said:
        console.print(Text("  ".join(said), style="dim"))
    names = [n for n in names if n not in settled]
    while len(names) > 2 and _total(needs[n] for n in names) > console.width:
        names.pop()
    widths = {name: needs[name] for name in names}
    for name in names:
        # what it would like, as far as there is room
        wish = max(len(name), *(cell_len(t) for t in texts[name]))
        room = console.width - _total(widths.values())
        widths[name] += max(0, min(wish - widths[name], room))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(
            Text(name.replace("_", " ")),
            justify="right" if numeric[name] else "left",
            width=widths[name],
            overflow="fold",
        )
    for cells in zip(*(texts[name] for name in names), strict=True):
        table.add_row(*map(Text, cells))
    console.print(table)
    hidden = len(set(rows[0]) - {*names, *settled, *empty})
    if len(rows) > max_rows:
        _more(console, len(rows) - max_rows, "row")
    if hidden:
        _more(console, hidden, "column")


def _more(console: Any, count: int, what: str) -> None:
    """One line on what the table leaves out."""
    from rich.text import Text

    text = f"{count} more {what}{'s' if count > 1 else ''} with --format csv"
    console.print(Text(text, style="dim"))


def _total(widths: Iterable[int]) -> int:
    """Width of a table: a blank on each side of a cell, a line between cells and at both ends."""
    widths = list(widths)
    return sum(widths) + 3 * len(widths) - 1


def _settled(rows: list[dict[str, Any]], name: str) -> bool:
    """A text column with the same value in every row is said once, above the table."""
    first = rows[0][name]
    return isinstance(first, str) and all(r[name] == first for r in rows)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def column(values: list[Any]) -> list[str]:
    """One column for people: whole numbers stay whole, other floats get four decimals."""
    floats = [v for v in values if isinstance(v, float) and math.isfinite(v)]
    if floats and all(v == int(v) for v in floats):
        whole = (isinstance(v, float) and math.isfinite(v) for v in values)
        return [str(int(v)) if w else cell(v) for v, w in zip(values, whole, strict=True)]
    return [cell(v) for v in values]


def cell(value: Any) -> str:
    """One cell for people: four significant decimals, a dash for nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if value != 0 and abs(value) < 1e-4:
            return f"{value:.1e}"
        return f"{value:.4f}" if abs(value) < 1e4 else f"{value:.6g}"
    return visible(str(value))
