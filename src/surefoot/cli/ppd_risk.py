"""`surefoot ppd-risk`: risk on new scores, by posterior prediction."""

from typing import Any

import click

from surefoot.cli.options import Output, challengers_option, champion_option, output_options
from surefoot.cli.posterior_input import (
    device_option,
    interval_option,
    loss_count_option,
    posterior_input,
    write_with_doubts,
)


@click.command(name="ppd-risk")
@posterior_input
@champion_option(help="The system that would be replaced.")
@loss_count_option(minimum=0, default="1,2,5,10")
@challengers_option()
@device_option
@interval_option
@output_options
def command(
    source: Any,
    fitting: dict[str, Any],
    champion: str,
    r: tuple[float, ...],
    systems: tuple[str, ...] | None,
    device: str,
    interval: float,
    output: Output,
) -> None:
    """Risk of replacing the champion, on new scores that a fitted model predicts.

    Positive values are risk. A challenger is significant when the predictive interval excludes
    zero; all systems of SCORES inform the model, which corrects for comparing many of them.
    """
    from surefoot.workflows.ppd_risk import ppd_risk

    write_with_doubts(
        output,
        ppd_risk,
        source,
        champion=champion,
        r=r,
        systems=systems,
        interval=interval,
        device=device,
        **fitting,
    )
