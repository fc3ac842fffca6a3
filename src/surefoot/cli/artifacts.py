"""`surefoot artifacts`: how verdicts move as other systems join the model."""

from typing import Any

import click

from surefoot.cli.options import (
    MODELLED,
    NumberList,
    Output,
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


def _whole(
    ctx: click.Context, param: click.Parameter, value: tuple[tuple[float, ...], ...]
) -> list[int]:
    """Numbers of systems, each once."""
    steps = dict.fromkeys(m for part in value for m in part)
    broken = [m for m in steps if m != int(m)]
    if broken:
        raise click.BadParameter(f"{broken[0]:g} is not a whole number")
    return [int(m) for m in steps]


@click.command(name="artifacts")
@scores_input(gaps=MODELLED)
@champion_option(help="The system that would be replaced.")
@click.option(
    "--challenger",
    "--system",
    "challengers",
    multiple=True,
    required=True,
    metavar="NAME[,NAME]",
    help="A system to report; all others but the champion are artifacts.",
)
@click.option(
    "--steps",
    type=NumberList(minimum=0),
    multiple=True,
    callback=_whole,
    default=["1,5,10,20,40"],
    show_default=True,
    metavar="M[,M...]",
    help="Numbers of artifacts.",
)
@click.option("--order", type=click.Choice(("both", "best", "worst")), default="both")
@loss_count_option(minimum=0, default="1")
@fitting_options(default="gaussian")
@interval_option
@output_options
def command(
    scores: ScoreMatrix,
    fitting: dict[str, Any],
    champion: str,
    challengers: tuple[str, ...],
    steps: list[int],
    order: str,
    r: tuple[float, ...],
    interval: float,
    output: Output,
) -> None:
    """Refit with more and more artifact systems, best or worst first, and compare verdicts.

    overlaps_champion compares the intervals of two system effects, significant says whether the
    predictive interval of the risk (median, low and high as in ppd-risk) excludes 0.
    """
    from surefoot.workflows.artifacts import artifacts

    write_with_doubts(
        output,
        artifacts,
        scores,
        champion=champion,
        challengers=challengers,
        r=r,
        orders=("best", "worst") if order == "both" else (order,),
        steps=steps,
        interval=interval,
        **fitting,
    )
