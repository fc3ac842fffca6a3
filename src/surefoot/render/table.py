"""Results for people: the finding first, then a table."""

import math
from typing import IO, Any

from surefoot.results.record import Result


def print_result(result: Result, *, file: IO[str] | None = None, max_rows: int = 60) -> None:
    """Print a result's headline and its rows; a long table shows its head and says so."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=file, soft_wrap=False, highlight=False)
    for sentence in result.headline:
        console.print(Text(sentence))
    rows = list(result.rows())
    if not rows:
        return
    names = [n for n in rows[0] if n in result.terminal] if result.terminal else list(rows[0])
    settled = [n for n in names if len(rows) > 1 and _settled(rows, n)]
    if settled:
        console.print(Text("  ".join(f"{n} {cell(rows[0][n])}" for n in settled), style="dim"))
    names = [n for n in names if n not in settled]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in names:
        numeric = all(_is_number(r[name]) for r in rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows[:max_rows]:
        table.add_row(*(Text(cell(row[name])) for name in names))
    console.print(table)
    hidden = len(rows[0]) - len(names) - len(settled)
    if len(rows) > max_rows:
        console.print(Text(f"{len(rows) - max_rows} more rows with --format csv", style="dim"))
    if hidden:
        console.print(Text(f"{hidden} more columns with --format csv", style="dim"))


def _settled(rows: list[dict[str, Any]], name: str) -> bool:
    """A text column with the same value in every row is said once, above the table."""
    first = rows[0][name]
    return isinstance(first, str) and all(r[name] == first for r in rows)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


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
    return str(value)
