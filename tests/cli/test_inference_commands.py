"""ci, test and power as scripts call them: columns, exit codes, messages."""

import json

import pytest

from surefoot.cli.main import cli, run

SCORES = "topic,old,new,bad\n" + "\n".join(
    f"q{j},{0.3 + 0.05 * (j % 5)},{0.35 + 0.04 * (j % 7)},{0.1 + 0.02 * (j % 3)}" for j in range(20)
)


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return str(path)


def surefoot(capsys, monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["surefoot", *arguments])
    with pytest.raises(SystemExit) as stop:
        run(cli, "surefoot")
    captured = capsys.readouterr()
    return stop.value.code, captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "columns"),
    [
        (
            ["ci", "--champion", "old", "--alpha", "1", "--method", "student", "--method", "bca"],
            "system,method,confidence,low,high,estimate",
        ),
        (
            ["ci", "--champion", "old", "--r", "2,5", "--correction", "bonferroni"],
            "system,method,confidence,low,high,estimate",
        ),
        *(
            (
                ["test", "--test", test],
                "system,other,test,statistic,p_value,p_adjusted,effect_size,mean_difference,low,high",
            )
            for test in (
                "t", "wilcoxon", "sign", "bootstrap", "randomization", "anova", "tukey", "maxt",
            )
        ),
        (
            ["power", "--champion", "old", "--system", "new"],
            "system,other,test,method,topics,power",
        ),
    ],
)  # fmt: skip
def test_contract_columns(capsys, monkeypatch, scores, arguments, columns):
    command, *options = arguments
    code, out, _ = surefoot(
        capsys, monkeypatch, command, scores, *options, "--format", "csv", "--seed", "1"
    )
    assert code == 0
    header = out.splitlines()[0]
    assert header.startswith(columns)
    assert len(out.splitlines()) > 1


def test_json_carries_settings_and_rows(capsys, monkeypatch, scores):
    code, out, _ = surefoot(
        capsys, monkeypatch, "ci", scores, "--champion", "old", "--r", "3", "--format", "json"
    )
    assert code == 0
    result = json.loads(out)
    assert result["command"] == "ci"
    assert result["settings"]["form"] == "minus"
    assert result["rows"][0]["form"] == "minus"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["ci", "--champion", "nobody"], 1, "nobody"),
        (["ci"], 2, "--champion"),
        (["ci", "--champion", "old", "--method", "wald"], 2, "wald"),
        (["ci", "--champion", "old", "--alpha", "1", "--r", "2"], 2, "not both"),
        (["test", "--test", "tukey", "--correction", "holm"], 1, "needs no correction"),
        (["test", "--alpha", "1"], 1, "champion"),
        (["power"], 1, "champion"),
    ],
)
def test_exit_codes_and_one_line_messages(capsys, monkeypatch, scores, arguments, code, message):
    command, *options = arguments
    got, out, err = surefoot(capsys, monkeypatch, command, scores, *options)
    assert got == code
    assert not out
    assert message in err
    assert code == 2 or len(err.strip().splitlines()) == 1


def test_doubtful_intervals_are_remarked_on_stderr(capsys, monkeypatch, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("topic,old,new\nq1,0.1,0.4\n")
    code, out, err = surefoot(capsys, monkeypatch, "ci", str(path), "--champion", "old")
    assert code == 0
    assert "warning" in err
    assert "one topic alone" in out


def test_power_by_formula_needs_no_scores(capsys, monkeypatch):
    code, out, _ = surefoot(capsys, monkeypatch, "power", "--effect", "0.5", "--format", "csv")
    assert code == 0
    assert [line.split(",")[4] for line in out.splitlines()[1:]] == ["32", "34", "34"]
