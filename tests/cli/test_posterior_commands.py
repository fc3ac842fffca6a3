"""Commands on posteriors, as scripts call them."""

import csv
import io
import json

import pytest
from click.testing import CliRunner
from tests.inference.bayes.simulated import simulated_posterior

from surefoot.cli.main import cli


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    table = simulated_posterior("gaussian", systems=6, topics=12).scores
    rows = ["system,topic,score", *(f"{s},{t},{v!r}" for s, t, v in table.long())]
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def run(*args):
    return CliRunner().invoke(cli, args, standalone_mode=False)


def rows(result):
    assert result.exception is None, result.exception
    return list(csv.DictReader(io.StringIO(result.stdout), delimiter="\t"))


GAUSSIAN = ("--family", "gaussian", "--draws", "2000")


@pytest.mark.parametrize(
    ("args", "columns", "count"),
    [
        (
            ("ppd-risk", "--champion", "s2", "--r", "1,5"),
            ["system", "r", "median", "low", "high", "p_risky", "significant"],
            10,
        ),
        (
            ("brisk", "--champion", "s2", "--r", "5"),
            ["system", "r", "mean", "low", "high", "overlaps_champion"],
            6,
        ),
        (("forecast", "--champion", "s2", "--system", "s5"), ["system", "topic", "p_worse"], 12),
        (("ranks",), ["system", "mean", "low", "high"], 6),
        (("pairs", "--champion", "s2"), ["system", "other", "difference"], 5),
        (("difficulty",), ["topic", "difficulty", "mean", "low", "high"], 12),
        (("models", "--family", "student"), ["family", "loo", "loo_se", "loo_difference"], 2),
        (("check", "--replicates", "50"), ["statistic", "observed", "median"], 11),
        (
            ("artifacts", "--champion", "s2", "--challenger", "s0", "--steps", "1,3"),
            ["order", "artifacts", "system"],
            8,
        ),
    ],
)
def test_commands_print_their_columns(scores, args, columns, count):
    got = rows(run(args[0], scores, *args[1:], *GAUSSIAN))
    assert len(got) == count
    assert list(got[0])[: len(columns)] == columns


def test_paired_prints_parameters(scores):
    got = rows(run("paired", scores, "--champion", "s2", "--challenger", "s3", "--r", "5"))
    assert [row["parameter"] for row in got] == ["b", "sigma"]
    assert list(got[0])[:6] == ["parameter", "mean", "sd", "q2.5", "q50", "q97.5"]


def test_priors_reach_the_models(scores):
    tight = ("--prior", "sd_system=half_normal(0.0001)")
    args = ("brisk", scores, "--champion", "s2", *GAUSSIAN)
    assert abs(float(rows(run(*args, *tight))[0]["mean"])) < 0.01
    assert abs(float(rows(run(*args))[0]["mean"])) > 0.1
    pair = ("paired", scores, "--champion", "s2", "--challenger", "s3")
    got = rows(run(*pair, "--prior", "b=normal(5,0.0001)"))
    assert abs(float(got[0]["mean"]) - 5) < 0.01
    wrong = run(*pair, "--model", "bivariate", "--prior", "b=normal(5,1)")
    assert "flat priors" in str(wrong.exception)
    wrong = run(*pair, "--prior", "sd_topic=half_normal(1)")
    assert "no parameter 'sd_topic'" in str(wrong.exception)


def test_a_saved_fit_gives_the_same_risk_as_the_scores(scores, tmp_path):
    pytest.importorskip("h5py", reason="fit files need the extra bayes")
    path = tmp_path / "model.fit"
    assert run("fit", scores, *GAUSSIAN, "-o", str(path), "-q").exception is None
    want = run("ppd-risk", scores, "--champion", "s2", "--r", "5", *GAUSSIAN)
    got = run("ppd-risk", "--fit", str(path), "--champion", "s2", "--r", "5")
    assert rows(got) == rows(want)
    other = run("ppd-risk", "--fit", str(path), "--champion", "s2", "--family", "zoib")
    assert "the fit has family 'gaussian'" in str(other.exception)


def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(scores):
    args = ("ppd-risk", scores, "--champion", "s2", "--r", "2", "--family", "gaussian")
    one = run(*args, "--threads", "1").stdout
    assert one == run(*args, "--threads", "3").stdout
    assert one != run(*args, "--seed", "1").stdout


def test_json_says_which_form_and_model(scores):
    got = json.loads(
        run(
            "ppd-risk", scores, "--champion", "s2", "--r", "2", *GAUSSIAN, "--format", "json"
        ).stdout
    )
    assert got["command"] == "ppd-risk"
    assert got["settings"]["form"] == "minus"
    assert got["settings"]["family"] == "gaussian"
    assert got["rows"][0]["form"] == "minus"
    assert isinstance(got["rows"][0]["significant"], bool)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("ppd-risk", "--champion", "s2"), "give SCORES, or --fit FIT"),
        (("ppd-risk", "SCORES", "--fit", "x.nc", "--champion", "s2"), "not both"),
        (("ppd-risk", "--fit", "x.nc", "--champion", "s2", "--draws", "500"), "has its own"),
        (("ppd-risk", "SCORES", "--champion", "s2", "--r", "-1"), "below 0"),
        (("brisk", "SCORES", "--champion", "s2", "--family", "zoib"), "zoib"),
        (("ppd-risk", "SCORES", "--champion", "nobody", *GAUSSIAN), "no system 'nobody'"),
        (("ppd-risk", "SCORES", "--champion", "s2", "--interval", "2", *GAUSSIAN), "between 0"),
    ],
)
def test_misuse_is_explained(scores, args, message):
    result = run(*(scores if a == "SCORES" else a for a in args))
    assert message in str(getattr(result.exception, "message", result.exception))


@pytest.mark.parametrize("command", ["ppd-risk", "brisk", "forecast", "pairs"])
def test_a_champion_alone_is_refused(tmp_path, command):
    path = tmp_path / "scores.csv"
    path.write_text("topic,s0\n1,0.3\n2,0.4\n3,0.5\n")
    result = run(command, str(path), "--champion", "s0")
    assert "no system but the champion 's0'" in str(result.exception)
