"""`surefoot paired`: one pair by a Bayesian model of its own."""

import click

from surefoot.cli.options import Output, champion_option, output_options, scores_input
from surefoot.data.scores import ScoreMatrix


@click.command(name="paired")
@scores_input
@champion_option(help="The system that would be replaced.")
@click.option("--challenger", "--system", required=True, help="The system that would replace it.")
@click.option(
    "--r",
    type=click.FloatRange(min=0.0),
    default=1.0,
    show_default=True,
    help="How many times a loss counts as much as a gain.",
)
@click.option(
    "--model",
    type=click.Choice(("gaussian", "skew_normal", "bivariate")),
    default="gaussian",
    show_default=True,
)
@click.option(
    "--prior", "priors", multiple=True, metavar="P=DIST(..)", help="As in fit; repeat for more."
)
@click.option("--draws", type=click.IntRange(min=100), default=20_000, show_default=True)
@output_options
def command(
    scores: ScoreMatrix,
    champion: str,
    challenger: str,
    r: float,
    model: str,
    priors: tuple[str, ...],
    draws: int,
    output: Output,
) -> None:
    """Mean, spread and skewness of one pair's risk-adjusted differences; positive is a loss."""
    from surefoot.workflows.paired import paired

    output.write(
        paired(
            scores,
            champion=champion,
            challenger=challenger,
            r=r,
            model=model,
            priors=priors,
            draws=draws,
            seed=output.seed,
        )
    )
