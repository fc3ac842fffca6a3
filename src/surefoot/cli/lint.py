"""surefoot lint: what is wrong or suspicious in judgments and runs."""

import click

from surefoot.cli.options import Output, output_options


@click.command()
@click.argument("qrels")
@click.argument("runs", metavar="RUN...", nargs=-1)
@output_options
def command(qrels: str, runs: tuple[str, ...], output: Output) -> int:
    """Say what is wrong or suspicious in QRELS and RUN..., one line each.

    Errors (the file cannot be used), warnings (scores may mislead) and notes. Exit code 1 when
    there is an error, 0 otherwise.
    """
    from surefoot.workflows.lint import lint

    report = lint(qrels, runs)
    output.write(report)
    errors = report.count("error")
    if errors and output.chosen != "table":
        output.note(f"surefoot: {errors} error{'s' if errors > 1 else ''}")
    return 1 if errors else 0
