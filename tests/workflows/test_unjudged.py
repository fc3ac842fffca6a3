"""The documents to judge next, and the risk that names them."""

import pytest

import surefoot as sf
from surefoot.workflows.scores import load_scores
from surefoot.workflows.unjudged import unjudged_documents

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0}}


@pytest.fixture
def runs(tmp_path):
    lines = {
        "old": [("q1", "a", 3), ("q1", "x", 2), ("q1", "b", 1), ("q2", "y", 2), ("q2", "a", 1)],
        # x and z are tied: trec_eval puts the larger id first
        "new": [("q1", "x", 2), ("q1", "z", 2), ("q1", "a", 1), ("q2", "a", 2), ("q2", "w", 1)],
    }
    paths = []
    for name, rows in lines.items():
        path = tmp_path / f"{name}.run"
        path.write_text("".join(f"{t} Q0 {d} 1 {s} {name}\n" for t, d, s in rows))
        paths.append(path)
    return paths


def test_unjudged_documents_come_in_the_order_of_the_ranking(runs):
    found = unjudged_documents(QRELS, runs, {"new": ["q1", "q2", "q9"]}, limit=2)
    assert found == {"new": {"q1": ["z", "x"], "q2": ["w"], "q9": []}}


def test_an_open_verdict_names_the_documents_to_judge(runs):
    scores = load_scores(qrels=QRELS, runs=runs, measure="RBP(p=0.5)")
    result = sf.risk(scores, champion="old", qrels=QRELS, runs=runs)
    assert result.residual is not None
    for topics, documents in zip(
        result.residual.deciding_topics, result.residual.deciding_documents, strict=True
    ):
        assert [part.split(":")[0] for part in documents.split("; ") if part] == topics.split()
