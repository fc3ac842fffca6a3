"""`surefoot normality`: are the differences normal, and which interval suits them."""

import click

from surefoot.cli.options import Output, champion_option, number_list, output_options, scores_input
from surefoot.data.scores import ScoreMatrix


@click.command("normality")
@scores_input
@champion_option(required=False, help="Compare all others with it, not random pairs.")
@click.option("--groups", metavar="FILE", help="Table system,group: pairs of different groups.")
@click.option("--pairs", type=click.IntRange(min=1), default=50, show_default=True)
@number_list("--r", minimum=1, default="1,2,5,10", help="Loss weights.")
@click.option(
    "--drop-lowest",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.25,
    show_default=True,
    help="Share of the systems with the lowest means left out of random pairs.",
)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str | None,
    groups: str | None,
    pairs: int,
    r: tuple[float, ...],
    drop_lowest: float,
) -> None:
    """Are risk-adjusted differences normal, and which interval suits them."""
    from surefoot.workflows.normality import normality

    output.write(
        normality(
            scores,
            champion=champion,
            groups=groups,
            pairs=pairs,
            r=r,
            drop_lowest=drop_lowest,
            seed=output.seed,
        )
    )
