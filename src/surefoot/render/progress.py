"""Progress on stderr, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(label: str, *, show: bool | None = None) -> Iterator[Callable[[float, float], None]]:
    """Yield ``update(done, total)``; draws a bar on stderr when it is a terminal.

    Parameters
    ----------
    label : str
        What is going on.
    show : bool, optional
        Force on or off; by default on when stderr is a terminal.
    """
    if not (sys.stderr.isatty() if show is None else show):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(label, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
