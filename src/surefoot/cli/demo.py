"""`surefoot demo`: the main job on a generated collection."""

from pathlib import Path

import click

from surefoot.cli.options import seed_option, threads_option


@click.command(short_help="Run the main job on a generated collection.")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@seed_option
@threads_option
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
