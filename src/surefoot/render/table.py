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
    rows = list(result.rows(result.display()))
    if not rows:
        return
    names = [n for n in rows[0] if n in result.terminal] if result.terminal else list(rows[0])
    settled = [n for n in names if len(rows) > 1 and _settled(rows, n)]
    if settled:
        console.print(Text("  ".join(f"{n} {cell(rows[0][n])}" for n in settled), style="dim"))
    names = [n for n in names if n not in settled]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    texts = {name: column([row[name] for row in rows]) for name in names}
    for position, name in enumerate(names):
        numeric = all(_is_number(r[name]) for r in rows)
        # a header may wrap at its words; a number or a name must stay in one piece
        width = max(len(text) for text in texts[name][:max_rows])
        table.add_column(
            Text(name.replace("_", " ")),
            justify="right" if numeric else "left",
            min_width=width if numeric or position == 0 or width <= 12 else None,
            overflow="fold",
        )
    for i in range(min(len(rows), max_rows)):
        table.add_row(*(Text(texts[name][i]) for name in names))
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


def column(values: list[Any]) -> list[str]:
    """One column for people: whole numbers stay whole, other floats get four decimals."""
    floats = [v for v in values if isinstance(v, float) and math.isfinite(v)]
    if floats and all(v == int(v) for v in floats) and any(v not in (0.0, 1.0) for v in floats):
        return [str(int(v)) if v in floats else cell(v) for v in values]
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
    return str(value)
