"""Scores or a fit: the input of every command that reads a posterior."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

import click

from surefoot.cli.options import Command, Output, scores_parameters
from surefoot.results.record import Result

# families of models of scores; zoib_rank models the gains of single ranks
FAMILIES = ("gaussian", "skew_normal", "zoib", "student")

device_option = click.option(
    "--device",
    type=click.Choice(("cpu", "gpu", "jax-cpu")),
    default="cpu",
    show_default=True,
    help="Where to draw; all but cpu need JAX (pip install 'surefoot[gpu]').",
)


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
            from surefoot.io.fit_file import read_fit

            return function(*args, source=read_fit(fit_path), draws=None, **kwargs)
        if not given:
            raise click.UsageError(
                "give SCORES, or --fit FIT, or all of --qrels QRELS --run RUN... -m MEASURE"
            )
        from surefoot.workflows.scores import load_scores

        matrix = load_scores(
            scores, qrels=qrels, runs=runs, measure=measure, threads=kwargs["threads"]
        )
        return function(*args, source=matrix, draws=draws, **kwargs)

    for decorate in (
        click.option("--draws", type=click.IntRange(min=100), help="Posterior draws."),
        click.option("--family", type=click.Choice(FAMILIES), help="Default: zoib."),
        click.option("--fit", "fit_path", metavar="FIT", help="A file that `surefoot fit` wrote."),
        *scores_parameters,
    ):
        wrapper = decorate(wrapper)
    return wrapper


def write_with_doubts(
    output: Output, verb: Callable[..., Result], source: Any, **options: Any
) -> None:
    """Call a verb and write its result; doubts about the fit go to stderr, one line each."""
    from surefoot.errors import UnreliableWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnreliableWarning)
        result = verb(
            source,
            seed=output.seed,
            threads=output.threads,
            progress=False if output.quiet else output.progress,
            **options,
        )
    for message in dict.fromkeys(str(w.message) for w in caught):
        output.note(f"surefoot: warning: {message}")
    output.write(result)
