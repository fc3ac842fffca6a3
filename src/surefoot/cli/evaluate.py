"""`surefoot evaluate`: per-topic scores of runs, with bounds for unjudged documents."""

import sys
from pathlib import Path

import click

from surefoot.cli.options import GreedyOption, Output, output_options
from surefoot.errors import MeasureError
from surefoot.io.output import FORMATS

TIES = ("trec", "file", "rank", "docid", "average", "expected", "best", "worst")


class MeasuresOption(GreedyOption):
    """Takes the measures that follow, and leaves the files: ``-m nDCG@10 AP QRELS RUN``."""

    def takes(self, value: str) -> bool:
        """A measure's name, or what looks like one and is no file."""
        from surefoot.metrics.grammar import parse_measures

        if not super().takes(value) or value == "-" or Path(value).exists():
            return False
        try:
            return bool(parse_measures([value]))
        except MeasureError:
            return "@" in value or "(" in value


@click.command(short_help="Per-topic scores of runs, with bounds for unjudged documents.")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "-m",
    "--measure",
    "measures",
    cls=MeasuresOption,
    metavar="MEASURE...",
    help="Measures: nDCG@10, AP, 'RBP(p=0.8)', ndcg_cut_10. Commas and repetition work too.",
)
@click.option("-q", "--per-topic", is_flag=True, help="A row for every topic, then the mean.")
@click.option("-c", "--complete", is_flag=True, help="Topics that a run lacks count as 0.")
@click.option(
    "-l", "--level", type=float, default=1.0, show_default=True, help="Relevant from this grade on."
)
@click.option(
    "-M", "--depth", type=click.IntRange(min=1), help="Look at the first N documents of a topic."
)
@click.option("-J", "--judged-only", is_flag=True, help="Drop unjudged documents first.")
@click.option(
    "--ties",
    type=click.Choice(TIES),
    default="trec",
    show_default=True,
    help="What equal scores mean: an order, or the average, expected, best or worst over orders.",
)
@click.option("--baseline", metavar="RUN", help="The run that R-Loss@k compares with.")
@click.option(
    "--duplicates",
    type=click.Choice(["error", "first", "last"]),
    default="error",
    show_default=True,
    help="What to do where a document occurs twice for a topic.",
)
@output_options(quiet_flags=("--quiet",), formats=(*FORMATS, "trec_eval"))  # type: ignore[untyped-decorator]
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    complete: bool,
    level: float,
    depth: int | None,
    judged_only: bool,
    ties: str,
    baseline: str | None,
    duplicates: str,
    output: Output,
) -> None:
    """Score each RUN against the judgments in QRELS.

    lower and upper are the score if every unjudged document were worthless or fully relevant; they
    equal value for measures that have no such bounds. Options and trec_eval's measure names work as
    in trec_eval.
    """
    from surefoot.workflows.evaluate import DEFAULT_MEASURES, evaluate

    result = evaluate(
        qrels,
        list(runs),
        list(measures) or list(DEFAULT_MEASURES),
        complete=complete,
        level=level,
        depth=depth or 0,
        judged_only=judged_only,
        ties=ties,
        per_topic=per_topic,
        baseline=baseline,
        duplicates=duplicates,
        remarks=output.chosen == "table",
        threads=output.threads,
        progress=output.progress,
    )
    for note in result.notes:
        output.note(f"note: {note}")
    if output.chosen != "trec_eval":
        output.write(result)
        return
    text = result.trec_eval_text()
    if output.path is None:
        sys.stdout.write(text)
        return
    from surefoot.io.atomic import atomic_open

    with atomic_open(output.path) as file:
        file.write(text)
