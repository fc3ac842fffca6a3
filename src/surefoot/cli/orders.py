"""`surefoot orders`: how alike the orders of systems under different overlays are."""

import click

from surefoot.cli.options import Output, number_list, output_options, scores_input
from surefoot.data.scores import ScoreMatrix


@click.command("orders")
@scores_input
@click.option("--champion", default="mean", show_default=True, metavar="NAME")
@number_list("--alpha", minimum=0, help="One order for each. [default: 1]")
@click.option(
    "--overlays",
    default="mean,u_risk,t_risk,z_risk,geo_risk",
    show_default=True,
    metavar="LIST",
    help="Among mean, u_risk, t_risk, z_risk, geo_risk.",
)
@click.option(
    "--values",
    default="linear",
    show_default=True,
    metavar="LIST",
    help="Value functions: linear, smooth, refit.",
)
@click.option("-p", "--persistence", "p", type=float, default=0.9, show_default=True)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str,
    alpha: tuple[float, ...] | None,
    overlays: str,
    values: str,
    p: float,
) -> None:
    """How alike the orders of systems under different overlays are (RBO and Kendall's tau)."""
    from surefoot.workflows.orders import orders

    result = orders(
        scores,
        champion=champion,
        alpha=alpha,
        overlays=[o.strip() for o in overlays.split(",") if o.strip()],
        values=[v.strip() for v in values.split(",") if v.strip()],
        p=p,
    )
    output.write(result)
