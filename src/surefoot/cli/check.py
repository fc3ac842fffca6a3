"""`surefoot check`."""

from typing import Any

import click

from surefoot.cli.options import Output, output_options
from surefoot.cli.posterior_input import posterior_input, write_with_doubts


@click.command(name="check")
@posterior_input
@click.option(
    "--replicates",
    type=click.IntRange(min=2),
    default=500,
    show_default=True,
    help="Tables to replicate, at most one a draw.",
)
@output_options
def command(source: Any, fitting: dict[str, Any], replicates: int, output: Output) -> None:
    """Does the model make scores like the observed ones? Replicates against data.

    JSON carries the histograms of the observed and of the replicated scores too.
    """
    from surefoot.workflows.check import check

    write_with_doubts(output, check, source, replicates=replicates, **fitting)
