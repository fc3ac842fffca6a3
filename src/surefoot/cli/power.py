"""`surefoot power`: how many topics a comparison needs."""

import click

from surefoot.cli.options import (
    Output,
    challengers_option,
    champion_option,
    loss_weight,
    number_list,
    output_options,
    scores_input,
    value_option,
)
from surefoot.data.scores import ScoreMatrix

TESTS = (
    "t", "t_risk", "u_risk", "t_gain", "u_gain", "wilcoxon", "sign", "bootstrap", "randomization",
    "basic", "studentized", "percentile", "bca", "anova", "tukey", "maxt", "z_risk", "geo_risk",
)  # fmt: skip


@click.command("power")
@scores_input(required=False)
@champion_option(required=False, help="With SCORES: what is in use now.")
@challengers_option(name="system", help="With SCORES: challengers. [default: all others]")
@click.option(
    "--test",
    "kind",
    type=click.Choice(TESTS),
    default="t",
    show_default=True,
    help="An interval (basic, studentized, percentile, bca) must leave zero out; z_risk and "
    "geo_risk must order the two as SCORES do.",
)
@loss_weight(many=False, default=0)
@value_option
@click.option("--effect", type=float, help="Without SCORES: mean difference over its sd.")
@click.option("--delta", type=float, help="Mean difference to find. [default: the observed one]")
@click.option("--sd", type=float, help="Without SCORES: standard deviation of the differences.")
@number_list("--topics", minimum=2, help="Answer with the power at these numbers instead.")
@click.option(
    "--target",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="The power wanted.",
)
@click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Significance level.",
)
@click.option(
    "--comparisons",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Comparisons that share the level (Bonferroni).",
)
@click.option(
    "--margins", type=click.Choice(["smoothed", "beta"]), default="smoothed", show_default=True
)
@click.option(
    "--copula", type=click.Choice(["empirical", "gaussian"]), default="empirical", show_default=True
)
@click.option("--simulations", type=click.IntRange(min=100), default=2000, show_default=True)
@click.option("--resamples", type=click.IntRange(min=100), default=2000, show_default=True)
@output_options
def command(
    scores: ScoreMatrix | None,
    output: Output,
    champion: str | None,
    system: tuple[str, ...] | None,
    kind: str,
    alpha: float | None,
    r: float | None,
    value: str,
    effect: float | None,
    delta: float | None,
    sd: float | None,
    topics: tuple[float, ...] | None,
    target: float,
    level: float,
    comparisons: int,
    margins: str,
    copula: str,
    simulations: int,
    resamples: int,
) -> None:
    """How many topics a comparison needs, or which power it reaches.

    With SCORES and a champion, by simulating new topics for the same systems; with --effect, or
    --delta and --sd, by formula.
    """
    from surefoot.render.progress import progress
    from surefoot.workflows.power import power

    if scores is None and effect is None and delta is None:
        raise click.UsageError("give SCORES and --champion NAME, or --effect, or --delta and --sd")
    with progress("simulating", show=output.progress) as update:
        result = power(
            scores,
            champion=champion,
            system=system,
            test=kind,
            alpha=alpha,
            r=r,
            value=value,
            effect=effect,
            delta=delta,
            sd=sd,
            topics=topics,
            target=target,
            level=level,
            comparisons=comparisons,
            margins=margins,
            copula=copula,
            simulations=simulations,
            resamples=resamples,
            seed=output.seed,
            threads=output.threads,
            progress=update,
        )
    output.write(result)
