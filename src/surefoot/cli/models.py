"""`surefoot models`: which family of models predicts the scores best."""

from typing import Any

import click

from surefoot.cli.options import MODELLED, Output, output_options, scores_input
from surefoot.cli.posterior_input import fitting_options, write_with_doubts
from surefoot.data.scores import ScoreMatrix


@click.command(name="models")
@scores_input(gaps=MODELLED)
@fitting_options(several=True, default="gaussian, student, zoib")
@output_options
def command(scores: ScoreMatrix, fitting: dict[str, Any], output: Output) -> None:
    """Compare families by WAIC and PSIS-LOO, lower is better, with errors of the differences.

    Of the default families those that cannot model the scores are left out, which is said.
    """
    from surefoot.workflows.models import models

    write_with_doubts(output, models, scores, **fitting)
