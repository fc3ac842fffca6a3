"""`surefoot fit`: fit a Bayesian hierarchical model and save it."""

import warnings
from dataclasses import replace

import click

from surefoot.cli.options import GreedyOption, Output, measure_option, output_options
from surefoot.cli.posterior_input import device_option, one_above_option, prior_option

FAMILIES = ("gaussian", "skew_normal", "zoib", "zoib_rank", "student")


@click.command()
@click.argument("scores", required=False)
@click.option("--qrels", metavar="QRELS", help="Judgments, to evaluate runs first.")
@click.option("--run", "runs", cls=GreedyOption, metavar="RUN...", help="Run files.")
@measure_option
@click.option(
    "--family", type=click.Choice(FAMILIES), default="gaussian", show_default=True, help="Model."
)
@click.option(
    "--draws",
    type=click.IntRange(min=100),
    default=20_000,
    show_default=True,
    help="Equally weighted draws.",
)
@prior_option
@one_above_option
@click.option(
    "--engine",
    type=click.Choice(("auto", "exact", "laplace", "hmc", "prior")),
    default="auto",
    show_default=True,
    help="How to draw; auto falls back by its diagnostics, prior ignores the scores.",
)
@device_option
@click.option(
    "--check",
    type=click.Choice(("nuts",)),
    help="Compare with nutpie's NUTS (pip install 'surefoot[bayes-check]').",
)
@click.option("--no-criteria", is_flag=True, help="Skip WAIC and LOO.")
@click.option(
    "--log-likelihood",
    is_flag=True,
    help="Save the log likelihood of each score too, for arviz.loo (8,000 draws at most).",
)
@output_options(rows=False)  # type: ignore[untyped-decorator]
def command(
    scores: str | None,
    qrels: str | None,
    runs: tuple[str, ...],
    measure: str | None,
    family: str,
    draws: int,
    priors: tuple[str, ...],
    one_above: float | None,
    engine: str,
    device: str,
    check: str | None,
    no_criteria: bool,
    log_likelihood: bool,
    output: Output,
) -> None:
    """Fit a hierarchical model to SCORES; -o FIT.nc saves it, the summary goes to stdout.

    For zoib_rank, SCORES is a table system,topic,rank,score.
    """
    from surefoot.errors import UnreliableWarning
    from surefoot.workflows.fit import fit

    if scores is None and (qrels is None or not runs or measure is None):
        raise click.UsageError("give SCORES, or all of --qrels QRELS --run RUN... -m MEASURE")
    if scores is not None and (qrels is not None or runs):
        raise click.UsageError("give either SCORES or --qrels with --run, not both")
    if log_likelihood and output.path is None:
        raise click.UsageError("--log-likelihood goes into a file. Hint: add -o FIT.nc")
    if output.path is not None:
        from surefoot.io.fit_file import check_fit_name

        check_fit_name(output.path)
    if family == "zoib_rank" and (scores is None or measure is not None):
        raise click.UsageError(
            "zoib_rank reads a table system,topic,rank,score, without --qrels or -m"
        )
    source: object = scores
    if family != "zoib_rank":
        from surefoot.workflows.scores import load_scores

        source = load_scores(
            scores, qrels=qrels, runs=runs, measure=measure, threads=output.threads
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)  # said below, one line each
        posterior = fit(
            source,
            family=family,
            draws=draws,
            priors=priors,
            one_above=one_above,
            engine=engine,
            device=device,
            criteria=not no_criteria,
            check=check,
            threads=output.threads,
            progress=output.progress,
            seed=output.seed,
        )
    for doubt in posterior.warnings:
        output.note(f"surefoot: warning: {doubt}")
    if check is not None:
        output.note(posterior.headline[-1])
    if output.path is not None:
        from surefoot.workflows.save_fit import save_fit

        save_fit(posterior, output.path, log_likelihood=log_likelihood, threads=output.threads)
        output.note(f"saved {output.path}")
    replace(output, path=None).write(posterior)
