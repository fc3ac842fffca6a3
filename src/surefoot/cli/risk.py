"""`surefoot risk`: how much each challenger risks against a champion."""

import click

from surefoot.cli.options import NumberList, Output, output_options, scores_input
from surefoot.data.scores import ScoreMatrix


@click.command("risk")
@scores_input
@click.option(
    "--champion",
    required=True,
    metavar="NAME[,NAME]",
    help="What is in use now: a system, several, or mean, median or max of the population.",
)
@click.option("--alpha", type=NumberList(minimum=0), help="Extra weight of a loss. [default: 1]")
@click.option(
    "--r", type=NumberList(minimum=1), help="Minus form: r = 1 + alpha, riskier = higher."
)
@click.option(
    "--value",
    type=click.Choice(["linear", "smooth", "refit"]),
    default="linear",
    show_default=True,
    help="What a difference is worth: linear, the thesis' cubic, or that cubic fitted to the data.",
)
@click.option(
    "--system", "systems", metavar="NAME[,...]", help="Challengers. [default: all others]"
)
@click.option("--population", metavar="FILE", help="Scores of systems behind ZRisk and GeoRisk.")
@click.option("--slices", metavar="FILE", help="Table topic,slice: risk on each slice too.")
@click.option(
    "--correction",
    type=click.Choice(["none", "bonferroni", "holm", "bh"]),
    default="holm",
    show_default=True,
    help="For p_adjusted, over the challengers (and the slices).",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Significance level of the verdict.",
)
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Differences up to this size count as ties.",
)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str,
    alpha: tuple[float, ...] | None,
    r: tuple[float, ...] | None,
    value: str,
    systems: str | None,
    population: str | None,
    slices: str | None,
    correction: str,
    level: float,
    tolerance: float,
) -> None:
    """How much each challenger risks against a champion.

    Regressions, their size and their significance, with all risk overlays: URisk, TRisk, ZRisk,
    GeoRisk.
    """
    from surefoot.workflows.risk import risk

    if alpha is not None and r is not None:
        raise click.UsageError("give --alpha or --r, not both (r = 1 + alpha)")
    given = click.get_current_context().params  # scores_input has turned these into scores
    result = risk(
        scores,
        champion=champion,
        alpha=alpha,
        r=r,
        value=value,
        systems=systems,
        population=population,
        slices=slices,
        correction=correction,
        level=level,
        tolerance=tolerance,
        qrels=given["qrels"],
        runs=given["runs"],
        threads=output.threads,
    )
    output.write(result)
