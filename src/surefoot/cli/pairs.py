"""`surefoot pairs`: every challenger against the champion, or all pairs, from a fitted model."""

from typing import Any

import click

from surefoot.cli.options import Output, challengers_option, champion_option, output_options
from surefoot.cli.posterior_input import (
    Within,
    interval_option,
    posterior_input,
    write_with_doubts,
)


@click.command(name="pairs")
@posterior_input(ranks=True)
@champion_option(
    required=False, help="The system that the others are compared with.  [default: all pairs]"
)
@challengers_option(help="Systems to report. [default: all]")
@click.option(
    "--equivalence",
    type=Within(0, open_low=False, open_high=True),
    default=0.01,
    show_default=True,
    metavar="D",
    help="Differences up to this, in units of the scores, do not matter.",
)
@interval_option
@output_options
def command(
    source: Any,
    fitting: dict[str, Any],
    champion: str | None,
    systems: tuple[str, ...] | None,
    equivalence: float,
    interval: float,
    output: Output,
) -> None:
    """Difference, chance of being better, practical equivalence and effect size of each pair.

    With --champion, each system against it; without, every pair of systems, the better one first.
    """
    from surefoot.workflows.ranks import pairs

    write_with_doubts(
        output,
        pairs,
        source,
        champion=champion,
        systems=systems,
        equivalence=equivalence,
        interval=interval,
        **fitting,
    )
