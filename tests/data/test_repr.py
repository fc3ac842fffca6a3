"""What a session shows of a value is one glance, however large it is."""

import copy
import pickle

import surefoot as sf

TABLE = {"old": {"q1": 0.5, "q2": 0.4, "q3": 0.2}, "new": {"q1": 0.6, "q2": 0.5, "q3": 0.4}}


def test_judgments_runs_and_scores_are_counted():
    grades = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    assert repr(sf.read_qrels(grades)) == "<Qrels 'the judgments': 2 topics, 3 judgments>"
    assert repr(sf.read_run(grades, name="bm25")) == "<Run 'bm25': 2 topics, 3 documents>"
    assert repr(sf.read_scores(TABLE)) == "<ScoreMatrix: 2 systems x 3 topics>"
    gaps = {"old": {"q1": 0.5}, "new": {"q2": 0.5}}
    scores = sf.read_scores(gaps, measure="AP")
    assert repr(scores) == "<ScoreMatrix of AP: 2 systems x 2 topics, 2 missing>"


def test_a_result_shows_its_finding_and_its_columns():
    result = sf.risk(TABLE, champion="old")
    lines = repr(result).splitlines()
    assert lines[0] == "<RiskResult"
    assert lines[1] == f"  {result.headline[0]}"
    assert lines[2].startswith("  1 row of system, champion, form, alpha, ")
    assert repr(pickle.loads(pickle.dumps(result))) == repr(copy.deepcopy(result)) == repr(result)


def test_tab_completion_offers_the_verbs_of_active():
    assert dir(sf.active) == sorted(sf.active.__all__)
