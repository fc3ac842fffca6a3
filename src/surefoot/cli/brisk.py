"""`surefoot brisk`: Bayesian risk-adjusted effectiveness."""

from typing import Any

import click

from surefoot.cli.options import (
    Output,
    challengers_option,
    champion_option,
    output_options,
    scores_input,
)
from surefoot.cli.posterior_input import (
    fitting_options,
    interval_option,
    loss_count_option,
    write_with_doubts,
)
from surefoot.data.scores import ScoreMatrix


@click.command(name="brisk")
@scores_input(
    gaps="topics without a score of the champion are left out, and the model is fitted to the "
    "others"
)
@champion_option(help="The system that would be replaced.")
@loss_count_option(minimum=1, default="5")
@challengers_option(help="Challengers to report. [default: all others]")
@fitting_options(families=("skew_normal", "gaussian", "student"), default="skew_normal")
@interval_option
@output_options
def command(
    scores: ScoreMatrix,
    fitting: dict[str, Any],
    champion: str,
    r: tuple[float, ...],
    systems: tuple[str, ...] | None,
    interval: float,
    output: Output,
) -> None:
    """Model risk-adjusted scores of all systems; higher values are riskier.

    A challenger differs from the champion where their intervals do not overlap. Each r is a model
    of its own, to which all systems belong.
    """
    from surefoot.workflows.brisk import brisk

    write_with_doubts(
        output,
        brisk,
        scores,
        champion=champion,
        r=r,
        systems=systems,
        interval=interval,
        **fitting,
    )
