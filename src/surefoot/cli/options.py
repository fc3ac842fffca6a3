"""Options that several commands share, defined once."""

import functools
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from surefoot.data.scores import ScoreMatrix
from surefoot.data.seed import SEEDS_BELOW
from surefoot.io.output import FORMATS, format_of, open_output, write_result
from surefoot.results.record import Result

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


class GreedyOption(click.Option):
    """An option that takes every following value up to the next option: ``--run a b c``."""

    def takes(self, value: str) -> bool:
        """Whether a following value belongs to this option."""
        return not value.startswith("-") or value == "-"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["multiple"] = True
        super().__init__(*args, **kwargs)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Extend the parser's action so that it swallows further values."""
        super().add_to_parser(parser, ctx)
        for name in self.opts:
            option = parser._long_opt.get(name) or parser._short_opt.get(name)
            if option is None:
                continue
            process = option.process

            def greedy(value: Any, state: Any, process: Any = process) -> None:
                process(value, state)
                while state.rargs and self.takes(state.rargs[0]):
                    process(state.rargs.pop(0), state)

            option.process = greedy


@dataclass(frozen=True, slots=True)
class Output:
    """Where and how a command writes its result."""

    format: str | None
    path: Path | None
    quiet: bool
    progress: bool | None
    seed: int
    threads: int

    @property
    def chosen(self) -> str:
        """The format that --format asks for, else the terminal or the file's name."""
        if self.format is not None:
            return self.format
        if self.path is None:
            return "table" if sys.stdout.isatty() else "tsv"
        return format_of(self.path)

    def write(self, result: Result) -> None:
        """Render or serialise one result."""
        chosen = self.chosen
        if chosen != "table":
            write_result(result, format=chosen, path=self.path)
            return
        from surefoot.render.table import print_result

        if self.path is None:
            print_result(result)
            return
        with open_output(self.path) as file:
            print_result(result, file=file)

    def note(self, message: str) -> None:
        """One line of comment on stderr, unless --quiet."""
        if not self.quiet:
            from surefoot.render.visible import visible

            click.echo(visible(message), err=True)


def _seed(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Seeds are words of 64 bits to the generators."""
    if value >= SEEDS_BELOW:
        raise click.BadParameter("a seed must be below 2^63")
    return value


seed_option = click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, callback=_seed
)
threads_option = click.option(
    "--threads", type=click.IntRange(min=0), default=0, help="0 = all cores."
)
progress_option = click.option("--progress/--no-progress", default=None, help="Progress on stderr.")


def quiet_option(*flags: str) -> Decorator:
    """Add --quiet by the flags that a command has free."""
    return click.option(*flags, "quiet", is_flag=True, help="No remarks on stderr.")


def output_options(
    function: Command | None = None,
    *,
    quiet_flags: tuple[str, ...] = ("-q", "--quiet"),
    formats: tuple[str, ...] = FORMATS,
    rows: bool = True,
) -> Any:
    """Add --format, -o, --seed, --threads, -q, --progress; the command gets one `output`.

    With `rows` false, -o is for a file of the command's own, and the rows go to standard output.
    """
    if function is None:
        return functools.partial(
            output_options, quiet_flags=quiet_flags, formats=formats, rows=rows
        )

    @functools.wraps(function)
    def wrapper(
        *args: Any,
        format: str | None,
        output_path: Path | None,
        quiet: bool,
        progress: bool | None,
        seed: int,
        threads: int,
        **kwargs: Any,
    ) -> Any:
        if output_path is not None:
            from surefoot.io.atomic import check_writable

            check_writable(output_path)
        _keep_inputs(click.get_current_context().params)
        if output_path is not None and rows and format is None:
            format_of(output_path)
        output = Output(format, output_path, quiet, progress, seed, threads)
        return function(*args, output=output, **kwargs)

    wrapped: Any = wrapper
    for decorate in (
        progress_option,
        quiet_option(*quiet_flags),
        threads_option,
        seed_option,
        click.option(
            "-o", "--output", "output_path", type=click.Path(dir_okay=False, path_type=Path)
        ),
        click.option(
            "--format",
            type=click.Choice(formats),
            help="Default: table on a terminal, else by the file's name (.gz too), else tsv."
            if rows
            else "Default: table on a terminal, else tsv.",
        ),
    ):
        wrapped = decorate(wrapped)
    return wrapped


def _one_measure(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str | None:
    """The one measure that a table of scores is of; two would leave one out without a word."""
    names = dict.fromkeys(value)
    if len(names) > 1:
        raise click.BadParameter(f"takes one measure here, not {' and '.join(names)}")
    return next(iter(names), None)


# parameters that name files to read, and files to write
INPUTS: tuple[str, ...] = ("scores", "qrels", "runs", "fit_path", "baseline", "baselines")
INPUTS += ("population", "slices", "groups", "families", "relevant")
INPUTS += ("study", "pool", "labels", "seed_labels")
OUTPUTS = ("output_path", "junit", "markdown")


def _keep_inputs(parameters: Mapping[str, Any]) -> None:
    """Refuse to write over what the same command reads."""
    given = {name: parameters[name] for name in OUTPUTS if parameters.get(name) is not None}
    if not given:
        return
    from surefoot.io.atomic import check_apart

    named = [parameters.get(name) for name in INPUTS]
    read = [x for v in named if v is not None for x in (v if isinstance(v, tuple) else (v,))]
    for path in given.values():
        check_apart(path, [x for x in read if isinstance(x, (str, Path))])


measure_option = click.option(
    "-m",
    "--measure",
    multiple=True,
    callback=_one_measure,
    help="Measure to compute, or to pick from SCORES.",
)

# SCORES, or what they are computed from
scores_parameters: tuple[Any, ...] = (
    measure_option,
    click.option("--run", "runs", cls=GreedyOption, metavar="RUN...", help="Run files."),
    click.option("--qrels", metavar="QRELS", help="Judgments, to evaluate runs first."),
    click.argument("scores", required=False),
)


# what becomes of missing scores: in a comparison of two systems, and in a model of all
COMPARED = "a comparison uses the topics that both systems have"
MODELLED = "the model is fitted to the others and answers for every topic"


def scores_input(
    function: Command | None = None, *, required: bool = True, gaps: str = COMPARED
) -> Command:
    """Add SCORES, or --qrels with --run and -m; the command gets a `scores` ScoreMatrix.

    Stands above `output_options`, whose --threads and --quiet it heeds.

    With `required` false, a command called without any gets None; `gaps` says what it makes of
    missing scores.
    """
    if function is None:
        return functools.partial(scores_input, required=required, gaps=gaps)

    @functools.wraps(function)
    def wrapper(
        *args: Any,
        scores: str | None,
        qrels: str | None,
        runs: tuple[str, ...],
        measure: str | None,
        **kwargs: Any,
    ) -> Any:
        if not required and scores is None and qrels is None and not runs:
            return function(*args, scores=None, **kwargs)
        if scores is None and (qrels is None or not runs or measure is None):
            raise click.UsageError("give SCORES, or all of --qrels QRELS --run RUN... -m MEASURE")
        if scores is not None and (qrels is not None or runs):
            raise click.UsageError("give either SCORES or --qrels with --run, not both")
        matrix = load_matrix(
            scores, qrels, runs, measure,
            threads=kwargs["threads"], quiet=kwargs["quiet"], gaps=gaps,
        )  # fmt: skip
        return function(*args, scores=matrix, **kwargs)

    for decorate in scores_parameters:
        wrapper = decorate(wrapper)
    return wrapper


def load_matrix(
    scores: str | None,
    qrels: str | None,
    runs: tuple[str, ...],
    measure: str | None,
    *,
    threads: int,
    quiet: bool,
    gaps: str,
) -> ScoreMatrix:
    """Read or evaluate; say on stderr what no result would show, unless quiet.

    `gaps` is what becomes of missing scores.
    """
    from surefoot.errors import UnreliableWarning
    from surefoot.render.visible import visible
    from surefoot.workflows.scores import load_scores

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnreliableWarning)
        matrix = load_scores(scores, qrels=qrels, runs=runs, measure=measure, threads=threads)
    if not quiet:
        said = [str(w.message) for w in caught if issubclass(w.category, UnreliableWarning)]
        for oddity in (*said, *_oddities(matrix, gaps)):
            click.echo(visible(f"note: {oddity}"), err=True)
    return matrix


def _oddities(scores: ScoreMatrix, where_missing: str) -> Iterator[str]:
    """What no result would show: missing scores, and columns that are no systems."""
    values, gaps = scores.values, scores.missing
    count = int(gaps.sum())
    if count:
        i, j = divmod(int(gaps.argmax()), gaps.shape[1])
        yield (
            f"{count} of {gaps.size} scores are missing, such as that of {scores.systems[i]} on "
            f"{scores.topics[j]}; {where_missing}"
        )
    whole = ((values == values.round()) | gaps).all(axis=1)
    within = (((values >= 0) & (values <= 1)) | gaps).all(axis=1)
    if (within & ~whole).any() and (whole & ~within).any():
        odd = [s for s, o in zip(scores.systems, whole & ~within, strict=True) if o]
        yield (
            f"whole numbers beyond 0 to 1 in {', '.join(odd[:5])}{', ...' if len(odd) > 5 else ''},"
            " unlike in other systems. Hint: drop columns that are no scores from the table"
        )


def champion_option(*, many: bool = False, required: bool = True, help: str = "") -> Decorator:
    """Add --champion; with `many` it takes several, by commas or repeated."""
    what = help or (
        "What is in use now: a system, several, or mean, median or max of all systems."
        if many
        else "What is in use now: a system, or mean, median or max of all systems."
    )
    return click.option(
        "--champion",
        required=required,
        multiple=many,
        callback=_given_or_none if many else None,
        metavar="NAME[,NAME]" if many else "NAME",
        help=what,
    )


def challengers_option(
    *, name: str = "systems", help: str = "Challengers. [default: all others]"
) -> Decorator:
    """Add --system; names by commas, or the option repeated."""
    return click.option(
        "--system",
        name,
        multiple=True,
        callback=_given_or_none,
        metavar="NAME[,NAME]",
        help=help,
    )


def _given_or_none(ctx: click.Context, param: click.Parameter, value: tuple[Any, ...]) -> Any:
    """A repeatable option that was left out is None, as in Python."""
    return value or None


def loss_weight(*, many: bool = True, default: int = 1) -> Decorator:
    """Add --alpha and --r, of which one may be given; the command gets `alpha` and `r`.

    With `many` each is a tuple or None, from values by commas or the option repeated; otherwise one
    number or None.
    """

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def wrapper(
            *args: Any,
            alpha: tuple[float, ...] | None,
            r: tuple[float, ...] | None,
            **kwargs: Any,
        ) -> Any:
            if alpha is not None and r is not None:
                raise click.UsageError("give --alpha or --r, not both (r = 1 + alpha)")
            if many:
                return function(*args, alpha=alpha, r=r, **kwargs)
            for option, given in (("--alpha", alpha), ("--r", r)):
                if given is not None and len(given) != 1:
                    raise click.UsageError(f"{option} takes one number here")
            alone = {k: v[0] if v else None for k, v in (("alpha", alpha), ("r", r))}
            return function(*args, **alone, **kwargs)

        what = "Minus form, r = 1 + alpha; higher is riskier."
        decorated = number_list("--r", minimum=1, many=many, help=what)(wrapper)
        what = f"Extra weight of a loss. [default: {default}]"
        return number_list("--alpha", minimum=0, many=many, help=what)(decorated)

    return decorate


value_option = click.option(
    "--value",
    type=click.Choice(["linear", "smooth", "refit"]),
    default="linear",
    show_default=True,
    help="What a difference is worth: linear, the thesis' cubic, or that cubic fitted to the data.",
)


def number_list(
    *flags: str, minimum: float, help: str, many: bool = True, default: str | None = None
) -> Decorator:
    """An option of numbers by commas that may be repeated; a tuple of each once, or None."""
    name = flags[0].lstrip("-")[0].upper()
    return click.option(
        *flags,
        type=NumberList(minimum=minimum),
        multiple=True,
        callback=joined,
        default=None if default is None else [default],
        show_default=default is not None,
        metavar=f"{name}[,{name}...]" if many else name,
        help=help,
    )


def joined(ctx: click.Context, param: click.Parameter, value: Any) -> tuple[Any, ...] | None:
    """What a list option was given, each once, over all its repetitions; None without any."""
    return tuple(dict.fromkeys(x for part in value for x in part)) or None


class ChoiceList(click.Choice):  # type: ignore[type-arg]
    """Choices by commas: ``--method student,bca``."""

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """Check each choice."""
        convert = super().convert
        return tuple(convert(part.strip(), param, ctx) for part in str(value).split(","))


class NumberList(click.ParamType):  # type: ignore[type-arg]
    """Comma-separated numbers: ``--alpha 0,1,5``."""

    name = "A[,A...]"

    def __init__(self, *, minimum: float | None = None) -> None:
        self.minimum = minimum

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, ...]:
        """Parse and check each number."""
        if isinstance(value, tuple):
            return value
        out = []
        for part in str(value).split(","):
            try:
                number = float(part)
            except ValueError:
                self.fail(f"{part!r} is not a number", param, ctx)
            if number != number or number in (float("inf"), float("-inf")):
                self.fail(f"{part!r} is not a finite number", param, ctx)
            if self.minimum is not None and number < self.minimum:
                self.fail(f"{part} is below {self.minimum:g}", param, ctx)
            out.append(number)
        return tuple(out)
