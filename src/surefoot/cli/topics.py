"""`surefoot topics`: which queries got worse, and which decide the verdict."""

import click

from surefoot.cli.options import NumberList, Output, output_options, scores_input
from surefoot.data.scores import ScoreMatrix


@click.command("topics")
@scores_input
@click.option(
    "--champion",
    required=True,
    metavar="NAME",
    help="What is in use now: a system, or mean, median or max of the population.",
)
@click.option("--alpha", type=NumberList(minimum=0), help="Extra weight of a loss. [default: 1]")
@click.option(
    "--r", type=NumberList(minimum=1), help="Minus form: r = 1 + alpha, riskier = higher."
)
@click.option("--system", metavar="NAME[,NAME]", help="Challengers. [default: all others]")
@click.option(
    "--value",
    type=click.Choice(["linear", "smooth", "refit"]),
    default="linear",
    show_default=True,
    help="What a difference is worth.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Level of the critical value that flags a query.",
)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str,
    alpha: tuple[float, ...] | None,
    r: tuple[float, ...] | None,
    system: str | None,
    value: str,
    level: float,
) -> None:
    """Which queries got worse, and which decide the verdict."""
    from surefoot.workflows.topics import topics

    if alpha is not None and r is not None:
        raise click.UsageError("give --alpha or --r, not both (r = 1 + alpha)")
    for name, given in (("--alpha", alpha), ("--r", r)):
        if given is not None and len(given) != 1:
            raise click.UsageError(f"{name} takes one number here")
    result = topics(
        scores, champion=champion, alpha=alpha, r=r, system=system, value=value, level=level
    )
    output.write(result)
