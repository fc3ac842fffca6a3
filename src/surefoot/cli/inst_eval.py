"""`inst_eval`: INST scores of one run, with the flags and the output of the reference program."""

import sys

import click

TIES = ("trec", "file", "rank", "docid", "average", "best", "worst")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("qrels")
@click.argument("run")
@click.option(
    "-T",
    "--over_write_T",
    "wanted",
    type=float,
    help="One T for all queries: useful documents wanted.",
)
@click.option(
    "-tpq",
    "--T_per_query",
    "per_query",
    type=click.Path(exists=True, dir_okay=False),
    help="File of 'query T' lines, separated by a tab or blanks.",
)
@click.option(
    "-c",
    "--complete_qrel_queries",
    "complete",
    is_flag=True,
    help="Average over all queries of the judgments; those that the run lacks contribute 0.",
)
@click.option(
    "-n", "--eval_depth", "depth", type=click.IntRange(min=1), help="Look at N documents a query."
)
@click.option("-q", "--per_query", "each", is_flag=True, help="Print every query as well.")
@click.option(
    "--ties",
    type=click.Choice(TIES),
    default="average",
    show_default=True,
    help="Equal scores: gains averaged, as the paper prefers, or one order of the documents.",
)
def command(
    qrels: str,
    run: str,
    wanted: float | None,
    per_query: str | None,
    complete: bool,
    depth: int | None,
    each: bool,
    ties: str,
) -> None:
    """INST of the documents in RUN under the judgments in QRELS (Moffat et al. 2015).

    Prints num_ret, num_rel and num_rel_ret, then INST with all unjudged documents worthless
    (inst_min), with all of them fully useful (inst_max), and the difference (inst_res).
    """
    if (wanted is None) == (per_query is None):
        raise click.UsageError("give one of -T and -tpq: how many useful documents a user wants")
    from surefoot.render.visible import visible
    from surefoot.workflows.inst_eval import inst_eval

    report = inst_eval(
        qrels,
        run,
        T=wanted,
        T_per_topic=per_query,
        complete=complete,
        depth=depth or 0,
        per_topic=each,
        ties=ties,
    )
    for note in report.notes:
        click.echo(f"inst_eval: {visible(note)}", err=True)
    sys.stdout.write("".join(f"{line}\n" for line in report.lines()))


def main() -> None:
    """Entry point of the `inst_eval` program."""
    from surefoot.cli.main import run, start_quickly

    start_quickly(algebra=False)
    run(command, "inst_eval")
