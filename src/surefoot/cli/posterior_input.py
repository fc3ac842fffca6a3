"""Scores or a fit: the input of every command that reads a posterior."""

import functools
from typing import Any

import click

from surefoot.cli.options import Command, GreedyOption

FAMILIES = ("gaussian", "skew_normal", "zoib", "student")


def posterior_input(function: Command) -> Command:
    """Add SCORES (or --qrels, --run, -m), --fit, --family, --draws.

    The command gets `source`, a ScoreMatrix or a Posterior, `family` and `draws`.
    """

    @functools.wraps(function)
    def wrapper(
        *args: Any,
        scores: str | None,
        qrels: str | None,
        runs: tuple[str, ...],
        measure: str | None,
        fit_path: str | None,
        draws: int | None,
        **kwargs: Any,
    ) -> Any:
        given = scores is not None or qrels is not None or bool(runs)
        if fit_path is not None:
            if given:
                raise click.UsageError("give either scores or --fit FIT, not both")
            if draws is not None:
                raise click.UsageError("--draws belongs to fitting; a FIT has its own")
            from surefoot.workflows.fit import load_fit

            return function(*args, source=load_fit(fit_path), draws=None, **kwargs)
        if not given:
            raise click.UsageError(
                "give SCORES, or --fit FIT, or all of --qrels QRELS --run RUN... -m MEASURE"
            )
        from surefoot.workflows.scores import load_scores

        matrix = load_scores(
            scores, qrels=qrels, runs=runs, measure=measure, threads=kwargs["output"].threads
        )
        return function(*args, source=matrix, draws=draws, **kwargs)

    for decorate in (
        click.option("--draws", type=click.IntRange(min=100), help="Posterior draws."),
        click.option("--family", type=click.Choice(FAMILIES), help="Default: zoib."),
        click.option("--fit", "fit_path", metavar="FIT", help="A file that `surefoot fit` wrote."),
        click.option("-m", "--measure", help="Measure to compute, or to pick from SCORES."),
        click.option("--run", "runs", cls=GreedyOption, metavar="RUN...", help="Run files."),
        click.option("--qrels", metavar="QRELS", help="Judgments, to evaluate runs first."),
        click.argument("scores", required=False),
    ):
        wrapper = decorate(wrapper)
    return wrapper
