"""`surefoot ci`: confidence intervals of each challenger's difference to a champion."""

import click

from surefoot.cli.options import NumberList, Output, output_options, scores_input
from surefoot.data.scores import ScoreMatrix

METHODS = ("student", "basic", "studentized", "percentile", "bca")


@click.command("ci")
@scores_input
@click.option(
    "--champion",
    required=True,
    metavar="NAME[,NAME]",
    help="What is in use now: a system, several, or mean, median or max of all systems.",
)
@click.option("--alpha", type=NumberList(minimum=0), help="Extra weight of a loss. [default: 1]")
@click.option(
    "--r", type=NumberList(minimum=1), help="Minus form, r = 1 + alpha; higher is riskier."
)
@click.option(
    "--method",
    "methods",
    type=click.Choice(METHODS),
    multiple=True,
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
@click.option(
    "--system", "systems", metavar="NAME[,NAME]", help="Challengers. [default: all others]"
)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str,
    alpha: tuple[float, ...] | None,
    r: tuple[float, ...] | None,
    methods: tuple[str, ...],
    confidence: float,
    resamples: int | None,
    correction: str,
    statistic: str,
    systems: str | None,
) -> None:
    """Confidence intervals of each challenger's risk-adjusted difference to a champion."""
    from surefoot.inference.intervals import DEFAULT_METHOD
    from surefoot.render.progress import progress
    from surefoot.workflows.intervals import intervals

    if alpha is not None and r is not None:
        raise click.UsageError("give --alpha or --r, not both (r = 1 + alpha)")
    with progress("resampling", show=output.progress) as update:
        result = intervals(
            scores,
            champion=champion,
            alpha=alpha,
            r=r,
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
