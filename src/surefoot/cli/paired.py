"""`surefoot paired`: one pair by a Bayesian model of its own."""

import click

from surefoot.cli.options import Output, champion_option, output_options, scores_input
from surefoot.cli.posterior_input import interval_option, loss_count_option, prior_option
from surefoot.data.scores import ScoreMatrix


@click.command(name="paired")
@scores_input
@champion_option(help="The system that would be replaced.")
@click.option("--challenger", "--system", required=True, help="The system that would replace it.")
@loss_count_option(minimum=0, default="1", many=False)
@click.option(
    "--model",
    type=click.Choice(("gaussian", "skew_normal", "bivariate")),
    default="gaussian",
    show_default=True,
)
@prior_option
@click.option("--draws", type=click.IntRange(min=100), default=20_000, show_default=True)
@interval_option
@output_options
def command(
    scores: ScoreMatrix,
    champion: str,
    challenger: str,
    r: float,
    model: str,
    priors: tuple[str, ...],
    draws: int,
    interval: float,
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
            interval=interval,
            seed=output.seed,
        )
    )
