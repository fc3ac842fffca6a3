"""Commands on posteriors, as scripts call them."""

import csv
import io
import json

import click
import numpy as np
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


@pytest.fixture(scope="module")
def fitted(scores, tmp_path_factory):
    pytest.importorskip("h5py", reason="fit files need the extra bayes")
    folder = tmp_path_factory.mktemp("fits")
    for name, engine in (("posterior", "auto"), ("prior", "prior")):
        args = ("fit", scores, *GAUSSIAN, "--engine", engine, "--no-criteria", "-q")
        assert run(*args, "-o", str(folder / f"{name}.nc")).exception is None
    return folder


# every command that fits a model of all systems, or takes one
ON_FITS = {
    "ppd-risk": ("--champion", "s2", "--r", "1"),
    "forecast": ("--champion", "s2", "--system", "s5"),
    "difficulty": (),
    "ranks": (),
    "pairs": ("--champion", "s2"),
    "check": ("--replicates", "20"),
}
FITTING = ON_FITS | {
    "brisk": ("--champion", "s2"),
    "models": ("--family", "student"),
    "artifacts": ("--champion", "s2", "--challenger", "s0", "--steps", "2"),
}


@pytest.mark.parametrize("command", FITTING)
def test_every_command_that_fits_takes_priors(scores, command):
    args = (command, scores, *FITTING[command], *GAUSSIAN)
    told = ("--prior", "sd_topic=half_normal(0.001)", "--prior", "sd_system=exponential(4)")
    got, usual = run(*args, *told), run(*args)
    assert rows(got)
    assert got.stdout != usual.stdout
    wrong = run(*args, "--prior", "phi=gamma(1,1)")
    assert "parameter 'phi'" in str(wrong.exception)
    twice = run(*args, "--prior", "sigma=exponential(1)", "--prior", "sigma=exponential(2)")
    assert "the prior of sigma is given twice" in str(twice.exception)


@pytest.mark.parametrize("command", [c for c in FITTING if c != "brisk"])
def test_scores_near_1_may_count_as_1_everywhere(tmp_path, command):
    path = tmp_path / "scores.csv"
    table = simulated_posterior("zoib", systems=6, topics=12).scores
    lines = [f"{s},{t},{min(v, 0.99)!r}" for s, t, v in table.long()]
    lines[0] = "s0,t0,0.9995"
    path.write_text("\n".join(["system,topic,score", *lines]) + "\n")
    args = (command, str(path), *FITTING[command], "--family", "zoib", "--draws", "500")
    near = run(*args, "--one-above", "0.999", "--format", "json")
    assert near.exception is None, near.exception
    got, usual = json.loads(near.stdout), json.loads(run(*args, "--format", "json").stdout)
    assert got["settings"]["one_above"] == 0.999
    assert got["rows"] != usual["rows"]


@pytest.mark.parametrize("command", ON_FITS)
@pytest.mark.parametrize(
    "asked",
    [("--prior", "b=normal(0,1)"), ("--one-above", "0.99"), ("--draws", "500"), ("-m", "ndcg")],
)
def test_a_fit_is_not_fitted_again(fitted, command, asked):
    got = run(command, "--fit", str(fitted / "posterior.nc"), *ON_FITS[command], *asked)
    assert isinstance(got.exception, click.UsageError)
    assert f"{asked[0]} would need a new fit" in got.exception.message


@pytest.mark.parametrize("command", ON_FITS)
def test_draws_from_the_prior_are_said_to_be_that(fitted, command):
    args = (command, "--fit", str(fitted / "prior.nc"), *ON_FITS[command])
    table = run(*args, "--format", "table")
    headline = " ".join(table.stdout.split())
    assert headline.startswith(
        "Prior predictive: the scores were not used; this is what the gaussian model expects"
    )
    assert "new scores" not in headline
    assert "warning: the scores were not used" in table.stderr
    settings = json.loads(run(*args, "--format", "json").stdout)["settings"]
    assert settings["warnings"] == ["the scores were not used: these are draws from the prior"]


@pytest.mark.parametrize("command", FITTING)
def test_every_headline_names_the_model(scores, command):
    family = ("--family", "gaussian") if command == "models" else ("--family", "student")
    args = (command, scores, *FITTING[command], *family, "--draws", "500", "--format", "table")
    assert "student" in run(*args).stdout.split("\n\n")[0]


@pytest.mark.parametrize("command", ["ppd-risk", "brisk", "artifacts", "paired"])
def test_alpha_is_answered_with_the_r_that_means_the_same(scores, command):
    got = run(command, scores, "--champion", "s2", "--system", "s3", "--alpha", "1,4")
    assert "Hint: --r 2,5 (r = 1 + alpha)" in got.exception.message


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("ranks", "--interval", "95"), "must be between 0 and 1, but got 95"),
        (("ranks", "--interval", "nan"), "must be between 0 and 1, but got nan"),
        (("ranks", "--interval", "x"), "is not a number"),
        (("pairs", "--equivalence", "nan"), "must not be negative, but got nan"),
        (("pairs", "--equivalence", "-1"), "must not be negative, but got -1"),
        (("check", "--one-above", "0"), "must be between 0 and 1, but got 0"),
        (("ppd-risk", "--champion", "s2", "--r", "nan"), "'nan' is not a finite number"),
        (("brisk", "--champion", "s2", "--r", "nan"), "'nan' is not a finite number"),
        (("brisk", "--champion", "s2", "--r", "0.5"), "0.5 is below 1"),
        (("paired", "--champion", "s2", "--challenger", "s3", "--r", "1,2"), "takes one number"),
        (("artifacts", "--champion", "s2", "--challenger", "s3", "--steps", "1.5"), "whole number"),
    ],
)
def test_bad_values_of_options_are_usage(scores, args, message):
    got = run(args[0], scores, *args[1:])
    assert isinstance(got.exception, click.UsageError)
    assert message in got.exception.message


def test_gaps_and_systems_without_a_score_are_said(tmp_path):
    path = tmp_path / "gaps.csv"
    table = simulated_posterior("gaussian", systems=4, topics=8).scores
    lines = ["system,topic,score", *(f"{s},{t},{v!r}" for s, t, v in table.long())]
    lines[1:2] = [*(f"none,t{j}," for j in range(8)), "s0,t0,"]
    path.write_text("\n".join(lines) + "\n")
    for command in FITTING:
        got = run(command, str(path), *FITTING[command][: -2 if command == "forecast" else None],
                  *GAUSSIAN, "--format", "table")  # fmt: skip
        assert got.exception is None, got.exception
        assert "both systems have" not in got.stderr
        assert "9 of 40 scores are missing" in got.stderr
        if command != "artifacts":  # the worst artifacts alone
            assert "no score at all of system none" in got.stderr
            assert "no score at all of system none" in " ".join(got.stdout.split())
    for command in ("ppd-risk", "forecast", "pairs", "brisk", "artifacts", "paired"):
        other = ("--system", "s0")
        got = run(command, str(path), "--champion", "none", *other)
        assert "the champion 'none' has no score in this table" in str(got.exception)


def test_brisk_takes_several_r_and_reports_the_systems_asked_for(scores):
    args = ("brisk", scores, "--champion", "s2", *GAUSSIAN)
    got = rows(run(*args, "--r", "2,5", "--system", "s4"))
    assert [(row["system"], row["r"]) for row in got] == [
        ("s2", "2.0"), ("s2", "5.0"), ("s4", "2.0"), ("s4", "5.0"),
    ]  # fmt: skip
    alone = rows(run(*args, "--r", "5"))
    assert got[3] == alone[4]
    settings = json.loads(run(*args, "--r", "2,5", "--format", "json").stdout)["settings"]
    assert [fit["r"] for fit in settings["fits"]] == [2, 5]
    assert settings["method"] == "exact marginal sampling"


def test_artifacts_takes_several_r_and_an_interval(scores):
    args = ("artifacts", scores, "--champion", "s2", "--challenger", "s0,s3", *GAUSSIAN)
    got = rows(run(*args, "--steps", "1,3", "--order", "best", "--r", "1,5", "--interval", "0.5"))
    assert len(got) == 2 * 3 * 2
    assert [row["r"] for row in got[:4]] == ["1.0", "5.0", "1.0", "5.0"]
    wide = rows(run(*args, "--steps", "1,3", "--order", "best"))
    assert float(got[2]["high"]) - float(got[2]["low"]) < 0.6 * (
        float(wide[1]["high"]) - float(wide[1]["low"])
    )
    made = json.loads(run(*args, "--steps", "1,3,40", "--format", "json").stdout)["settings"]
    assert {"draws", "method", "khat", "efficiency", "warnings"} <= set(made)
    assert [fit["artifacts"] for fit in made["fits"]] == [1, 3, 1, 3]
    table = " ".join(run(*args, "--steps", "1,3,40", "--format", "table").stdout.split())
    assert "Left out: step 40, as the table has 3 artifacts." in table
    assert "The intervals of s0 and s2 overlap in every model." in table
    narrow = ("--steps", "1,3", "--interval", "0.01", "--format", "table")
    table = " ".join(run(*args, *narrow).stdout.split())
    assert "s0 and s2 are apart with the best 1 and 3 and with the worst 1 and 3 artifacts" in table


def test_paired_takes_an_interval_and_says_its_method(scores):
    args = ("paired", scores, "--champion", "s2", "--challenger", "s3", "--interval", "0.5")
    got = json.loads(run(*args, "--format", "json").stdout)
    row = got["rows"][0]
    assert row["q2.5"] < row["low"] < row["q50"] < row["high"] < row["q97.5"]
    assert got["settings"]["method"].startswith("importance sampling")
    assert got["settings"]["warnings"] == []


def test_pairs_without_a_champion_are_all_pairs(scores):
    got = rows(run("pairs", scores, *GAUSSIAN))
    assert len(got) == 15
    ranked = [row["system"] for row in rows(run("ranks", scores, *GAUSSIAN))]
    assert [(row["system"], row["other"]) for row in got[:6]] == [
        *((ranked[0], other) for other in ranked[1:]), (ranked[1], ranked[2]),
    ]  # fmt: skip
    assert all(float(row["difference"]) >= 0 for row in got)
    against = rows(run("pairs", scores, "--champion", ranked[-1], *GAUSSIAN))
    one = next(r for r in got if (r["system"], r["other"]) == (ranked[0], ranked[-1]))
    same = next(r for r in against if r["system"] == ranked[0])
    assert {k: v for k, v in one.items() if "unpooled" not in k} == {
        k: v for k, v in same.items() if "unpooled" not in k
    }
    some = run("pairs", scores, "--system", "s1,s3,s4", *GAUSSIAN, "--format", "table")
    assert "Of 3 pairs" in some.stdout
    alone = run("pairs", scores, "--system", "s1", *GAUSSIAN)
    assert "a pair needs two systems" in str(alone.exception)


def test_ranks_of_gains_by_rank(tmp_path):
    rng = np.random.default_rng(1)
    lines = [
        f"{s},{t},{k},{0.0 if rng.random() < 0.4 else round(rng.beta(2, 5), 4)}"
        for s in "abc"
        for t in range(5)
        for k in range(1, 4)
    ]
    path = tmp_path / "gains.csv"
    path.write_text("\n".join(["system,topic,rank,score", *lines]) + "\n")
    args = (str(path), "--family", "zoib_rank", "--draws", "500")
    assert len(rows(run("ranks", *args))) == 3
    assert len(rows(run("difficulty", *args))) == 5
    got = rows(run("pairs", *args))
    assert len(got) == 3
    assert got[0]["glass_delta"] == ""
    wrong = run("ranks", *args, "-m", "ndcg")
    assert "reads a table system,topic,rank,score" in wrong.exception.message


def test_check_replicates_no_more_tables_than_there_are_draws(fitted):
    args = ("check", "--fit", str(fitted / "posterior.nc"), "--replicates", "1000000")
    got = json.loads(run(*args, "--format", "json").stdout)
    assert got["settings"]["replicates"] == 2000
    found = got["histograms"]
    assert len(found["replicated"]) == 2000
    assert len(found["edges"]) == len(found["observed"]) + 1 == len(found["replicated"][0]) + 1
    assert "of the 1000000 that were asked for" in " ".join(
        run(*args, "--format", "table").stdout.split()
    )


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
