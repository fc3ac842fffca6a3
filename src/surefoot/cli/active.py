"""`surefoot active`: plan, label and estimate with few labels."""

from pathlib import Path
from typing import Any

import click

from surefoot.cli.options import NumberList, Output, output_options


@click.group()
def command() -> None:
    """Choose which queries to label, collect the labels, and estimate from them.

    A study is an SQLite file, or a postgresql:// URL.
    """


@command.command("pool")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--depth", type=click.IntRange(min=1), help="Keep the first N documents of a query.")
@output_options
def pool_command(runs: tuple[str, ...], depth: int | None, output: Output) -> None:
    """Join runs to a POOL for `plan`."""
    from surefoot.active import pool

    result = pool(list(runs), depth=depth)
    output.write(result)
    if output.chosen != "table":
        for line in result.headline[1:]:
            output.note(line)


@command.command("plan")
@click.argument("pool")
@click.option("-m", "--measure", required=True, help="ERR, DCG, nDCG, RBP(p=0.8), INST(T=3); @k.")
@click.option("--compare", is_flag=True, help="The difference of the pool's rankings.")
@click.option("--budget", type=float, required=True, help="In units of the mean query's cost.")
@click.option("-o", "--output", "study", required=True, metavar="STUDY", help="File or URL.")
@click.option("--dump-q", type=click.Path(dir_okay=False, path_type=Path), help="Write every q.")
@click.option(
    "--grades", type=click.IntRange(min=1), metavar="K", help="Largest grade, without p*."
)
@click.option(
    "--gain", type=click.Choice(["exp", "linear", "thesis"]), help="Default: the paper's, exp."
)
@click.option(
    "--variant",
    type=click.Choice(["active", "passive", "uniD", "uniC"]),
    default="active",
    show_default=True,
)
@click.option(
    "--design",
    type=click.Choice(["replacement", "priority"]),
    default="replacement",
    show_default=True,
    help="As Algorithm 1, or without drawing a query twice.",
)
@click.option("--cost", metavar="documents|log-length|flat|COLUMN", help="Default: column cost.")
@click.option("--cost-per", type=click.Choice(["auto", "topic", "item"]), default="auto")
@click.option("--floor", type=float, help="q >= floor x p; default 0.001, with --stop 0.3.")
@click.option("--model", metavar="NAME[+NAME]", help="How relevant documents are; see the guide.")
@click.option("--seed-labels", metavar="LABELS", help="Labelled documents to fit --model to.")
@click.option("--features", metavar="COL[,COL]", help="Columns that --model sees.")
@click.option(
    "--method",
    type=click.Choice(["eq6", "regression", "difference"]),
    default="eq6",
    show_default=True,
    help="How to estimate; regression trusts the model where it proves right.",
)
@click.option("--stop", default="", metavar="RULE", help="sign, or half-width<H: look any time.")
@click.option("--confidence", type=float, default=0.95, show_default=True)
@click.option("--price", type=float, help="Money for one mean query.")
@click.option("--currency", default="", help="Of --price.")
@click.option("--format", "format_", type=click.Choice(["table", "csv", "tsv", "json", "jsonl"]))
@click.option("-q", "--quiet", is_flag=True, help="No remarks on stderr.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--threads", type=click.IntRange(min=0), default=0, help="0 = all cores.")
@click.option("--progress/--no-progress", default=None, help="Progress on stderr.")
def plan_command(
    pool: str,
    study: str,
    dump_q: Path | None,
    grades: int | None,
    format_: str | None,
    quiet: bool,
    seed: int,
    threads: int,
    progress: bool | None,
    model: str | None,
    seed_labels: str | None,
    features: str | None,
    **options: Any,
) -> None:
    """Plan which queries of POOL to label, and write STUDY."""
    from surefoot.active import plan
    from surefoot.io.output import write_result

    n_grades = None if grades is None else grades + 1
    result = plan(
        pool,
        study,
        grades=n_grades,
        model=_model(pool, model, seed_labels, features, n_grades, seed, threads),
        seed=seed,
        threads=threads,
        **options,
    )
    if dump_q is not None:
        chosen = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".parquet": "parquet"}
        write_result(result.sampling(), format=chosen.get(dump_q.suffix, "tsv"), path=dump_q)
    Output(format_, None, quiet, progress, seed, threads).write(result)


def _model(
    pool: str,
    name: str | None,
    seed_labels: str | None,
    features: str | None,
    grades: int | None,
    seed: int,
    threads: int,
) -> Any:
    """The model of relevance that the options name, if any."""
    if name is None:
        if seed_labels is not None or features is not None:
            raise click.UsageError("--seed-labels and --features are of a --model")
        return None
    from surefoot.active import fit_relevance

    return fit_relevance(
        pool,
        name,
        seed_labels=seed_labels,
        features=tuple(filter(None, (features or "").split(","))),
        grades=grades,
        seed=seed,
        threads=threads,
    )


@command.command("next")
@click.argument("study")
@click.option("-n", "--count", type=click.IntRange(min=1), default=1, help="How many queries.")
@click.option("--labeller", default="", help="Keep the queries for this labeller for a day.")
@output_options
def next_command(study: str, count: int, labeller: str, output: Output) -> None:
    """Which documents to label now; the same until they are labelled."""
    from surefoot.active import next_tasks

    result = next_tasks(study, count=count, labeller=labeller)
    output.write(result)
    if not len(result):
        output.note(result.headline[0])


@command.command("label")
@click.argument("study")
@click.argument("labels")
@click.option("--labeller", default="", help="Who gave labels that do not name their labeller.")
@click.option(
    "--missing", type=click.IntRange(min=0), help="Grade of documents that a topic leaves out."
)
@output_options
def label_command(
    study: str, labels: str, labeller: str, missing: int | None, output: Output
) -> None:
    """Take LABELS (qrels, or topic,doc,grade[,labeller]) into STUDY."""
    from surefoot.active import label

    output.write(label(study, labels, labeller=labeller, missing=missing))


@command.command("estimate")
@click.argument("study")
@click.option(
    "--method",
    type=click.Choice(["eq6", "regression", "difference"]),
    help="Default: the study's.",
)
@click.option("--interval", type=click.Choice(["delta", "bootstrap", "group", "sequence"]))
@click.option("--confidence", type=float, help="Default: the study's.")
@click.option("--resamples", type=click.IntRange(min=100), default=2000, show_default=True)
@output_options
def estimate_command(study: str, output: Output, **options: Any) -> None:
    """Estimate, with an interval, from the labels so far."""
    from surefoot.active import estimate

    output.write(estimate(study, seed=output.seed, **options))


@command.command("status")
@click.argument("study")
@output_options
def status_command(study: str, output: Output) -> None:
    """Budget, draws, labellers and how far they agree."""
    from surefoot.active import status

    output.write(status(study))


@command.command("export")
@click.argument("study")
@click.option(
    "--kind",
    type=click.Choice(["draws", "labels", "grades", "disagreements", "queries"]),
    default="draws",
    show_default=True,
)
@output_options
def export_command(study: str, kind: str, output: Output) -> None:
    """Draws, labels, grades in force, disagreements or queries, for an audit."""
    from surefoot.active import export

    output.write(export(study, kind))


@command.command("extend")
@click.argument("study")
@click.option("--budget", type=float, required=True, help="What is added, in mean queries.")
@output_options
def extend_command(study: str, budget: float, output: Output) -> None:
    """Raise the budget; what is drawn and labelled stays."""
    from surefoot.active import extend

    result = extend(study, budget)
    output.write(result)
    if output.chosen != "table":
        for line in result.headline[1:]:
            output.note(line)


@command.command("simulate")
@click.argument("pool")
@click.option("--labels", required=True, metavar="QRELS", help="Labels of the whole pool.")
@click.option("-m", "--measure", default="ERR", show_default=True)
@click.option("--compare", is_flag=True, help="The difference of the pool's rankings.")
@click.option("--budget", "budgets", type=NumberList(), default="25,50,100,200", show_default=True)
@click.option("--variant", "variants", multiple=True, help="Default: all four.")
@click.option("--method", "methods", multiple=True, help="Default: eq6.")
@click.option("--repeats", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option(
    "--grades", type=click.IntRange(min=1), metavar="K", help="Largest grade, without p*."
)
@click.option("--gain", type=click.Choice(["exp", "linear", "thesis"]))
@click.option("--cost", metavar="documents|log-length|flat|COLUMN")
@click.option("--cost-per", type=click.Choice(["auto", "topic", "item"]), default="auto")
@click.option("--model", metavar="NAME[+NAME]", help="How relevant documents are; see the guide.")
@click.option("--seed-labels", metavar="LABELS", help="Labelled documents to fit --model to.")
@click.option("--features", metavar="COL[,COL]", help="Columns that --model sees.")
@click.option("--floor", type=float, default=0.001, show_default=True)
@click.option("--confidence", type=float, default=0.95, show_default=True)
@output_options
def simulate_command(
    pool: str,
    labels: str,
    grades: int | None,
    variants: tuple[str, ...],
    methods: tuple[str, ...],
    model: str | None,
    seed_labels: str | None,
    features: str | None,
    output: Output,
    **options: Any,
) -> None:
    """Simulate studies on a labelled POOL: what would active labelling save?"""
    from surefoot.active import simulate
    from surefoot.active.sampling import VARIANTS

    n_grades = None if grades is None else grades + 1
    result = simulate(
        pool,
        labels,
        model=_model(pool, model, seed_labels, features, n_grades, output.seed, output.threads),
        variants=variants or VARIANTS,
        methods=methods or ("eq6",),
        grades=n_grades,
        seed=output.seed,
        threads=output.threads,
        **options,
    )
    output.write(result)
