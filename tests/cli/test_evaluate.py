import json

import pytest
from click.testing import CliRunner

from surefoot.cli.inst_eval import command as inst_command
from surefoot.cli.main import cli
from surefoot.errors import MeasureError

QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a 1\nq3 0 d 1\n"
RUN = "q1 Q0 c 1 3 r\nq1 Q0 x 2 2 r\nq1 Q0 a 3 1 r\nq2 Q0 z 1 2 r\nq2 Q0 a 2 1 r\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    return [str(tmp_path / "qrels"), str(tmp_path / "bm25.run")]


def run(program, *arguments):
    return CliRunner().invoke(program, [str(a) for a in arguments], catch_exceptions=False)


def test_trec_eval_format_line_by_line(files):
    shown = run(
        cli,
        "evaluate",
        *files,
        "-m",
        "map",
        "-m",
        "P.1,2",
        "-m",
        "RR",
        "-q",
        "--format",
        "trec_eval",
        "--quiet",
    )
    assert shown.exit_code == 0
    assert shown.stdout == (
        "map\tq1\t0.8333\nP_1\tq1\t1.0000\nP_2\tq1\t0.5000\nRR\tq1\t1.0000\n"
        "map\tq2\t0.5000\nP_1\tq2\t0.0000\nP_2\tq2\t0.5000\nRR\tq2\t0.5000\n"
        "map\tall\t0.6667\nP_1\tall\t0.5000\nP_2\tall\t0.5000\nRR\tall\t0.7500\n"
    )
    assert shown.stderr == ""


@pytest.mark.parametrize(
    "order",
    [
        "{q} {r} -m AP P@1 RBP(p=0.8)",
        "-m AP P@1 RBP(p=0.8) {q} {r}",
        "{q} -m AP,P@1 RBP(p=0.8) {r}",
    ],
)
def test_one_m_takes_several_measures_before_or_after_the_files(files, order):
    words = order.format(q=files[0], r=files[1]).split()
    rows = json.loads(run(cli, "evaluate", *words, "--format", "json").stdout)["rows"]
    assert [row["measure"] for row in rows] == ["AP", "P@1", "RBP(p=0.8)"]


def test_a_misspelt_second_measure_is_not_taken_for_a_file(files):
    with pytest.raises(MeasureError, match="no measure 'nDGC@10'"):
        run(cli, "evaluate", *files, "-m", "AP", "nDGC@10")


def test_a_file_named_like_a_measure_stays_a_file(files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AP").write_text(RUN)
    rows = json.loads(run(cli, "evaluate", "-m", "RR", "qrels", "AP", "--format", "json").stdout)
    assert [row["system"] for row in rows["rows"]] == ["AP"]


def test_missing_topics_are_noted_on_stderr(files):
    shown = run(cli, "evaluate", *files, "-m", "AP")
    assert shown.stderr == (
        "note: bm25 has no documents for 1 of 3 judged topics (q3); averaged over the other 2. "
        "Hint: -c counts them as 0\n"
    )
    shown = run(cli, "evaluate", *files, "-m", "AP", "-c", "--format", "json")
    assert json.loads(shown.stdout)["rows"][0]["value"] == pytest.approx((5 / 6 + 1 / 2) / 3)


def test_several_runs_are_told_apart_in_trec_eval_format(files):
    shown = run(
        cli,
        "evaluate",
        files[0],
        files[1],
        files[1],
        "-m",
        "num_ret",
        "--format",
        "trec_eval",
        "--quiet",
    )
    assert [line.split("\t")[0] for line in shown.stdout.splitlines()] == [
        "runid",
        "num_ret",
        "runid",
        "num_ret",
    ]
    assert "num_ret\tall\t5\n" in shown.stdout


def test_table_shows_residuals_and_what_matters(files):
    shown = run(cli, "evaluate", *files, "-m", "P@2,AP", "--format", "table", "--quiet")
    assert "bm25 on 2 topics." in shown.stdout
    assert "Unjudged documents: P@2 of bm25 could be as high as 1.0000" in shown.stdout
    assert "No bounds exist for AP" in shown.stdout
    assert "0.5000 +0.5000" in shown.stdout


def test_output_file_appears_whole(files, tmp_path):
    target = tmp_path / "out.eval"
    run(cli, "evaluate", *files, "-m", "map", "--format", "trec_eval", "-o", target, "--quiet")
    assert target.read_text() == "map\tall\t0.6667\n"


# -- inst_eval -------------------------------------------------------------------------------------


def test_inst_eval_prints_as_the_reference_program(files):
    shown = run(inst_command, *files, "-T", "2", "-q")
    assert shown.exit_code == 0
    lines = [line.split("\t") for line in shown.stdout.splitlines()]
    assert [(x[0], x[-2], x[-1]) for x in lines if not x[0].startswith("inst")] == [
        ("num_ret", "q1", "3"),
        ("num_rel", "q1", "2"),
        ("num_rel_ret", "q1", "2"),
        ("num_ret", "q2", "2"),
        ("num_rel", "q2", "1"),
        ("num_rel_ret", "q2", "1"),
        ("num_q", "all", "2"),
        ("num_ret", "all", "2"),
        ("num_rel", "all", "1"),
        ("num_rel_ret", "all", "1"),
    ]
    assert shown.stdout.startswith(
        "num_ret\t\tq1\t3\nnum_rel\t\tq1\t2\nnum_rel_ret\tq1\t2\ninst_min\t"
    )
    assert "no results for query q3, left out" in shown.stderr


def test_inst_eval_complete_counts_missing_queries_as_zero(files):
    shown = run(inst_command, *files, "-T", "2", "-q", "-c")
    assert "inst_min\tq3\t0.0000\ninst_max\tq3\t0.0000\ninst_res\tq3\t0.0000\n" in shown.stdout
    assert "num_q\t\tall\t3\n" in shown.stdout


def test_inst_eval_takes_a_t_for_each_query(files, tmp_path):
    wanted = tmp_path / "T"
    wanted.write_text("q1\t2\nq2 0.75\n")
    each = run(inst_command, *files, "-tpq", wanted, "-q").stdout
    assert (
        each.split("num_q")[0].split("num_ret\t\tq2")[0]
        == (run(inst_command, *files, "-T", "2", "-q").stdout.split("num_ret\t\tq2")[0])
    )
    wanted.write_text("q1\t2\n")
    shown = run(inst_command, *files, "-tpq", wanted)
    assert "no T for query q2, left out" in shown.stderr
    assert "num_q\t\tall\t1\n" in shown.stdout


def test_inst_eval_depth_holds_for_every_query(files):
    shown = run(inst_command, *files, "-T", "2", "-n", "1", "-q").stdout
    assert "num_ret\t\tq1\t3\n" in shown  # counts are of the whole list, as in the reference
    # q2 shows one unjudged document at depth 1: anything is possible, the tail included
    assert "inst_min\tq2\t0.0000\ninst_max\tq2\t1.0000\n" in shown


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("q1 2 3\n", "T:1: is not 'topic T': 'q1 2 3'"),
        ("q1 2\nq2 x\n", "T:2: T must be a number of at least 1/2, but got 'x'"),
        ("q1 0.2\n", "T:1: T must be a number of at least 1/2, but got '0.2'"),
        ("q1 nan\n", "T:1: T must be a number of at least 1/2, but got 'nan'"),
        ("q1 2_0\n", "T:1: T must be a number of at least 1/2, but got '2_0'"),
        ("q1 2\nq1 3\n", "T:2: topic 'q1' has a T already"),
        ("\n", "T: there is no line. Hint: one 'topic T' a line"),
        ("\udcff 2\n", "T:1: is not UTF-8 text (byte 0xff). Hint: save the file as UTF-8"),
    ],
)
def test_a_broken_file_of_ts_is_named_with_its_line(files, tmp_path, lines, message):
    from surefoot.errors import InputError
    from surefoot.workflows.inst_eval import inst_eval

    wanted = tmp_path / "T"
    wanted.write_bytes(lines.encode(errors="surrogateescape"))
    with pytest.raises(InputError) as caught:
        inst_eval(*files, T_per_topic=wanted)
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize("arguments", [[], ["-T", "2", "-tpq", "file"]])
def test_inst_eval_needs_one_kind_of_t(files, tmp_path, arguments):
    (tmp_path / "file").write_text("q1 2\n")
    arguments = [str(tmp_path / "file") if a == "file" else a for a in arguments]
    assert run(inst_command, *files, *arguments).exit_code == 2
