"""`surefoot demo`: the main job on a generated collection."""

from pathlib import Path

import click


@click.command(short_help="Run the main job on a generated collection.")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--threads", type=click.IntRange(min=0), default=0, help="0 = all cores.")
def command(directory: Path, seed: int, threads: int) -> None:
    """Make a collection in DIRECTORY, evaluate it, and say which challenger can be shipped.

    Takes a few seconds. The files stay, so that every other command can be tried on them.
    """
    from surefoot.render.table import print_result
    from surefoot.workflows.demo import demo

    for step in demo(directory, seed=seed, threads=threads):
        click.secho(f"\n{step.question}", bold=True)
        if step.answer is not None:
            print_result(step.answer)
        for line in step.lines:
            click.echo(f"  {line}")
    click.echo(f"\nThe files are in {directory}: try `surefoot risk --help` on them.")
