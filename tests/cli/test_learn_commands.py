"""train, rank and cross-validate from outside: files, exit codes, resumption."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from surefoot.cli.main import cli, run
from surefoot.errors import InputError
from surefoot.io.svmlight import find_folds
from surefoot.learn.model import Ranker
from surefoot.results.training import CARD_COLUMNS
from surefoot.workflows.sample_ltr import write_ltr_sample

pytest.importorskip("lightgbm")
SMALL = ["--rounds", "5", "--leaves", "7", "--threads", "1"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory) -> Path:
    home = tmp_path_factory.mktemp("ltr")
    write_ltr_sample(home, queries=40, documents=12, features=8, seed=1)
    return home


def call(*args: object) -> str:
    result = CliRunner().invoke(cli, [str(a) for a in args], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def failure(monkeypatch, capsys, *args: object) -> tuple[int, str]:
    """Exit code and the line on stderr, as the program gives them."""
    monkeypatch.setattr("sys.argv", ["surefoot", *map(str, args)])
    with pytest.raises(SystemExit) as stop:
        run(cli, "surefoot")
    return int(stop.value.code or 0), capsys.readouterr().err


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("objective", ["ndcg", "u-cro", "saro", "faro", "georisk"])
def test_train_then_rank(sample: Path, tmp_path: Path, objective: str, booster: str) -> None:
    pytest.importorskip(booster)
    model, ranked = tmp_path / "model.json", tmp_path / "run.txt"
    options = ["--objective", objective, "--alpha", 5, "--booster", booster, *SMALL]
    out = call(
        "train",
        sample / "train.svm",
        *("--valid", sample / "valid.svm", "--baseline", sample / "champion.csv"),
        *("-o", model, "--format", "json", *options),
    )
    card = json.loads(out)
    assert card["command"] == "train"
    assert [r["split"] for r in card["rows"]] == ["train", "valid"]
    assert tuple(card["rows"][0]) == CARD_COLUMNS
    assert card["rows"][0]["form"] == "alpha"
    assert card["rows"][0]["baseline"] == "champion"
    document = json.loads(model.read_text())
    assert document["format"] == "surefoot-ranker/1"
    assert document["card"]["rows"] == card["rows"]
    assert len(document["card"]["history"]) == 5
    call("rank", model, sample / "test.svm", "-o", ranked, "-q")
    lines = [line.split() for line in ranked.read_text().splitlines()]
    assert all(len(fields) == 6 and fields[1] == "Q0" for fields in lines)
    first = [fields for fields in lines if fields[0] == lines[0][0]]
    assert [int(f[3]) for f in first] == list(range(1, len(first) + 1))
    assert np.all(np.diff([float(f[4]) for f in first]) <= 0)
    assert first[0][2].startswith(f"d{lines[0][0]}-")


def test_run_model_and_feature_are_champions_of_one_value(sample: Path, tmp_path: Path) -> None:
    """A model, the run it makes and a feature all become the same measure."""
    model, ranked = tmp_path / "champion.json", tmp_path / "champion.run"
    call("train", sample / "train.svm", "-o", model, *SMALL)
    call("rank", model, sample / "train.svm", "-o", ranked, "-q")
    rows = json.loads(
        call(
            "train",
            sample / "train.svm",
            *("--objective", "georisk", "-o", tmp_path / "m.json", "--format", "json", *SMALL),
            *("--baseline", model, "--baseline", ranked, "--baseline", "feature:1"),
        )
    )["rows"]
    assert [r["baseline"] for r in rows] == ["champion", "champion'", "feature:1"]
    assert rows[0]["baseline_mean"] == rows[1]["baseline_mean"]


@pytest.mark.parametrize(
    ("learned", "given", "wanted"),
    [
        ("nDCG@10", "nDCG(gain='exp')@10", None),
        ("nDCG@10", "nDCG@10", "nDCG(gain='exp')@10"),  # linear gains
        ("nDCG@10", "nDCG(gain='exp')@20", "nDCG(gain='exp')@10"),
        ("ERR@20", "ERR(max_rel=4)@20", None),
        ("ERR@20", "AP", "ERR@20"),
        ("AP", "map", None),
        ("AP", "our own score", None),
    ],
)
def test_scores_of_another_measure_are_refused(
    sample: Path, tmp_path: Path, monkeypatch, capsys, learned: str, given: str, wanted: str | None
) -> None:
    table = tmp_path / "scores.csv"
    queries = [line.split(",")[0] for line in (sample / "champion.csv").read_text().split()[1:]]
    lines = [f'bm25,{q},0.4,"{given}"' for q in queries]
    table.write_text("\n".join(["system,topic,score,measure", *lines, ""]))
    arguments = ["train", sample / "train.svm", "-o", tmp_path / "m.json", "-m", learned, *SMALL]
    arguments += ["--objective", "u-cro", "--baseline", table]
    if wanted is None:
        call(*arguments)
        return
    code, message = failure(monkeypatch, capsys, *arguments)
    assert code == 1
    assert f"the champion's scores are {given}, but what is learned is {wanted}. Hint:" in message


def test_early_stopping_on_risk(sample: Path, tmp_path: Path) -> None:
    for booster in ("lightgbm", "xgboost"):
        pytest.importorskip(booster)
        model = tmp_path / f"{booster}.json"
        call(
            "train",
            sample / "train.svm",
            *("--valid", sample / "valid.svm", "--baseline", "feature:1", "-o", model),
            *("--objective", "u-cro", "--early-stopping", 3, "--stop-on", "u_risk"),
            *("--rounds", 60, "--threads", 1, "--learning-rate", 0.5, "--booster", booster),
        )
        ranker = Ranker.load(model)
        history = [h["u_risk"] for h in ranker.card["history"]]
        assert len(history) < 60
        assert ranker.rounds == int(np.argmax(history)) + 1


def test_cross_validate_resumes_and_repeats_itself(sample: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    arguments = [sample, "--baseline", "feature:1", "--alpha", "1,5", "--work", work, *SMALL]
    arguments += ["--objective", "u-cro", "--objective", "georisk", "--learned-baselines"]
    first = CliRunner().invoke(
        cli, [str(a) for a in ["cross-validate", *arguments, "--format", "json"]]
    )
    assert first.exit_code == 0, first.output
    assert "trained 25 models, reused 0" in first.stderr
    rows = json.loads(first.stdout)["rows"]
    assert [(r["objective"], r["alpha"]) for r in rows] == [
        ("ndcg", 0.0),
        ("u-cro", 1.0),
        ("u-cro", 5.0),
        ("georisk", 1.0),
        ("georisk", 5.0),
    ]
    assert all(r["queries"] == 40 and r["wins"] + r["losses"] <= 40 for r in rows)
    kept = sorted(work.iterdir())
    assert len(kept) == 25
    before = kept[1].stat().st_mtime_ns
    kept[0].unlink()
    kept[7].write_text('{"settings": {}}')  # of other settings
    again = CliRunner().invoke(
        cli, [str(a) for a in ["cross-validate", *arguments, "--format", "json"]]
    )
    assert "trained 2 models, reused 23" in again.stderr
    assert json.loads(again.stdout)["rows"] == rows
    assert kept[1].stat().st_mtime_ns == before


def test_what_is_kept_depends_on_the_files_of_the_folds_alone(tmp_path: Path) -> None:
    """The work folder and other files may lie beside the folds; a changed fold is trained anew."""
    write_ltr_sample(tmp_path, queries=20, documents=8, features=8, seed=2)
    arguments = ["cross-validate", tmp_path, "--baseline", "feature:1", "--objective", "ndcg"]
    arguments += [*SMALL, "--rounds", "2", "--work", tmp_path / "work"]

    def trained() -> str:
        result = CliRunner().invoke(cli, [str(a) for a in arguments])
        assert result.exit_code == 0, result.output
        return result.stderr

    assert "trained 5 models" in trained()
    (tmp_path / "notes.txt").write_text("mine")
    assert "trained 0 models, reused 5" in trained()
    fold = next(f for f in find_folds(tmp_path) if f.name == "fold2")
    os.utime(fold.files[-1], (0, 0))  # the test file of one fold
    parts = sum(fold.files[-1] in f.files for f in find_folds(tmp_path))
    assert f"trained {parts} models, reused {5 - parts}" in trained()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--objective", "u-cro"], 1, "the objective 'u-cro' needs a champion. Hint: --baseline"),
        (["--objective", "u-cro", "--baseline", "feature:99"], 1, "there is no feature 99"),
        (["--objective", "u-cro", "--baseline", "no.csv"], 1, "cannot read the champion no.csv"),
        (["--early-stopping", "3"], 1, "early stopping needs a validation set"),
        (["--objective", "safe"], 2, "'safe' is not one of"),
        (["--param", "x"], 2, "'x' is not NAME=VALUE"),
        (["-m", "P@5"], 1, "cannot learn for 'P@5'"),
        (["--label-gain", "0,1"], 1, "only 2 label gains are given"),
        (["--label-gain", "0,x"], 2, "'x' is not a number"),
        (["--param", "objective=binary"], 1, "would change nothing: the gradients are ours. Hint"),
        (["--param", "lambdarank_norm=false"], 1, "Hint: --normalize"),
    ],
)
def test_mistakes_are_one_line_with_the_way_out(
    sample: Path, tmp_path: Path, monkeypatch, capsys, arguments, code: int, message: str
) -> None:
    found = failure(
        monkeypatch,
        capsys,
        "train",
        *(sample / "train.svm", "-o", tmp_path / "m.json", *SMALL, *arguments),
    )
    assert found[0] == code
    assert message in found[1]
    if code == 1:
        assert found[1].count("\n") == 1
    assert not (tmp_path / "m.json").exists()


def test_rank_refuses_what_is_no_model(sample: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    for text in ("tree\n", "{}", "[]"):
        (tmp_path / "x.json").write_text(text)
        code, line = failure(monkeypatch, capsys, "rank", tmp_path / "x.json", sample / "test.svm")
        assert code == 1
        assert "is not a ranker that surefoot wrote" in line


def test_sample_is_the_same_for_the_same_seed(sample: Path, tmp_path: Path) -> None:
    write_ltr_sample(tmp_path, queries=40, documents=12, features=8, seed=1)
    for path in sample.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["cross-validate", ".", "--baseline", "feature:1", "-o", "no/x.csv"], 1, "no folder 'no'"),
        (["cross-validate", ".", "--baseline", "feature:1", "--seed", 2**63], 2, "below 2^63"),
        (["train", "train.txt", "-o", "model", "--seed", 2**63], 2, "below 2^63"),
    ],
)
def test_what_cannot_end_well_is_refused_before_training(
    tmp_path, monkeypatch, capsys, arguments, code, message
):
    monkeypatch.chdir(tmp_path)
    found, error = failure(monkeypatch, capsys, *arguments)
    assert found == code
    assert message in error


def test_what_is_read_is_not_written_over(tmp_path):
    data = tmp_path / "data.svm"
    data.write_text("1 qid:1 1:0.5\n0 qid:1 1:0.2\n")
    for words in (
        ["train", data, "--objective", "ndcg", "-o", data],
        ["rank", tmp_path / "model.json", data, "-o", data],
    ):
        result = CliRunner().invoke(cli, [str(word) for word in words])
        assert isinstance(result.exception, InputError), words
        assert "same file as the input" in str(result.exception)
        assert data.read_text().startswith("1 qid:1")
