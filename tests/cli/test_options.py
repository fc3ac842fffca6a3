import gzip
from importlib import import_module

import click
import pytest
from click.testing import CliRunner
from tests.calling import run

from surefoot.cli.main import COMMANDS, cli
from surefoot.cli.options import INPUTS, OUTPUTS, GreedyOption, NumberList
from surefoot.errors import InputError


@click.command()
@click.option("--run", "runs", cls=GreedyOption)
@click.option("--alpha", type=NumberList(minimum=0), default="1")
@click.argument("rest", nargs=-1)
def command(runs, alpha, rest):
    click.echo(f"{runs} {alpha} {rest}")


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--run", "a", "b", "--alpha", "0,2.5", "c"], "('a', 'b') (0.0, 2.5) ('c',)"),
        (["--run", "a", "--run", "b"], "('a', 'b') (1.0,) ()"),
        (["x", "--run=a", "-"], "('a', '-') (1.0,) ('x',)"),
        (["x", "--run", "a", "--", "b"], "('a',) (1.0,) ('x', 'b')"),
    ],
)
def test_run_takes_every_value_up_to_the_next_option(args, text):
    result = CliRunner().invoke(command, args)
    assert result.output.strip() == text


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ("1,x", "'x' is not a number"),
        ("nan", "'nan' is not a finite number"),
        ("-1", "-1 is below 0"),
    ],
)
def test_a_bad_number_is_a_usage_error(alpha, message):
    result = CliRunner().invoke(command, ["--alpha", alpha])
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("command", ["risk", "ranks", "models"])
def test_a_second_measure_is_refused_and_not_dropped(command):
    got = run(command, "--qrels", "q", "--run", "a", "-m", "P@5", "-m", "nDCG@10")
    assert got.exit_code == 2
    assert "takes one measure here, not P@5 and nDCG@10" in str(got.exception.message)


SCORES = "topic,champion,challenger\n" + "".join(f"q{i},.{i + 1},.{9 - i}\n" for i in range(8))


@pytest.fixture
def scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(SCORES)
    return tmp_path / "scores.csv"


def risk(*options):
    return CliRunner().invoke(cli, ["risk", "scores.csv", "--champion", "champion", *options])


@pytest.mark.parametrize(
    "options",
    [
        ["-o", "scores.csv"],
        ["-o", "./link.csv"],
        ["--slices", "slices.csv", "-o", "slices.csv"],
        ["--format", "json", "-o", "scores.csv"],
    ],
)
def test_an_output_that_is_an_input_is_refused(scores, options):
    (scores.parent / "link.csv").symlink_to("scores.csv")
    (scores.parent / "slices.csv").write_text("topic,slice\nq1,a\n")
    result = risk(*options)
    assert isinstance(result.exception, InputError)
    assert "it is the same file as the input s" in str(result.exception)
    assert scores.read_text() == SCORES
    assert (scores.parent / "slices.csv").read_text() == "topic,slice\nq1,a\n"


# options with words that are no files
WORDS = {"measure", "measures", "champion", "system", "systems", "challenger", "challengers"}
WORDS |= {"priors", "conditions", "overlays", "values", "labeller", "variants", "methods"}
WORDS |= {"cost", "model", "features", "alpha"}


def leaves(command):
    if isinstance(command, click.Group):
        for part in command.commands.values():
            yield from leaves(part)
    else:
        yield command


@pytest.mark.parametrize("name", COMMANDS)
def test_it_is_known_of_every_option_whether_it_names_a_file(name):
    for command in leaves(import_module(COMMANDS[name][0]).command):
        if "output_path" not in {p.name for p in command.params}:
            continue
        text = click.types.StringParamType
        named = {p.name for p in command.params if isinstance(p.type, text)}
        files = {
            p.name
            for p in command.params
            if isinstance(p.type, click.Path) and p.type.dir_okay is False
        }
        assert named <= {*INPUTS, *WORDS}
        assert files <= set(OUTPUTS)


def test_rows_in_csv_gz_are_read_again(scores):
    assert risk("-o", "rows.csv.gz").exit_code == 0
    text = gzip.decompress((scores.parent / "rows.csv.gz").read_bytes()).decode()
    assert text.startswith("system,champion,form,")
    (scores.parent / "again.csv.gz").write_bytes(gzip.compress(SCORES.encode()))
    again = CliRunner().invoke(cli, ["risk", "again.csv.gz", "--champion", "champion"])
    assert again.stdout == risk().stdout


def test_a_name_that_asks_for_no_known_format_is_refused_before_any_work(scores):
    result = risk("-o", "rows.xlsx")
    assert isinstance(result.exception, InputError)
    assert "cannot tell a format from the name rows.xlsx. Hint: --format" in str(result.exception)
    assert not (scores.parent / "rows.xlsx").exists()
    assert risk("-o", "rows.xlsx", "--format", "csv").exit_code == 0
    assert (scores.parent / "rows.xlsx").read_text().startswith("system,champion,")
