"""`surefoot ppd-risk`: risk on new scores, by posterior prediction."""

from typing import Any

import click

from surefoot.cli.options import NumberList, Output, output_options
from surefoot.cli.posterior_input import posterior_input, write_with_doubts


@click.command(name="ppd-risk")
@posterior_input
@click.option("--champion", required=True, help="The system that would be replaced.")
@click.option(
    "--r",
    type=NumberList(minimum=0.0),
    default="1,2,5,10",
    show_default=True,
    metavar="R[,R...]",
    help="How many times a loss counts as much as a gain.",
)
@click.option(
    "--system", "systems", multiple=True, help="Report this challenger only (repeatable)."
)
@click.option("--interval", type=float, default=0.95, show_default=True)
@output_options
def command(
    source: Any,
    family: str | None,
    draws: int | None,
    champion: str,
    r: tuple[float, ...],
    systems: tuple[str, ...],
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
        challengers=systems or None,
        interval=interval,
        draws=draws,
    )
