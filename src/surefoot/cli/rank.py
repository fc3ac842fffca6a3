"""`surefoot rank`: a run from a trained ranker."""

from pathlib import Path

import click

from surefoot.cli.options import quiet_option, threads_option


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data", metavar="TEST", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "run_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The run file; stdout without it.",
)
@click.option("--tag", default="surefoot", show_default=True, help="Last column of the run.")
@threads_option
@quiet_option("-q", "--quiet")
def command(
    model: Path, data: Path, run_path: Path | None, tag: str, threads: int, quiet: bool
) -> None:
    """Rank the documents of TEST with MODEL and write a TREC run.

    Documents are called by their '# docid = X' comment, or <query>-<position> without one.
    """
    from surefoot.io.atomic import atomic_open, check_apart
    from surefoot.workflows.rank import rank

    if run_path is not None:
        check_apart(run_path, [model, data])
    text = rank(model, data, tag=tag or "surefoot", threads=threads)
    if run_path is None:
        click.echo(text, nl=False)
        return
    with atomic_open(run_path) as file:
        file.write(text)
    if not quiet:
        click.echo(f"wrote {run_path} ({text.count(chr(10))} documents)", err=True)
