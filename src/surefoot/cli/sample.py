"""`surefoot sample`: a generated collection to try things on."""

from pathlib import Path

import click

from surefoot.cli.options import Output, output_options


@click.command(short_help="Write a generated collection to try things on.")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option("--topics", type=click.IntRange(min=4), default=50, show_default=True)
@click.option("--systems", type=click.IntRange(min=7), default=20, show_default=True)
@output_options
def command(directory: Path, topics: int, systems: int, output: Output) -> None:
    """Write a generated collection to DIRECTORY.

    Judgments (pooled, so that some documents are unjudged), a champion, four challengers of which
    one is better on the mean and worse on a tail of queries, artifact systems, topic texts and
    slices. The same seed writes the same bytes.
    """
    from surefoot.workflows.sample import write_sample

    output.write(write_sample(directory, topics=topics, systems=systems, seed=output.seed))
