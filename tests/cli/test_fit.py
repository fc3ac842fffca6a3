import json

import numpy as np
import pytest
from click.testing import CliRunner

from surefoot.cli.main import cli
from surefoot.errors import InputError, ModelError


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(5)
    values = np.clip(rng.beta(2, 2, (4, 10)), 0.01, 0.99)
    rows = [f"s{i},t{j},{values[i, j]:.4f}" for i in range(4) for j in range(10)]
    path = tmp_path / "scores.csv"
    path.write_text("system,topic,score\n" + "\n".join(rows) + "\n")
    return path


def run(*arguments):
    return CliRunner().invoke(cli, ["fit", *(str(a) for a in arguments)])


def test_json_carries_the_contract(table, tmp_path):
    out = tmp_path / "fit.nc"
    result = run(table, "--family", "gaussian", "--draws", 500, "-o", out, "--format", "json", "-q")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["command"] == "fit"
    assert {"waic", "loo", "method", "khat", "efficiency", "seconds"} <= set(answer["settings"])
    columns = ["parameter", "mean", "sd", "q2.5", "q50", "q97.5", "ess", "rhat", "method"]
    assert list(answer["rows"][0]) == columns
    names = [row["parameter"] for row in answer["rows"]]
    assert names[:5] == ["b", "sigma", "sd_system", "sd_topic", "system[s0]"]
    assert names[-1] == "topic[t9]"
    assert out.exists()


def test_rows_are_tsv_when_piped(table):
    result = run(table, "--family", "zoib", "--draws", 500)
    assert result.exit_code == 0, result.output
    head = result.stdout.splitlines()[0]
    assert head == "parameter\tmean\tsd\tq2.5\tq50\tq97.5\tess\trhat\tmethod"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "sd_system"], "is not parameter=distribution"),
        (["--prior", "sd_system=normal(0,1)"], "takes half_t or"),
        (["--prior", "phi=half_t(3,0,1)"], "has no parameter 'phi'"),
        (["--prior", "b=t(3,0,-1)"], "scale must be positive"),
        (["--one-above", "0.9"], "one_above is for family zoib"),
    ],
)
def test_bad_options_say_the_way_out(table, arguments, message):
    result = run(table, *arguments)
    assert isinstance(result.exception, ModelError)
    assert message in str(result.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--family", "zoib", "--one-above", "3"], "must be between 0 and 1, but got 3"),
        (["-m", "AP", "-m", "RR"], "takes one measure here, not AP and RR"),
        (["--family", "zoib_rank", "-m", "AP"], "reads a table system,topic,rank,score"),
    ],
)
def test_bad_values_are_usage(table, arguments, message):
    result = run(table, *arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_a_measure_that_the_table_does_not_name_is_refused(table):
    result = run(table, "-m", "nope")
    assert isinstance(result.exception, InputError)
    assert "'nope' cannot be picked from it" in str(result.exception)


def test_scores_beyond_one_are_named(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("system,topic,score\na,1,20\na,2,30\nb,1,40\nb,2,10\n")
    result = run(path, "--family", "zoib")
    assert isinstance(result.exception, ModelError)
    assert "score 20 of system 'a' on topic '1' is not between 0 and 1" in str(result.exception)


def test_zoib_rank_wants_ranks(table):
    result = run(table, "--family", "zoib_rank")
    assert isinstance(result.exception, InputError)
    assert "has no column rank" in str(result.exception)


def test_the_scores_and_the_fit_are_not_written_over(table, tmp_path):
    before = table.read_bytes()
    result = run(table, "--draws", 500, "-o", table)
    assert isinstance(result.exception, InputError)
    assert "same file as the input" in str(result.exception)
    assert table.read_bytes() == before
    path = tmp_path / "fit.nc"
    assert run(table, "--draws", 500, "-o", path, "-q").exit_code == 0
    saved = path.read_bytes()
    words = ["ppd-risk", "--fit", path, "--champion", "s0", "-o", path]
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert isinstance(result.exception, InputError)
    assert "same file as the input" in str(result.exception)
    assert path.read_bytes() == saved


@pytest.mark.parametrize("name", ["fit.csv", "fit.json", "fit.tsv.gz"])
def test_a_fit_with_the_name_of_a_table_is_refused(table, tmp_path, name):
    result = run(table, "-o", tmp_path / name)
    assert isinstance(result.exception, InputError)
    assert "fit.nc for the fit" in str(result.exception)
    assert not (tmp_path / name).exists()


def test_the_log_likelihood_is_saved_when_asked_for(table, tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "fit.nc"
    assert run(table, "--draws", 500, "-o", path, "--log-likelihood", "-q").exit_code == 0
    with h5py.File(path) as file:
        assert file["log_likelihood/score"].shape == (1, 500, 40)
    result = run(table, "--log-likelihood")
    assert result.exit_code == 2
    assert "goes into a file. Hint: add -o FIT.nc" in result.output
