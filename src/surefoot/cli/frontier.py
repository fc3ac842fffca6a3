"""`surefoot frontier`: risk against reward over a family of settings."""

import click

from surefoot.cli.options import Output, champion_option, output_options, scores_input
from surefoot.data.scores import ScoreMatrix


@click.command("frontier")
@scores_input
@champion_option(help="What the settings vary.")
@click.option(
    "--risk",
    type=click.Choice(["f_risk", "losses", "loss_over_20", "r_loss"]),
    default="f_risk",
    show_default=True,
)
@click.option(
    "--reward", type=click.Choice(["u_gain", "f_reward"]), default="u_gain", show_default=True
)
@click.option(
    "--relevant",
    metavar="FILE",
    help="For r_loss: relevant documents in each top k, a table like SCORES.",
)
@click.option("--families", metavar="FILE", help="Table system,group: a frontier for each group.")
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str,
    risk: str,
    reward: str,
    relevant: str | None,
    families: str | None,
) -> None:
    """Which settings no other beats on both risk and reward."""
    from surefoot.workflows.frontier import frontier

    result = frontier(
        scores,
        champion=champion,
        risk=risk,
        reward=reward,
        relevant=relevant,
        families=families,
    )
    output.write(result)
