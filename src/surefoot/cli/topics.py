"""`surefoot topics`: which queries got worse, and which decide the verdict."""

import click

from surefoot.cli.options import (
    Output,
    challengers_option,
    champion_option,
    loss_weight,
    output_options,
    scores_input,
    value_option,
)
from surefoot.data.scores import ScoreMatrix


@click.command("topics")
@scores_input
@champion_option()
@loss_weight(many=False)
@challengers_option(name="system")
@value_option
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the critical value that flags a query.",
)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str,
    alpha: float | None,
    r: float | None,
    system: tuple[str, ...] | None,
    value: str,
    level: float,
) -> None:
    """Which queries got worse, and which decide the verdict."""
    from surefoot.workflows.topics import topics

    given = click.get_current_context().params  # scores_input has turned these into scores
    result = topics(
        scores,
        champion=champion,
        alpha=alpha,
        r=r,
        system=system,
        value=value,
        level=level,
        qrels=given["qrels"],
        runs=given["runs"],
        threads=output.threads,
    )
    output.write(result)
