import click
import pytest
from click.testing import CliRunner
from tests.calling import run

from surefoot.cli.options import GreedyOption, NumberList


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
