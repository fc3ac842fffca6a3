"""`surefoot difficulty`."""

from typing import Any

import click

from surefoot.cli.options import Output, output_options
from surefoot.cli.posterior_input import posterior_input, write_with_doubts


@click.command(name="difficulty")
@posterior_input
@click.option("--interval", type=float, default=0.95, show_default=True)
@output_options
def command(
    source: Any,
    family: str | None,
    draws: int | None,
    interval: float,
    output: Output,
) -> None:
    """Which queries are hard, medium or easy for these systems."""
    from surefoot.workflows.difficulty import difficulty

    write_with_doubts(
        output,
        difficulty,
        source,
        family=family,
        interval=interval,
        draws=draws,
    )
