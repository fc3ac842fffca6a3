"""`surefoot risk`: how much each challenger risks against a champion."""

import click

from surefoot.cli.options import (
    Output,
    challengers_option,
    champion_option,
    loss_weight,
    output_options,
    scores_input,
    value_option,
)
from surefoot.data.scores import ScoreMatrix


@click.command("risk")
@scores_input
@champion_option(many=True)
@loss_weight()
@value_option
@challengers_option()
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
    champion: tuple[str, ...],
    alpha: tuple[float, ...] | None,
    r: tuple[float, ...] | None,
    value: str,
    systems: tuple[str, ...] | None,
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
