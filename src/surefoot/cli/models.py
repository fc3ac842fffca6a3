"""`surefoot models`: which family of models predicts the scores best."""

import click

from surefoot.cli.options import Output, output_options, scores_input
from surefoot.cli.posterior_input import FAMILIES, write_with_doubts
from surefoot.data.scores import ScoreMatrix


@click.command(name="models")
@scores_input
@click.option(
    "--family",
    "families",
    type=click.Choice(FAMILIES),
    multiple=True,
    help="A family to try; repeat. Default: gaussian, student, zoib.",
)
@click.option(
    "--prior", "priors", multiple=True, metavar="P=DIST(..)", help="As in fit; repeat for more."
)
@click.option("--one-above", type=float, metavar="X", help="Scores above X count as 1 in zoib.")
@click.option("--draws", type=click.IntRange(min=100), help="Posterior draws.")
@output_options
def command(
    scores: ScoreMatrix,
    families: tuple[str, ...],
    priors: tuple[str, ...],
    one_above: float | None,
    draws: int | None,
    output: Output,
) -> None:
    """Compare families by WAIC and PSIS-LOO, lower is better, with errors of the differences."""
    from surefoot.workflows.models import models

    write_with_doubts(
        output,
        models,
        scores,
        families=families or ("gaussian", "student", "zoib"),
        priors=priors,
        one_above=one_above,
        draws=draws,
    )
