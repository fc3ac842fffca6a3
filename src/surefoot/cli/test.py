"""`surefoot test`: significance tests with corrections for many systems."""

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

TESTS = ("t", "wilcoxon", "sign", "bootstrap", "randomization", "anova", "tukey", "maxt")


@click.command("test")
@scores_input
@champion_option(many=True, required=False, help="Compare with it. [default: all pairs]")
@click.option("--test", "kind", type=click.Choice(TESTS), default="t", show_default=True)
@click.option(
    "--correction",
    type=click.Choice(["none", "bonferroni", "holm", "bh"]),
    help="For p_adjusted; tukey and maxt need none. [default: holm]",
)
@loss_weight(many=False, default=0)
@value_option
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of the intervals; 1 minus it is the level of significance.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    help="Resamples or permutations. [default: 20000 to 200000]",
)
@challengers_option(help="Only these systems. [default: all]")
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: tuple[str, ...] | None,
    kind: str,
    correction: str | None,
    alpha: float | None,
    r: float | None,
    value: str,
    confidence: float,
    resamples: int | None,
    systems: tuple[str, ...] | None,
) -> None:
    """Test whether systems differ: one champion against the others, or all pairs."""
    from surefoot.render.progress import progress
    from surefoot.workflows.compare import test

    with progress("testing", show=output.progress) as update:
        result = test(
            scores,
            champion=champion,
            test=kind,
            correction=correction,
            alpha=alpha,
            r=r,
            value=value,
            confidence=confidence,
            resamples=resamples,
            systems=systems,
            seed=output.seed,
            threads=output.threads,
            progress=update,
        )
    output.write(result)
