from collections import namedtuple

import numpy as np
import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import AlignmentError, InputError, MeasureError, UnreliableWarning
from surefoot.workflows.evaluate import evaluate, evaluate_matrix

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}, "q3": {"d": 1}}
GOOD = {"q1": {"c": 3.0, "x": 2.0, "a": 1.0}, "q2": {"a": 1.0}, "q3": {"d": 1.0}}
POOR = {"q1": {"b": 2.0, "x": 2.0, "a": 1.0}, "q2": {"z": 2.0, "a": 1.0}, "q9": {"a": 1.0}}


def test_rows_follow_the_contract():
    result = evaluate(QRELS, {"good": GOOD}, ["P@2", "AP"], per_topic=True)
    assert list(result.columns()) == ["system", "measure", "topic", "value", "lower", "upper"]
    rows = list(result.rows())
    assert [(r["measure"], r["topic"]) for r in rows] == [
        (m, t) for m in ("P@2", "AP") for t in ("q1", "q2", "q3", "all")
    ]
    first = rows[0]
    assert (first["value"], first["lower"], first["upper"]) == (0.5, 0.5, 1.0)
    assert rows[3]["upper"] == pytest.approx((1.0 + 0.5 + 0.5) / 3)
    assert all(r["lower"] == r["value"] == r["upper"] for r in rows[4:])


@pytest.mark.parametrize(
    ("complete", "mean", "topics"), [(False, 0.5, ["q1", "q2"]), (True, 1 / 3, ["q1", "q2", "q3"])]
)
def test_missing_topics_as_in_trec_eval(complete, mean, topics):
    result = evaluate(QRELS, {"poor": POOR}, "R@9", complete=complete, per_topic=True)
    assert result.mean[0, 0] == pytest.approx((0.5 + 1.0) / 2 if not complete else 1.5 / 3)
    assert [r["topic"] for r in result.rows()] == [*topics, "all"]
    assert "poor has no documents for 1 of 3 judged topics (q3)" in result.notes[0]
    assert "poor has 1 topics without judgments" in result.notes[1]


def test_a_missing_topic_has_no_residual():
    result = evaluate(QRELS, {"poor": POOR}, "RBP(p=0.8)", complete=True)
    assert result.value[0, 0, 2] == result.upper[0, 0, 2] == 0.0


def test_runs_come_in_any_shape():
    one = evaluate(QRELS, GOOD, "AP")
    several = evaluate(QRELS, [GOOD, POOR], "AP")
    named = evaluate(QRELS, {"g": GOOD, "p": POOR}, "AP")
    assert one.mean[0, 0] == several.mean[0, 0] == named.mean[0, 0]
    assert named.systems == ("g", "p")
    assert len(set(several.systems)) == 2


@pytest.mark.parametrize("runs", [{}, [], ()])
def test_no_runs_are_refused(runs):
    with pytest.raises(InputError, match="there is no run to evaluate"):
        evaluate(QRELS, runs)


def test_a_list_of_records_is_one_run():
    scored = namedtuple("ScoredDoc", "query_id doc_id score")
    rows = [scored(t, d, s) for t, docs in GOOD.items() for d, s in docs.items()]
    judged = namedtuple("Qrel", "query_id doc_id relevance iteration")
    grades = [judged(t, d, g, "0") for t, docs in QRELS.items() for d, g in docs.items()]
    result = evaluate(grades, rows, "AP")
    assert result.systems == ("run",)
    assert result.mean[0, 0] == evaluate(QRELS, GOOD, "AP").mean[0, 0]
    assert evaluate(grades, [rows, rows], "AP").systems == ("run", "run#2")


def test_a_run_of_another_collection_is_explained():
    upper = {t: {d.upper(): s for d, s in docs.items()} for t, docs in GOOD.items()}
    result = evaluate(QRELS, {"good": GOOD, "upper": upper}, "P@2", judged_only=True)
    assert result.notes == result.strangers
    (note,) = result.notes
    assert note == (
        "upper retrieves no judged document. Hint: the ids differ by upper and lower case: 'C' in "
        "the run, 'c' in the judgments"
    )
    with pytest.warns(UnreliableWarning, match="upper retrieves no judged document"):
        evaluate_matrix(QRELS, {"good": GOOD, "upper": upper}, "P@2")


def test_files_of_one_name_in_two_folders_stay_apart(tmp_path):
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 a 1\n")
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bm25.run").write_text("q1 Q0 a 1 1.0 bm25\n")
    runs = [tmp_path / "old" / "bm25.run", tmp_path / "new" / "bm25.run"]
    result = evaluate(qrels, runs, "AP")
    assert result.systems == (str(runs[0]), str(runs[1]))


def test_threads_change_nothing():
    runs = {
        f"s{i}": {t: {d: s * (i % 3) for d, s in docs.items()} for t, docs in GOOD.items()}
        for i in range(12)
    }
    measures = ["nDCG@10", "INST(T=2)", "RBP(p=0.8)"]
    one, many = (evaluate(QRELS, runs, measures, threads=n) for n in (1, 4))
    assert one.systems == many.systems
    assert one.value.tobytes() == many.value.tobytes()


def test_depth_level_and_judged_only():
    run = {"q1": {"x": 3.0, "a": 2.0, "c": 1.0}}
    qrels = {"q1": {"a": 1, "c": 2}}
    assert evaluate(qrels, run, "R").mean[0, 0] == 1.0
    assert evaluate(qrels, run, "R", depth=2).mean[0, 0] == 0.5
    assert evaluate(qrels, run, "RR", level=2).mean[0, 0] == pytest.approx(1 / 3)
    assert evaluate(qrels, run, "RR(rel=1)", level=2).mean[0, 0] == 0.5
    assert evaluate(qrels, run, "RR", judged_only=True).mean[0, 0] == 1.0


def test_geometric_mean_has_the_floor_of_trec_eval():
    run = {"q1": {"c": 2.0, "a": 1.0}, "q2": {"z": 1.0}}
    result = evaluate({t: QRELS[t] for t in ("q1", "q2")}, run, "gm_map")
    assert result.mean[0, 0] == pytest.approx(np.sqrt(1.0 * 1e-5))


def test_r_loss_is_net_per_topic_and_summed():
    result = evaluate(
        QRELS,
        {"good": GOOD, "poor": POOR},
        "R-Loss@2",
        baseline="good",
        complete=True,
        per_topic=True,
    )
    assert result.value[1, 0].tolist() == [1.0, 0.0, 1.0]
    assert result.mean[:, 0].tolist() == [0.0, 2.0]
    with pytest.raises(MeasureError, match="R-Loss@2 compares with a second run"):
        evaluate(QRELS, {"good": GOOD}, "R-Loss@2")
    with pytest.raises(AlignmentError, match="the baseline 'bm25' is neither one of the runs"):
        evaluate(QRELS, {"good": GOOD}, "R-Loss@2", baseline="bm25")


def test_how_much_ties_matter_is_said():
    tied = {"q1": {"b": 1.0, "c": 1.0}}
    result = evaluate({"q1": QRELS["q1"]}, {"tied": tied}, "RR", remarks=True)
    assert "moves RR of tied between 0.5000 and 1.0000" in result.headline[-1]
    calm = evaluate(QRELS, {"good": GOOD}, "RR", remarks=True)
    assert not any("Ties" in line for line in calm.headline)


def test_matrix_for_comparisons_scores_missing_topics_zero_and_says_so():
    with pytest.warns(UnreliableWarning, match="poor has no documents for 1 of 3 topics"):
        matrix = evaluate_matrix(QRELS, {"good": GOOD, "poor": POOR}, "P@1")
    assert matrix.topics == ("q1", "q2", "q3")
    assert matrix.row("poor").tolist() == [0.0, 0.0, 0.0]
    assert matrix.has_bounds
    assert matrix.upper[1].tolist() == [1.0, 1.0, 0.0]


def test_matrix_leaves_out_topics_that_no_run_has():
    with pytest.warns(UnreliableWarning, match="1 of 3 judged topics are in none of the runs"):
        matrix = evaluate_matrix(QRELS, {"poor": POOR}, "AP")
    assert matrix.topics == ("q1", "q2")
    assert not matrix.has_bounds


@pytest.mark.parametrize("measure", ["P_5,10", "R-Loss@5", "NumRet"])
def test_matrix_needs_one_score(measure):
    with pytest.raises(MeasureError):
        evaluate_matrix(QRELS, {"good": GOOD}, measure)


def test_evaluation_to_matrix_by_either_name():
    result = evaluate(QRELS, {"good": GOOD, "poor": POOR}, ["map", "P_1"])
    assert isinstance(result.matrix("AP"), ScoreMatrix)
    assert result.matrix("P_1").measure == "P@1"
    assert np.isnan(result.matrix("map").row("poor")[2])
    with pytest.raises(AlignmentError):
        result.matrix("nDCG@10")
