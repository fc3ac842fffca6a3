"""`surefoot forecast`: which queries may get worse."""

from typing import Any

import click

from surefoot.cli.options import Output, challengers_option, champion_option, output_options
from surefoot.cli.posterior_input import interval_option, posterior_input, write_with_doubts


@click.command(name="forecast")
@posterior_input
@champion_option(help="The system that would be replaced.")
@challengers_option()
@interval_option
@output_options
def command(
    source: Any,
    fitting: dict[str, Any],
    champion: str,
    systems: tuple[str, ...] | None,
    interval: float,
    output: Output,
) -> None:
    """Chance that each query gets worse, and by how much, if the champion is replaced."""
    from surefoot.workflows.forecast import forecast

    write_with_doubts(
        output,
        forecast,
        source,
        champion=champion,
        systems=systems,
        interval=interval,
        **fitting,
    )
