"""`surefoot brisk`: Bayesian risk-adjusted effectiveness."""

import click

from surefoot.cli.options import Output, champion_option, output_options, scores_input
from surefoot.cli.posterior_input import write_with_doubts
from surefoot.data.scores import ScoreMatrix


@click.command(name="brisk")
@scores_input
@champion_option(help="The system that would be replaced.")
@click.option(
    "--r",
    type=click.FloatRange(min=1.0),
    default=5.0,
    show_default=True,
    help="How many times a loss counts as much as a gain.",
)
@click.option(
    "--family",
    type=click.Choice(("skew_normal", "gaussian", "student")),
    default="skew_normal",
    show_default=True,
)
@click.option("--interval", type=float, default=0.95, show_default=True)
@click.option(
    "--prior", "priors", multiple=True, metavar="P=DIST(..)", help="As in fit; repeat for more."
)
@click.option("--draws", type=click.IntRange(min=100), help="Posterior draws.")
@output_options
def command(
    scores: ScoreMatrix,
    champion: str,
    r: float,
    family: str,
    interval: float,
    priors: tuple[str, ...],
    draws: int | None,
    output: Output,
) -> None:
    """Model risk-adjusted scores of all systems; higher values are riskier.

    A challenger differs from the champion where their intervals do not overlap.
    """
    from surefoot.workflows.brisk import brisk

    write_with_doubts(
        output,
        brisk,
        scores,
        champion=champion,
        r=r,
        family=family,
        interval=interval,
        priors=priors,
        draws=draws,
    )
