"""Reading TREC files and joining runs with judgments."""

import numpy as np

from surefoot.io.join import judge_run
from surefoot.io.trec import read_qrels, read_run


def test_join_orders_by_score_then_by_document_descending():
    qrels = {"2": {"a": 1, "b": 0, "c": 2}, "10": {"x": 1}}
    run = {"7": {"a": 1.0}, "2": {"a": 1.0, "c": 1.0, "z": 3.0}}
    joined = judge_run(qrels, run)
    assert joined.topics == ("2", "10")
    assert joined.offsets.tolist() == [0, 3, 3]
    np.testing.assert_array_equal(joined.grade, [np.nan, 2, 1])
    assert joined.score.tolist() == [3, 1, 1]
    assert joined.in_run.tolist() == [True, False]
    assert joined.qrel_grade.tolist() == [2, 1, 0, 1]
    assert joined.extra_topics == 1
    assert joined.doc_ids(0) == ["z", "c", "a"]


def test_trec_eval_test_files_are_read(shared_data):
    folder = shared_data / "trec_eval_tests"
    qrels = read_qrels(folder / "qrels.test")
    run = read_run(folder / "results.test")
    joined = judge_run(qrels, run)
    assert len(run) == len(joined.grade)
    assert joined.in_run.sum() == 3
