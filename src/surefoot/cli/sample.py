"""`surefoot sample`: a generated collection to try things on."""

from pathlib import Path

import click

from surefoot.cli.options import Output, output_options


@click.command(short_help="Write a generated collection to try things on.")
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--topics",
    type=click.IntRange(min=4),
    help="Topics, or queries with --ltr.  [default: 50, with --ltr 200]",
)
@click.option(
    "--systems", type=click.IntRange(min=7), help="Rankers; not with --ltr.  [default: 20]"
)
@click.option("--ltr", is_flag=True, help="Labelled documents with features, for surefoot train.")
@click.option(
    "--documents", type=click.IntRange(min=4), help="Documents a query; --ltr.  [default: 120]"
)
@click.option("--features", type=click.IntRange(min=8), help="Features; --ltr.  [default: 136]")
@output_options
def command(
    directory: Path,
    topics: int | None,
    systems: int | None,
    ltr: bool,
    documents: int | None,
    features: int | None,
    output: Output,
) -> None:
    """Write a generated collection to DIRECTORY.

    Judgments (pooled, so that some documents are unjudged), a champion, four challengers of which
    one is better on the mean and worse on a tail of queries, artifact systems, topic texts and
    slices. The same seed writes the same bytes.

    With --ltr a learning-to-rank collection in the manner of MSLR-WEB10K instead: grades 0 to 4,
    136 features of which the first plays BM25, about 120 documents a query; in five parts for
    `surefoot cross-validate`, and as train.svm, valid.svm and test.svm for `surefoot train`.
    """
    if ltr:
        if systems is not None:
            raise click.UsageError("--ltr writes no rankers: drop --systems")
        from surefoot.workflows.sample_ltr import write_ltr_sample

        output.write(
            write_ltr_sample(
                directory,
                queries=topics or 200,
                documents=documents or 120,
                features=features or 136,
                seed=output.seed,
            )
        )
        return
    for name, value in (("--documents", documents), ("--features", features)):
        if value is not None:
            raise click.UsageError(f"{name} goes with --ltr")
    from surefoot.workflows.sample import write_sample

    output.write(
        write_sample(directory, topics=topics or 50, systems=systems or 20, seed=output.seed)
    )
