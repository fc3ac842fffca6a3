"""`surefoot artifacts`: how verdicts move as other systems join the model."""

import click

from surefoot.cli.options import Output, champion_option, number_list, output_options, scores_input
from surefoot.cli.posterior_input import write_with_doubts
from surefoot.data.scores import ScoreMatrix


@click.command(name="artifacts")
@scores_input
@champion_option(help="The system that would be replaced.")
@click.option(
    "--challenger",
    "--system",
    "challengers",
    multiple=True,
    required=True,
    help="A system to report (repeatable); all others are artifacts.",
)
@number_list("--steps", minimum=0, default="1,5,10,20,40", help="Numbers of artifacts.")
@click.option("--order", type=click.Choice(("both", "best", "worst")), default="both")
@click.option("--r", type=click.FloatRange(min=0.0), default=1.0, show_default=True)
@click.option(
    "--family",
    type=click.Choice(("gaussian", "zoib", "student", "skew_normal")),
    default="gaussian",
    show_default=True,
)
@click.option("--draws", type=click.IntRange(min=100), help="Posterior draws.")
@output_options
def command(
    scores: ScoreMatrix,
    champion: str,
    challengers: tuple[str, ...],
    steps: tuple[float, ...],
    order: str,
    r: float,
    family: str,
    draws: int | None,
    output: Output,
) -> None:
    """Refit with more and more artifact systems, best or worst first, and compare verdicts."""
    from surefoot.workflows.artifacts import artifacts

    write_with_doubts(
        output,
        artifacts,
        scores,
        champion=champion,
        challengers=challengers,
        r=r,
        family=family,
        orders=("best", "worst") if order == "both" else (order,),
        steps=[int(m) for m in steps],
        draws=draws,
    )
