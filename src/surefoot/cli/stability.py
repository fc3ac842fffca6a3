"""`surefoot stability`: how far overlays order systems the same way on other queries."""

import click

from surefoot.cli.options import Output, number_list, output_options, scores_input
from surefoot.data.scores import ScoreMatrix


@click.command("stability")
@scores_input
@click.option("--champion", default="mean", show_default=True, metavar="NAME")
@number_list("--alpha", minimum=0, help="Extra weight of a loss. [default: 1]")
@click.option(
    "--overlays",
    default="mean,u_risk,geo_risk",
    show_default=True,
    metavar="LIST",
    help="Among mean, u_risk, t_risk, z_risk, geo_risk.",
)
@number_list("--topics", minimum=1, help="Queries in a sample. [default: a quarter and a half]")
@click.option("--trials", type=click.IntRange(min=1), default=100, show_default=True)
@click.option("--fuzziness", type=click.FloatRange(0, 1), default=0.05, show_default=True)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str,
    alpha: tuple[float, ...] | None,
    overlays: str,
    topics: tuple[float, ...] | None,
    trials: int,
    fuzziness: float,
) -> None:
    """How far overlays order systems the same way on other queries (error rate, swap rate)."""
    from surefoot.workflows.stability import stability

    result = stability(
        scores,
        champion=champion,
        alpha=alpha,
        overlays=[o.strip() for o in overlays.split(",") if o.strip()],
        topics=None if topics is None else [int(t) for t in topics],
        trials=trials,
        fuzziness=fuzziness,
        seed=output.seed,
    )
    output.write(result)
