"""`surefoot pairs`: every challenger against the champion, from a fitted model."""

from typing import Any

import click

from surefoot.cli.options import Output, challengers_option, champion_option, output_options
from surefoot.cli.posterior_input import posterior_input, write_with_doubts


@click.command(name="pairs")
@posterior_input
@champion_option(help="The system that the others are compared with.")
@challengers_option()
@click.option(
    "--equivalence",
    type=click.FloatRange(min=0.0),
    default=0.01,
    show_default=True,
    help="Differences up to this, in units of the scores, do not matter.",
)
@click.option("--interval", type=float, default=0.95, show_default=True)
@output_options
def command(
    source: Any,
    family: str | None,
    draws: int | None,
    champion: str,
    systems: tuple[str, ...] | None,
    equivalence: float,
    interval: float,
    output: Output,
) -> None:
    """Difference, chance of being better, practical equivalence and effect size of each pair."""
    from surefoot.workflows.ranks import pairs

    write_with_doubts(
        output,
        pairs,
        source,
        champion=champion,
        systems=systems,
        family=family,
        equivalence=equivalence,
        interval=interval,
        draws=draws,
    )
