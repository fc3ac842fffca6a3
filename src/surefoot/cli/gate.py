"""`surefoot gate`: fail a build when a challenger is too risky."""

from pathlib import Path

import click

from surefoot.cli.options import (
    Output,
    challengers_option,
    champion_option,
    output_options,
    scores_input,
)
from surefoot.data.scores import ScoreMatrix


@click.command("gate")
@scores_input
@champion_option()
@click.option(
    "--fail-if",
    "conditions",
    required=True,
    multiple=True,
    metavar="EXPR",
    help='Condition that must not hold, e.g. "t_risk(alpha=1) < -2". May be repeated.',
)
@challengers_option()
@click.option("--population", metavar="FILE", help="Scores of systems behind ZRisk and GeoRisk.")
@click.option("--slices", metavar="FILE", help="Table topic,slice: check each slice too.")
@click.option(
    "--undefined",
    type=click.Choice(["fail", "pass"]),
    default="fail",
    show_default=True,
    help="What to do when a quantity cannot be computed.",
)
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write JUnit XML.")
@click.option(
    "--markdown", type=click.Path(dir_okay=False, path_type=Path), help="Write a Markdown summary."
)
@output_options
def command(
    scores: ScoreMatrix,
    output: Output,
    champion: str,
    conditions: tuple[str, ...],
    systems: tuple[str, ...] | None,
    population: str | None,
    slices: str | None,
    undefined: str,
    junit: Path | None,
    markdown: Path | None,
) -> int:
    """Fail a build when a challenger is too risky.

    Exit code 0: no condition holds; 3: one does, and the output names the queries; 1: bad data;
    2: a condition cannot be understood.
    """
    from surefoot.io.atomic import atomic_open
    from surefoot.render.gate import junit_xml
    from surefoot.render.gate import markdown as summary
    from surefoot.workflows.expressions import ExpressionError
    from surefoot.workflows.gate import gate

    given = click.get_current_context().params  # scores_input has turned these into scores
    try:
        result = gate(
            scores,
            champion=champion,
            fail_if=conditions,
            systems=systems,
            population=population,
            slices=slices,
            undefined=undefined,
            qrels=given["qrels"],
            runs=given["runs"],
            seed=output.seed,
            threads=output.threads,
        )
    except ExpressionError as error:
        raise click.BadParameter(str(error), param_hint="--fail-if") from None
    for path, text in ((junit, junit_xml), (markdown, summary)):
        if path is not None:
            with atomic_open(path) as file:
                file.write(text(result))
    if output.chosen != "table":
        # a CI log is not a terminal: the reason must be read there too
        for sentence in result.headline:
            output.note(sentence)
    output.write(result)
    return 0 if result.passed else 3
