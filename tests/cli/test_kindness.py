"""Whatever a newcomer does wrong gets one clear line, the right exit code and no traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.calling import run

from surefoot.cli.main import COMMANDS
from surefoot.errors import SurefootError

TABLE = "topic,champion,challenger\nq1,.5,.6\nq2,.4,.2\nq3,.3,.35\nq4,.7,.8\nq5,.2,.3\nq6,.6,.5\n"
FEW = ["--draws", "200"]
# command line of each command that reads a table of scores; F stands for the file
SCORES = {
    "risk": ["F", "--champion", "champion"],
    "topics": ["F", "--champion", "champion"],
    "ci": ["F", "--champion", "champion", "--resamples", "1999"],
    "test": ["F", "--champion", "champion"],
    "power": ["F", "--champion", "champion", "--simulations", "100", "--resamples", "100"],
    "normality": ["F", "--champion", "champion"],
    "gate": ["F", "--champion", "champion", "--fail-if", "losses > 90%"],
    "orders": ["F", "--champion", "champion"],
    "frontier": ["F", "--champion", "champion"],
    "stability": ["F", "--champion", "champion", "--trials", "3"],
    "fit": ["F", *FEW],
    "ppd-risk": ["F", "--champion", "champion", "--family", "gaussian", *FEW],
    "brisk": ["F", "--champion", "champion", "--family", "gaussian", *FEW],
    "forecast": ["F", "--champion", "champion", "--family", "gaussian", *FEW],
    "ranks": ["F", "--family", "gaussian", *FEW],
    "pairs": ["F", "--champion", "champion", "--family", "gaussian", *FEW],
    "difficulty": ["F", "--family", "gaussian", *FEW],
    "paired": ["F", "--champion", "champion", "--challenger", "challenger", *FEW],
    "artifacts": ["F", "--champion", "champion", "--challenger", "challenger", *FEW],
    "check": ["F", "--family", "gaussian", *FEW],
    "models": ["F", "--family", "gaussian", "--family", "student", *FEW],
}
# the other commands that read a file
OTHERS = {
    "evaluate": ["F", "F", "-m", "AP"],
    "train": ["F", "-o", "model"],
    "rank": ["F", "F"],
    "cross-validate": ["F", "--baseline", "feature:1"],
    "active pool": ["F"],
    "active plan": ["F", "--measure", "DCG", "--grades", "2", "--budget", "2", "-o", "study"],
    "active next": ["F"],
    "active label": ["F", "F"],
    "active estimate": ["F"],
    "active status": ["F"],
    "active export": ["F"],
    "active extend": ["F", "--budget", "1"],
    "active simulate": ["F", "--labels", "F", "--grades", "2"],
}
READERS = {**SCORES, **OTHERS}
WRONG = ("absent", "folder", "empty", "binary", "zip", "damaged.gz", "utf16", "pickle")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 8)
    (tmp_path / "zip").write_bytes(b"PK\x03\x04" + bytes(60))
    (tmp_path / "damaged.gz").write_bytes(b"\x1f\x8b\x08\x00" + bytes(40))
    (tmp_path / "utf16").write_bytes("\ufefftopic,a,b\n".encode("utf-16"))
    (tmp_path / "pickle").write_bytes(b"\x80\x05\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os.")
    (tmp_path / "scores.csv").write_text(TABLE)
    return tmp_path


def words(command, path):
    return [*command.split(), *(path if a == "F" else a for a in READERS[command])]


def complaint(result):
    """The one line of an error, as the program prints it."""
    assert result.exit_code == 1
    assert isinstance(result.exception, SurefootError)
    text = str(result.exception)
    assert text.strip()
    assert len(text) < 400
    return text


def test_every_command_that_reads_is_in_the_table():
    named = {name.split()[0] for name in READERS}
    assert set(COMMANDS) - named == {"lint", "demo", "sample"}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("command", READERS)
def test_a_wrong_file_is_one_line_with_its_name(here, command, wrong):
    before = sorted(here.iterdir())
    assert wrong in complaint(run(*words(command, wrong)))
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize("command", SCORES)
def test_the_table_of_this_test_is_right_for_every_command(here, command):
    if command in ("orders", "stability", "artifacts"):
        extra = "".join(
            line + ("," + ",".join(f"x{i}" for i in range(3)) if not j else ",.4,.5,.6") + "\n"
            for j, line in enumerate(TABLE.splitlines())
        )
        (here / "scores.csv").write_text(extra)
    result = run(*words(command, "scores.csv"))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", [c for c, a in SCORES.items() if "--champion" in a])
def test_a_misspelt_champion_gets_the_nearest_name(here, command):
    asked = ["champoin" if w == "champion" else w for w in words(command, "scores.csv")]
    text = complaint(run(*asked))
    assert "'champoin'" in text
    assert "did you mean 'champion'" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_a_usage_error(name):
    result = run(name, "--no-such-option")
    assert result.exit_code == 2
    assert "--no-such-option" in str(result.exception)


@pytest.mark.parametrize("name", [n for n in COMMANDS if n != "active"])
def test_a_command_without_arguments_says_what_it_wants(name):
    result = run(name)
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("typed", "hint"), [("rsik", "'risk'"), ("evalute", "'evaluate'"), ("xyz", "no command 'xyz'")]
)
def test_a_misspelt_command_gets_the_nearest_name(typed, hint):
    result = run(typed)
    assert result.exit_code == 2
    assert hint in str(result.exception)


@pytest.mark.parametrize("command", [*SCORES, "train", "active plan"])
def test_a_file_that_cannot_be_written_is_refused(here, command):
    if command not in SCORES:
        pytest.importorskip({"train": "lightgbm", "active plan": "sqlalchemy"}[command])
    asked = [w for w in words(command, "scores.csv") if w not in ("-o", "model", "study")]
    text = complaint(run(*asked, "-o", "no/such/file"))
    assert "no/such/file" in text or "scores.csv" in text
    assert not (here / "no").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("one system", "topic,champion\nq1,.5\nq2,.6\n", "no challenger"),
        ("no rows", "topic,champion,challenger\n", "no rows"),
        ("a word", "topic,champion,challenger\nq1,.5,high\n", ":2: "),
        ("infinite", "topic,champion,challenger\nq1,.5,inf\n", ":2: "),
        ("twice", "system,topic,score\na,q1,.5\na,q1,.6\n", "line 2"),
        ("short line", "topic,champion,challenger\nq1,.5\n", ":2: "),
    ],
)
def test_a_table_that_is_wrong_inside(here, name, text, message):
    (here / "wrong.csv").write_text(text)
    assert message in complaint(run("risk", "wrong.csv", "--champion", "champion"))


def test_empty_cells_leave_the_query_out(here):
    (here / "gaps.csv").write_text(TABLE.replace("q2,.4,.2", "q2,.4,").replace("q4,.7", "q4,nan"))
    result = run("risk", "gaps.csv", "--champion", "champion", "--format", "csv")
    header, row = (line.split(",") for line in result.stdout.splitlines())
    assert dict(zip(header, row, strict=True))["topics"] == "4"
    assert result.stderr == (
        "note: 2 of 12 scores are missing, such as that of champion on q4; a comparison uses the "
        "topics that both systems have\n"
    )
    quiet = run("risk", "gaps.csv", "--champion", "champion", "--format", "csv", "-q")
    assert (quiet.stdout, quiet.stderr) == (result.stdout, "")


def test_folds_are_left_out_which_is_noted_unless_quiet(here):
    rows = [line.split(",") for line in TABLE.splitlines()]
    folds = ["fold", *"123456"]
    text = "".join(",".join([*row, n]) + "\n" for row, n in zip(rows, folds, strict=True))
    (here / "fold.csv").write_text(text)
    for command in (["risk"], ["pairs", "--family", "gaussian", "--draws", "200"]):
        noted = run(*command, "fold.csv", "--champion", "champion")
        assert noted.exit_code == 0, noted.exception
        assert noted.stderr.startswith("note: fold.csv: column 'fold' left out")
        quiet = run(*command, "fold.csv", "--champion", "champion", "-q")
        assert (quiet.stdout, quiet.stderr) == (noted.stdout, "")


def test_a_column_that_is_no_system_is_pointed_at(here):
    rows = [line.split(",") for line in TABLE.splitlines()]
    lengths = ["length", *"123456"]
    text = "".join(",".join([*row, n]) + "\n" for row, n in zip(rows, lengths, strict=True))
    (here / "length.csv").write_text(text)
    result = run("risk", "length.csv", "--champion", "champion")
    assert result.exit_code == 0
    assert result.stderr.startswith(
        "note: whole numbers beyond 0 to 1 in length, unlike in other systems"
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["risk", "scores.csv"], 2, "--champion"),
        (["risk", "--champion", "champion"], 2, "give SCORES"),
        (["risk", "scores.csv", "--champion", ""], 1, "name a champion"),
        (["risk", "scores.csv", "--champion", "champion", "--alpha", "one"], 2, "not a number"),
        (["risk", "scores.csv", "--champion", "champion", "--format", "xml"], 2, "xml"),
        (["risk", "scores.csv", "--champion", "champion", "--seed", "-1"], 2, "--seed"),
        (["ci", "scores.csv", "--champion", "champion", "--seed", "9" * 30], 2, "below 2^63"),
        (["ci", "scores.csv", "--champion", "champion", "--confidence", "2"], 2, "--confidence"),
        (["ci", "scores.csv", "--champion", "champion", "--method", "bcaa"], 2, "bcaa"),
        (["topics", "scores.csv", "--champion", "champion", "--alpha", "0,1"], 2, "one number"),
        (["test", "scores.csv", "--test", "ttest"], 2, "ttest"),
        (["test", "scores.csv", "--test", "tukey", "--correction", "bh"], 1, "needs no correction"),
        (["fit", "scores.csv", "--family", "gausian"], 2, "gausian"),
        (["ppd-risk", "--fit", "scores.csv", "--champion", "champion"], 1, "not a fit file"),
        (["evaluate", "scores.csv", "scores.csv", "-m", "nDGC@10"], 1, "nDCG@10"),
        (["evaluate", "scores.csv", "scores.csv", "-m", "RBP(q=.8)"], 1, "no option 'q'"),
        (["gate", "scores.csv", "--champion", "champion", "--fail-if", "loses>1%"], 2, "losses"),
        (["power"], 2, "give SCORES"),
        (["sample", "scores.csv"], 2, "is a file"),
        (["demo", "scores.csv"], 2, "is a file"),
    ],
)
def test_wrong_options(here, arguments, code, message):
    result = run(*arguments)
    assert result.exit_code == code
    error = result.exception
    assert message in (error.format_message() if code == 2 else str(error))
    assert result.stdout == ""


# -- as a process ---------------------------------------------------------------------------------


def shell(command, **options):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
        **options,
    )


def test_an_error_is_one_line_of_the_program(here):
    done = shell("surefoot risk absent.csv --champion champion")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("surefoot: cannot read absent.csv")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("reader", ["head -1", "true"])
def test_a_reader_that_leaves_early_is_no_error(here, reader):
    (here / "big.csv").write_text(
        "topic,champion,challenger\n" + "".join(f"q{i},.5,.6\n" for i in range(20_000))
    )
    command = "surefoot topics big.csv --champion champion --format csv"
    done = shell(f"set -o pipefail; {command} | {reader}")
    assert done.stderr == ""
    assert done.returncode == 0


def test_a_device_stays_a_device(here):
    done = shell("surefoot risk scores.csv --champion champion --format csv -o /dev/stdout")
    assert done.stdout.startswith("system,champion,")
    done = shell("surefoot risk scores.csv --champion champion -o /dev/full")
    assert done.returncode == 1
    assert done.stderr == "surefoot: cannot write /dev/full: No space left on device\n"


@pytest.mark.parametrize("format", ["table", "csv", "json"])
def test_a_full_disk_behind_standard_output_is_one_line(here, format):
    done = shell(f"surefoot risk scores.csv --champion champion --format {format} > /dev/full")
    assert done.returncode == 1
    assert done.stderr == "surefoot: cannot write the output: No space left on device\n"


def test_a_closed_standard_output_is_no_traceback(here):
    done = shell("surefoot risk scores.csv --champion champion >&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_ends_in_one_line_and_leaves_nothing(here):
    rows = "".join(f"q{i},{i % 7 / 7},{i % 5 / 5}\n" for i in range(400))
    (here / "long.csv").write_text("topic,champion,challenger\n" + rows)
    # a suite that a shell put in the background passes on that it ignores the signal
    code = (
        "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "runpy.run_module('surefoot', run_name='__main__')"
    )
    command = [sys.executable, "-c", code, "ci", "long.csv", "--champion", "champion"]
    command += ["--resamples", "100000000", "--method", "bca", "-o", "out.csv"]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=here)
    # it is at work once it has loaded the compiled core; then it gets the signal
    for _ in range(600):
        if "_kernels" in Path(f"/proc/{program.pid}/maps").read_text():
            break
        time.sleep(0.05)
    time.sleep(0.5)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=120)
    assert program.returncode == 130
    assert said.splitlines()[-1] == "surefoot: interrupted"
    assert len(said.strip().splitlines()) == 1
    assert not (here / "out.csv").exists()


@pytest.mark.parametrize(("output", "code"), [("-", 0), ("out.csv", 0), ("out.parquet", 1)])
def test_ids_in_latin_1_go_through_or_are_one_line(tmp_path, output, code):
    """In a locale whose output is strict UTF-8."""
    (tmp_path / "qrels").write_bytes(b"caf\xe9 0 d1 1\n")
    (tmp_path / "run").write_bytes(b"caf\xe9 Q0 d1 1 2 t\n")
    words = ["evaluate", "qrels", "run", "-m", "AP", "-q", "--format", "tsv"]
    if output != "-":
        words[-2:] = ["-o", output]
    ended = subprocess.run(
        [sys.executable, "-m", "surefoot", *words],
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
    )
    assert ended.returncode == code, ended.stderr
    if code == 0:
        written = ended.stdout if output == "-" else (tmp_path / output).read_bytes()
        assert b"caf\xe9" in written
    else:
        message = "surefoot: 'caf\\udce9' is not UTF-8. Hint: "
        assert ended.stderr.decode().splitlines()[-1].startswith(message)
