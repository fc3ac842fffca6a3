"""`surefoot ppd-risk`: risk on new scores, by posterior prediction."""

from typing import Any

import click

from surefoot.cli.options import (
    Output,
    challengers_option,
    champion_option,
    number_list,
    output_options,
)
from surefoot.cli.posterior_input import device_option, posterior_input, write_with_doubts


@click.command(name="ppd-risk")
@posterior_input
@champion_option(help="The system that would be replaced.")
@number_list(
    "--r", minimum=0, default="1,2,5,10", help="How many times a loss counts as much as a gain."
)
@challengers_option()
@device_option
@click.option("--interval", type=float, default=0.95, show_default=True)
@output_options
def command(
    source: Any,
    family: str | None,
    draws: int | None,
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
        family=family,
        systems=systems,
        interval=interval,
        draws=draws,
        device=device,
    )
