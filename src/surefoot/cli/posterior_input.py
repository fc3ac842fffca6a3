"""Scores or a fit: the input of every command that reads a posterior, and how one is fitted."""

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import click

from surefoot.cli.options import (
    MODELLED,
    Command,
    Decorator,
    Output,
    load_matrix,
    number_list,
    scores_parameters,
)
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


class Within(click.ParamType):  # type: ignore[type-arg]
    """A finite number above or from `low` and below or up to `high`."""

    name = "number"

    def __init__(self, low: float, high: float = math.inf, *, open_low: bool, open_high: bool):
        self.low, self.high, self.open_low, self.open_high = low, high, open_low, open_high

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """Parse and check; NaN is between no two numbers."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        above = number > self.low if self.open_low else number >= self.low
        below = number < self.high if self.open_high else number <= self.high
        if not (above and below and math.isfinite(number)):
            rule = "not be negative" if self.low == 0 and self.high == math.inf else (
                f"be between {self.low:g} and {self.high:g}"
            )  # fmt: skip
            self.fail(f"must {rule}, but got {value}", param, ctx)
        return number


interval_option = click.option(
    "--interval",
    type=Within(0, 1, open_low=True, open_high=True),
    default=0.95,
    show_default=True,
    metavar="P",
    help="Probability of the intervals.",
)

prior_option = click.option(
    "--prior",
    "priors",
    multiple=True,
    metavar="P=DIST(..)",
    help='A prior, e.g. "sd_system=half_t(3,0,2.5)"; repeat for more. Which distributions a '
    'parameter takes: docs/method/bayes.md, "Priors".',
)


one_above_option = click.option(
    "--one-above",
    type=Within(0, 1, open_low=True, open_high=False),
    metavar="X",
    help="Scores above X count as exactly 1 (family zoib; the thesis: .9999).",
)


def loss_count_option(*, minimum: float, default: str, many: bool = True) -> Decorator:
    """Add --r, numbers by commas; --alpha is answered with the r that means the same.

    With `many` the command gets a tuple `r`, otherwise one number.
    """

    def explain(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
        if value is None:
            return
        try:
            same = ",".join(f"{1 + float(part):g}" for part in value.split(","))
        except ValueError:
            same = "R"
        raise click.UsageError(
            f"--alpha is the form of `risk`, where higher is better; here higher is riskier. "
            f"Hint: --r {same} (r = 1 + alpha)",
            ctx,
        )

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def wrapper(*args: Any, r: tuple[float, ...], **kwargs: Any) -> Any:
            if not many and len(r) > 1:
                raise click.UsageError("--r takes one number here")
            return function(*args, r=r if many else r[0], **kwargs)

        option = number_list(
            "--r",
            minimum=minimum,
            default=default,
            many=many,
            help="How many times a loss counts as much as a gain.",
        )
        hint = click.option(
            "--alpha", hidden=True, expose_value=False, callback=explain, is_eager=True
        )
        return option(hint(wrapper))

    return decorate


def fitting_options(
    function: Command | None = None,
    *,
    families: Sequence[str] = FAMILIES,
    default: str = "zoib",
    several: bool = False,
) -> Command:
    """Add --family, --draws, --prior, --one-above; the command gets them as one `fitting`.

    Parameters
    ----------
    families : sequence of str
        What the verb can fit; --one-above is for zoib alone.
    default : str
        What it fits unasked.
    several : bool
        Whether --family is repeated, for a tuple `families`.
    """
    if function is None:
        return functools.partial(
            fitting_options, families=families, default=default, several=several
        )
    ones = "zoib" in families

    @functools.wraps(function)
    def wrapper(
        *args: Any,
        family: Any,
        draws: int | None,
        priors: tuple[str, ...],
        one_above: float | None = None,
        **kwargs: Any,
    ) -> Any:
        fitting: dict[str, Any] = {"draws": draws, "priors": priors}
        fitting |= {"families": family or None} if several else {"family": family}
        if ones:
            fitting["one_above"] = one_above
        return function(*args, fitting=fitting, **kwargs)

    wrapped: Command = wrapper
    if ones:
        wrapped = one_above_option(wrapped)
    for decorate in (
        prior_option,
        click.option(
            "--draws", type=click.IntRange(min=100), help="Posterior draws.  [default: 20000]"
        ),
        click.option(
            "--family",
            type=click.Choice(families),
            multiple=several,
            help=f"{'A family to try; repeat.' if several else 'Model.'}  [default: {default}]",
        ),
    ):
        wrapped = decorate(wrapped)
    return wrapped


def posterior_input(function: Command | None = None, *, ranks: bool = False) -> Command:
    """Add SCORES (or --qrels, --run, -m), or --fit; and how to fit SCORES.

    Stands above `output_options`, whose --threads and --quiet it heeds.

    The command gets `source`, a ScoreMatrix or a Posterior, and `fitting` as by `fitting_options`.
    With `ranks`, zoib_rank is among the families, and `source` then the path of a table of gains.
    """
    if function is None:
        return functools.partial(posterior_input, ranks=ranks)

    @functools.wraps(function)
    def wrapper(
        *args: Any,
        scores: str | None,
        qrels: str | None,
        runs: tuple[str, ...],
        measure: str | None,
        fit_path: str | None,
        fitting: dict[str, Any],
        **kwargs: Any,
    ) -> Any:
        given = scores is not None or qrels is not None or bool(runs)
        if fit_path is not None:
            if given:
                raise click.UsageError("give either scores or --fit FIT, not both")
            new = {
                "--draws": fitting["draws"],
                "--prior": fitting["priors"],
                "--one-above": fitting["one_above"],
                "-m": measure,
            }
            asked = [name for name, value in new.items() if value not in (None, ())]
            if asked:
                raise click.UsageError(
                    f"{' and '.join(asked)} would need a new fit; a FIT has its own. "
                    "Hint: give SCORES, or fit again with surefoot fit"
                )
            from surefoot.io.fit_file import read_fit

            return function(*args, source=read_fit(fit_path), fitting=fitting, **kwargs)
        if not given:
            raise click.UsageError(
                "give SCORES, or --fit FIT, or all of --qrels QRELS --run RUN... -m MEASURE"
            )
        if fitting["family"] == "zoib_rank":
            if scores is None or qrels is not None or runs or measure is not None:
                raise click.UsageError(
                    "zoib_rank reads a table system,topic,rank,score, without --qrels or -m"
                )
            return function(*args, source=scores, fitting=fitting, **kwargs)
        matrix = load_matrix(
            scores, qrels, runs, measure,
            threads=kwargs["threads"], quiet=kwargs["quiet"], gaps=MODELLED,
        )  # fmt: skip
        return function(*args, source=matrix, fitting=fitting, **kwargs)

    families = (*FAMILIES, "zoib_rank") if ranks else FAMILIES
    wrapped: Command = fitting_options(wrapper, families=families)
    for decorate in (
        click.option("--fit", "fit_path", metavar="FIT", help="A file that `surefoot fit` wrote."),
        *scores_parameters,
    ):
        wrapped = decorate(wrapped)
    return wrapped


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
