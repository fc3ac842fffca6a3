"""`surefoot ranks`."""

from typing import Any

import click

from surefoot.cli.options import Output, output_options
from surefoot.cli.posterior_input import interval_option, posterior_input, write_with_doubts


@click.command(name="ranks")
@posterior_input(ranks=True)
@interval_option
@output_options
def command(source: Any, fitting: dict[str, Any], interval: float, output: Output) -> None:
    """Rank all systems, with intervals of the ranks and the pairs that separate."""
    from surefoot.workflows.ranks import ranks

    write_with_doubts(output, ranks, source, interval=interval, **fitting)
