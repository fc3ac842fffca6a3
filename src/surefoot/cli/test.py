"""`surefoot test`: significance tests with corrections for many systems."""

import click

from surefoot.cli.options import Output, output_options, scores_input
from surefoot.data.scores import ScoreMatrix

TESTS = ("t", "wilcoxon", "sign", "bootstrap", "randomization", "anova", "tukey", "maxt")


@click.command("test")
@scores_input
@click.option(
    "--champion", metavar="NAME[,NAME]", help="Compare all others with it. [default: all pairs]"
)
@click.option("--test", "kind", type=click.Choice(TESTS), default="t", show_default=True)
@click.option(
    "--correction",
    type=click.Choice(["none", "bonferroni", "holm", "bh"]),
    help="For p_adjusted; tukey and maxt need none. [default: holm]",
)
@click.option(
    "--alpha",
    type=click.FloatRange(min=0),
    help="Test risk-adjusted differences: extra weight of a loss. [default: 0]",
)
@click.option("--r", type=click.FloatRange(min=1), help="Minus form, r = 1 + alpha.")
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
@click.option(
    "--system", "systems", metavar="NAME[,NAME]", help="Only these systems. [default: all]"
)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str | None,
    kind: str,
    correction: str | None,
    alpha: float | None,
    r: float | None,
    confidence: float,
    resamples: int | None,
    systems: str | None,
) -> None:
    """Test whether systems differ: one champion against the others, or all pairs."""
    from surefoot.render.progress import progress
    from surefoot.workflows.compare import test

    if alpha is not None and r is not None:
        raise click.UsageError("give --alpha or --r, not both (r = 1 + alpha)")
    with progress("testing", show=output.progress) as update:
        result = test(
            scores,
            champion=champion,
            test=kind,
            correction=correction,
            alpha=alpha,
            r=r,
            confidence=confidence,
            resamples=resamples,
            systems=systems,
            seed=output.seed,
            threads=output.threads,
            progress=update,
        )
    output.write(result)
