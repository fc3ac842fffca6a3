"""`surefoot ranks`."""

from typing import Any

import click

from surefoot.cli.options import Output, output_options
from surefoot.cli.posterior_input import posterior_input, write_with_doubts


@click.command(name="ranks")
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
    """Rank all systems, with intervals of the ranks and the pairs that separate."""
    from surefoot.workflows.ranks import ranks

    write_with_doubts(
        output,
        ranks,
        source,
        family=family,
        interval=interval,
        draws=draws,
    )
