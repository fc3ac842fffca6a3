"""The `surefoot` program: finds the command, turns errors into one line and an exit code."""

import gc
import io
import os
import sys
import warnings
from importlib import import_module
from typing import Any, NoReturn

import click

from surefoot import __version__
from surefoot.errors import SurefootError, UnreliableWarning
from surefoot.render.visible import visible

# command -> (module that defines it as `command`, one line of help); imported only when called
COMMANDS: dict[str, tuple[str, str]] = {
    "evaluate": (
        "surefoot.cli.evaluate",
        "Per-topic scores of runs, with bounds for unjudged documents.",
    ),
    "lint": ("surefoot.cli.lint", "What is wrong or suspicious in judgments and runs."),
    "demo": ("surefoot.cli.demo", "Run the main job on a generated collection."),
    "sample": ("surefoot.cli.sample", "Write a generated collection to try things on."),
    "risk": ("surefoot.cli.risk", "How much each challenger risks against a champion."),
    "topics": ("surefoot.cli.topics", "Which queries got worse, and which decide the verdict."),
    "ci": ("surefoot.cli.ci", "Confidence intervals of the risk."),
    "test": ("surefoot.cli.test", "Significance tests with corrections for many systems."),
    "power": ("surefoot.cli.power", "How many topics a comparison needs."),
    "normality": ("surefoot.cli.normality", "Are differences normal; which interval to trust."),
    "gate": ("surefoot.cli.gate", "Fail a build when a challenger is too risky."),
    "orders": ("surefoot.cli.orders", "How alike the orders of systems under overlays are."),
    "frontier": ("surefoot.cli.frontier", "Which settings no other beats on risk and reward."),
    "stability": ("surefoot.cli.stability", "Whether overlays agree with themselves."),
    "fit": ("surefoot.cli.fit", "Fit a Bayesian hierarchical model to many systems."),
    "models": ("surefoot.cli.models", "Which family of models predicts the scores best."),
    "ppd-risk": ("surefoot.cli.ppd_risk", "Risk on new topics, by posterior prediction."),
    "brisk": ("surefoot.cli.brisk", "Bayesian risk-adjusted effectiveness."),
    "forecast": ("surefoot.cli.forecast", "Which queries may get worse, by posterior prediction."),
    "ranks": ("surefoot.cli.ranks", "Ranks of systems with their uncertainty."),
    "pairs": ("surefoot.cli.pairs", "Who is better than the champion, and by how much it matters."),
    "difficulty": ("surefoot.cli.difficulty", "Which queries are hard, medium or easy."),
    "paired": ("surefoot.cli.paired", "One pair of systems by a Bayesian model of its own."),
    "artifacts": ("surefoot.cli.artifacts", "How verdicts move as other systems join the model."),
    "check": ("surefoot.cli.check", "Whether a fitted model makes scores like the observed ones."),
    "train": ("surefoot.cli.train", "Train a ranker that minds what it must not break."),
    "rank": ("surefoot.cli.rank", "Rank documents with a trained model."),
    "cross-validate": ("surefoot.cli.cross_validate", "Compare learning objectives over folds."),
    "active": ("surefoot.cli.active", "Choose which queries to label, and estimate from them."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, not to list them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of `COMMANDS`, which follows the user's work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called, or the nearest names where there is none."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, n=2)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="surefoot")
def cli() -> None:
    """Is it safe to replace this ranker with that one?

    Per-query regressions, honest intervals and a release gate, from TREC files or score tables.
    """


def run(command: click.Command, name: str) -> None:
    """Run a command line program: errors become one line on stderr and an exit code."""

    def remark(message: Any, *_: Any, **__: Any) -> None:
        click.echo(f"{name}: warning: {visible(str(message))}", err=True)

    if sys.stdout is None:  # closed by the shell: `surefoot ... >&-`
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    stdout = sys.stdout
    if isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="surrogateescape")  # ids that are not UTF-8 keep their bytes
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UnreliableWarning)
            warnings.showwarning = remark
            outcome = command.main(prog_name=name, standalone_mode=False)
            sys.stdout.flush()
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2 if isinstance(error, click.UsageError) else 1)
    except click.Abort:
        click.echo(f"{name}: interrupted", err=True)
        sys.exit(130)
    except SurefootError as error:
        click.echo(f"{name}: {visible(' '.join(str(error).splitlines()))}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        _reader_left()
    except SystemExit:
        # click ends with 1 where the reader left, and has put a wrapper in the place of stdout
        if sys.stdout is not stdout:
            _reader_left()
        raise
    except UnicodeEncodeError as error:
        where = visible(repr(error.object)) if len(error.object) < 200 else "a name"
        hint = "Hint: convert the inputs to UTF-8, or write CSV or JSON"
        click.echo(f"{name}: {where} is not UTF-8. {hint}", err=True)
        sys.exit(1)
    except OSError as error:
        # files have errors of their own, with what to do; this is standard output, or the machine
        what = f"cannot use {error.filename}" if error.filename else "cannot write the output"
        click.echo(f"{name}: {what}: {error.strerror or error}", err=True)
        _drop_output()
        sys.exit(1)
    except MemoryError:
        click.echo(f"{name}: out of memory", err=True)
        sys.exit(1)
    sys.exit(outcome if isinstance(outcome, int) else 0)


def _reader_left() -> NoReturn:
    """End without a complaint: nobody reads our output any more, as in `surefoot ... | head`."""
    _drop_output()
    sys.exit(0)


def _drop_output() -> None:
    """What is still buffered goes nowhere, or Python would complain about it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# commands without linear algebra
_PLAIN = frozenset({"evaluate", "lint"})


def start_quickly(*, algebra: bool) -> None:
    """Spare a program what Python and NumPy do for longer ones.

    Fewer searches for cyclic garbage; and no threads for linear algebra where there is none of it,
    which would spin while the program starts.
    """
    gc.set_threshold(50_000, 20, 20)
    if not algebra:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Entry point of the `surefoot` program."""
    start_quickly(algebra=not _PLAIN.intersection(sys.argv[1:2]))
    run(cli, "surefoot")
