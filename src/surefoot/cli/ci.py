"""`surefoot ci`: confidence intervals of each challenger's difference to a champion."""

import click

from surefoot.cli.options import (
    ChoiceList,
    Output,
    challengers_option,
    champion_option,
    joined,
    loss_weight,
    output_options,
    scores_input,
    value_option,
)
from surefoot.data.scores import ScoreMatrix

METHODS = ("student", "basic", "studentized", "percentile", "bca")


@click.command("ci")
@scores_input
@champion_option(many=True)
@loss_weight()
@value_option
@click.option(
    "--method",
    "methods",
    type=ChoiceList(METHODS),
    multiple=True,
    callback=joined,
    help="May be repeated. [default: the one that docs/method/calibration.md supports]",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    help="Default: enough for 100 beyond each end, from 20,000 to 200,000.",
)
@click.option(
    "--correction",
    type=click.Choice(["none", "bonferroni"]),
    default="none",
    show_default=True,
    help="bonferroni: all challengers' intervals hold together.",
)
@click.option(
    "--statistic",
    type=click.Choice(["mean", "t", "median"]),
    default="mean",
    show_default=True,
    help="Of the risk-adjusted differences: mean is URisk, t is TRisk.",
)
@challengers_option()
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: tuple[str, ...],
    alpha: tuple[float, ...] | None,
    r: tuple[float, ...] | None,
    value: str,
    methods: tuple[str, ...],
    confidence: float,
    resamples: int | None,
    correction: str,
    statistic: str,
    systems: tuple[str, ...] | None,
) -> None:
    """Confidence intervals of each challenger's risk-adjusted difference to a champion."""
    from surefoot.inference.intervals import DEFAULT_METHOD
    from surefoot.render.progress import progress
    from surefoot.workflows.intervals import intervals

    with progress("resampling", show=output.progress) as update:
        result = intervals(
            scores,
            champion=champion,
            alpha=alpha,
            r=r,
            value=value,
            method=methods or DEFAULT_METHOD,
            confidence=confidence,
            correction=correction,
            resamples=resamples,
            statistic=statistic,
            systems=systems,
            seed=output.seed,
            threads=output.threads,
            progress=update,
        )
    output.write(result)
