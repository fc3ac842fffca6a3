"""`risk`, `topics`, `gate` and their relatives as scripts call them."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from surefoot.cli.main import cli

SCORES = """system,topic,score
old,q1,0.50
old,q2,0.40
old,q3,0.30
old,q4,0.60
new,q1,0.10
new,q2,0.20
new,q3,0.28
new,q4,0.35
good,q1,0.60
good,q2,0.55
good,q3,0.42
good,q4,0.71
"""

RISK = [
    "system",
    "champion",
    "form",
    "alpha",
    "f_risk",
    "f_reward",
    "u_gain",
    "u_risk",
    "se_parametric",
    "se_jackknife",
    "t_risk",
    "df",
    "p_value",
    "p_adjusted",
    "wins",
    "losses",
    "ties",
    "loss_over_20",
    "z_risk",
    "geo_risk",
]
TOPICS = ["system", "topic", "champion_score", "score", "delta", "x", "t_r", "t_j", "flagged"]


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


def run(*arguments):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.mark.parametrize(("command", "columns"), [("risk", RISK), ("topics", TOPICS)])
def test_columns_of_the_contract_come_first(scores, command, columns):
    result = run(command, scores, "--champion", "old", "--alpha", "1", "--format", "json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["command"] == command
    assert answer["settings"]["form"] == "alpha"
    assert list(answer["rows"][0])[: len(columns)] == columns
    piped = run(command, scores, "--champion", "old").stdout
    assert piped.splitlines()[0].split("\t")[: len(columns)] == columns


def test_the_minus_form_says_so(scores):
    result = run("risk", scores, "--champion", "old", "--r", "1,2", "--format", "json")
    rows = json.loads(result.stdout)["rows"]
    assert [(r["form"], r["alpha"]) for r in rows[:2]] == [("minus", 0.0), ("minus", 1.0)]
    assert rows[1]["u_risk"] > 0  # higher is riskier


def test_the_table_begins_with_the_verdict(scores):
    result = run("risk", scores, "--champion", "old", "--system", "new", "--format", "table")
    text = " ".join(result.stdout.split())
    assert text.startswith(
        "Unclear: new regresses on 4 of 4 queries against old, 3 by more than 20 %, and improves "
        "on 0; with losses counted twice it loses 0.4350 per query, which could be chance"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--champion", "odl"], 1, "there is no system 'odl' among the 3"),
        (["--champion", "old", "--alpha", "-1"], 2, "below 0"),
        (["--champion", "old", "--alpha", "1", "--r", "2"], 2, "--alpha or --r, not both"),
        (["--champion", "old", "--slices", "absent.csv"], 1, "absent.csv"),
        (["--champion", "old", "--population", "absent.csv"], 1, "absent.csv"),
    ],
)
def test_errors_are_one_line_with_the_right_code(scores, arguments, code, message):
    command = [sys.executable, "-m", "surefoot", "risk", str(scores), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert message in done.stderr
    if code == 1:
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_gate_that_finds_something_exits_with_3_and_says_what(scores, tmp_path):
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    command = [sys.executable, "-m", "surefoot", "gate", str(scores), "--champion", "old"]
    command += ["--fail-if", "losses_over_20 > 0.1", "--junit", str(junit)]
    done = subprocess.run(
        [*command, "--markdown", str(summary)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "Gate failed: new should not replace old.",
        "new: losses_over_20 > 0.1, with losses_over_20 = 0.75; worst queries: q1 (0.5 -> 0.1); "
        "q4 (0.6 -> 0.35); q2 (0.4 -> 0.2); q3 (0.3 -> 0.28).",
    ]
    assert ET.parse(junit).getroot().get("failures") == "1"
    assert summary.read_text().startswith("### Failed: search quality gate")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("t_risk(alpha=1) < -2", 3),
        ("ci_high(bca, alpha=1) < 0", 3),
        ("worst_delta < -0.9", 0),
        ("t_risk(alpha=1 < -2", 2),
        ("t_risk", 2),
        ("losses > 5", 2),
    ],
)
def test_exit_codes_of_the_gate(scores, condition, code):
    command = [sys.executable, "-m", "surefoot", "gate", str(scores), "--champion", "old"]
    done = subprocess.run(
        [*command, "--fail-if", condition], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr


def test_the_gate_with_slices_names_the_slice(scores, tmp_path):
    slices = tmp_path / "slices.tsv"
    slices.write_text("topic\tslice\nq1\thead\nq2\thead\nq3\ttail\nq4\ttail\n")
    result = run(
        *["gate", scores, "--champion", "old", "--system", "new", "--slices", slices],
        *["--fail-if", "mean_difference < -0.25", "--format", "json"],
    )
    rows = json.loads(result.stdout)["rows"]
    assert [(r["slice"], r["failed"]) for r in rows] == [
        ("all", False),
        ("head", True),
        ("tail", False),
    ]


@pytest.mark.parametrize(
    ("command", "columns"),
    [
        (
            ["orders"],
            ["first", "second", "form", "rbo_min", "rbo_max", "rbo_residual", "kendall_tau"],
        ),
        (["frontier", "--champion", "old"], ["system", "family", "risk", "reward"]),
        (["stability", "--trials", "5"], ["overlay", "form", "topics", "trials", "error_rate"]),
    ],
)
def test_further_commands(scores, command, columns):
    result = run(command[0], scores, *command[1:], "--format", "csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].split(",")[: len(columns)] == columns
