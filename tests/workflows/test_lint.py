"""What lint says about judgments and runs."""

import pytest

from surefoot.workflows.lint import lint

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1, "d": 0}}
RUN = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"a": 2.0, "d": 1.0}}


def findings(qrels=QRELS, *runs):
    return {f.check: f for f in lint(qrels, runs).findings}


def test_good_files_have_notes_only():
    report = lint(QRELS, [RUN])
    assert {f.severity for f in report.findings} == {"note"}
    assert report.headline == ("Nothing wrong in the judgments and 1 run.",)


@pytest.mark.parametrize(
    ("check", "severity", "qrels", "run"),
    [
        ("negative_grades", "note", {**QRELS, "3": {"a": -2, "b": 1}}, RUN),
        ("fractional_grades", "note", {**QRELS, "3": {"a": 1.5}}, RUN),
        ("grades_below_one", "warning", {**QRELS, "3": {"a": 0.5, "b": 1}}, RUN),
        ("no_relevant", "warning", {**QRELS, "3": {"a": 0}}, RUN),
        ("only_relevant", "note", {"1": {"a": 1}, "2": {"a": 1}}, RUN),
        ("constant_scores", "warning", QRELS, {**RUN, "2": {"a": 0.0, "d": 0.0}}),
        ("float32_ties", "note", QRELS, {**RUN, "2": {"a": 1.0, "d": 1.0 + 1e-12}}),
        ("unjudged", "warning", QRELS, {**RUN, "2": {"x": 1.0, "d": 2.0}}),
        ("ties", "warning", QRELS, {**RUN, "1": {"a": 1.0, "b": 1.0, "c": 0.5}}),
        ("misfit", "warning", QRELS, {"1": RUN["1"]}),
        ("misfit", "error", QRELS, {"q1": RUN["1"]}),
    ],
)
def test_each_check_fires(check, severity, qrels, run):
    assert findings(qrels, run)[check].severity == severity


def test_tie_effect_is_best_minus_worst():
    # a and b tied on top: AP 1 or 1/2 with one relevant document
    note = findings({"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0, "b": 1.0}})["ties"]
    assert "AP of 1 topic by up to 0.5000" in note.message


def test_runs_are_compared(tmp_path):
    lines = [f"1 Q0 d{i} {i} {100 - i} t\n" for i in range(50)]
    for name, rows in (("one", lines), ("two", lines), ("three", lines[:20])):
        (tmp_path / name).write_text("".join(rows))
    report = lint({"1": {"d1": 1}}, [tmp_path / n for n in ("one", "two", "three")])
    found = {(f.file.rpartition("/")[2], f.check) for f in report.findings}
    assert ("two", "identical") in found
    assert ("three", "same_tag") in found
    assert ("three", "depth") in found


def test_rank_column_and_distances_are_noticed(tmp_path):
    run = tmp_path / "run"
    run.write_text("1 Q0 a 2 3 t\n1 Q0 b 1 2 t\n1 Q0 c 3 1 t\n")
    assert "disagrees with the scores in 1 of 1" in findings(QRELS, run)["ranks"].message
    run.write_text("".join(f"1 Q0 d{i} {i} {i} t\n" for i in range(20)))
    assert "are they distances?" in findings(QRELS, run)["ascending_scores"].message


def test_a_bad_line_and_duplicates_are_errors_and_the_rest_goes_on(tmp_path):
    bad, twice = tmp_path / "bad", tmp_path / "twice"
    bad.write_text("1 Q0 a 1 abc t\n")
    twice.write_text("1 Q0 a 1 3 t\n1 Q0 a 2 2 t\n1 Q0 a 3 1 t\n")
    report = lint(QRELS, [bad, twice, RUN])
    errors = [(f.check, f.message) for f in report.findings if f.severity == "error"]
    assert errors[0][0] == "line"
    assert errors[0][1].startswith("1: the score is not a number: 'abc'")
    assert errors[1][0] == "duplicates"
    assert errors[1][1].startswith("2: document 'a' occurs twice for topic '1'")
    assert "(1 more in this file)" in errors[1][1]
    assert report.headline[0].startswith("2 errors in the judgments and 3 runs")
