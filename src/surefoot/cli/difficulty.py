"""`surefoot difficulty`."""

from typing import Any

import click

from surefoot.cli.options import Output, output_options
from surefoot.cli.posterior_input import interval_option, posterior_input, write_with_doubts


@click.command(name="difficulty")
@posterior_input(ranks=True)
@interval_option
@output_options
def command(source: Any, fitting: dict[str, Any], interval: float, output: Output) -> None:
    """Which queries are hard, medium or easy for these systems."""
    from surefoot.workflows.difficulty import difficulty

    write_with_doubts(output, difficulty, source, interval=interval, **fitting)
