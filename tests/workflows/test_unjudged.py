"""Unjudged documents that two systems share: ranges of their difference, what to judge next."""

import itertools

import numpy as np
import pytest

import surefoot as sf
from surefoot.io.join import judge_run
from surefoot.metrics.grammar import parse_measures
from surefoot.metrics.unjudged_worth import unjudged_worth
from surefoot.workflows.scores import load_scores

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


SUMS = ["P@3", "P@5", "RBP(p=0.5)", "RBP(p=0.5,rel=1)", "DCG@3", "CG@4", "DCG@4"]


@pytest.mark.parametrize("measure", SUMS)
def test_the_worth_of_all_unjudged_documents_is_the_residual(runs, measure):
    scores = load_scores(qrels=QRELS, runs=runs, measure=measure)
    asked = parse_measures([measure])[0].measure
    for path, lower, upper in zip(runs, scores.lower, scores.upper, strict=True):
        found = unjudged_worth(asked, judge_run(QRELS, path))
        total = [sum(d.values()) for d in found.documents] + found.rest
        np.testing.assert_allclose(total, upper - lower, atol=1e-12)


def shuffled(seed):
    """Judgments of some of seven documents, and two runs that share some."""
    rng = np.random.default_rng(seed)
    documents = list("abcdefg")
    qrels, runs = {}, {"old": {}, "new": {}}
    for topic in ("q1", "q2", "q3"):
        judged = rng.permutation(documents)[:4]
        qrels[topic] = {str(d): int(rng.integers(0, 3)) for d in judged} | {"best": 2}
        for ranking in runs.values():
            shown = rng.permutation(documents)[: rng.integers(2, 6)]
            ranking[topic] = {str(d): 10.0 - k for k, d in enumerate(shown)}
    return qrels, runs


@pytest.mark.parametrize("measure", SUMS)
@pytest.mark.parametrize("seed", range(4))
def test_the_range_of_u_risk_is_that_of_all_completions_of_the_judgments(measure, seed):
    qrels, runs = shuffled(seed)
    least, most = [], []
    for topic, judged in qrels.items():
        shown = sorted({d for run in runs.values() for d in run[topic]} - set(judged))
        found = []
        for grades in itertools.product([0, 2], repeat=len(shown)):
            completed = {topic: judged | dict(zip(shown, grades, strict=True))}
            of_topic = {name: {topic: run[topic]} for name, run in runs.items()}
            table = load_scores(qrels=completed, runs=of_topic, measure=measure)
            found.append(float(table.row("new")[0] - table.row("old")[0]))
        unseen = [0.5 ** len(run[topic]) if "RBP" in measure else 0.0 for run in runs.values()]
        least.append(min(found) - unseen[0])
        most.append(max(found) + unseen[1])
    scores = load_scores(qrels=qrels, runs=runs, measure=measure)
    for alpha in (0, 3):
        known = sf.risk(scores, champion="old", alpha=alpha, qrels=qrels, runs=runs).residual
        for ends, end in ((least, known.u_low), (most, known.u_high)):
            x = [(1 + alpha) * d if d < 0 else d for d in ends]
            assert end[0] == pytest.approx(np.mean(x), abs=1e-9)
        assert known.certain_losses[0] == sum(d < -1e-12 for d in most)
        assert known.certain_wins[0] == sum(d > 1e-12 for d in least)
        apart = sf.risk(scores, champion="old", alpha=alpha).residual
        assert apart.u_low[0] <= known.u_low[0] + 1e-12
        assert apart.u_high[0] >= known.u_high[0] - 1e-12


def test_topics_and_the_gate_know_the_same():
    qrels, runs = shuffled(1)
    scores = load_scores(qrels=qrels, runs=runs, measure="P@3")
    known = sf.risk(scores, champion="old", alpha=0, qrels=qrels, runs=runs).residual
    table = sf.topics(scores, champion="old", alpha=0, qrels=qrels, runs=runs)
    assert table.delta_low.mean() == pytest.approx(known.u_low[0])
    assert table.delta_high.mean() == pytest.approx(known.u_high[0])
    found = sf.gate(
        scores, champion="old", fail_if="u_risk_low(alpha=0) > 9", qrels=qrels, runs=runs
    )
    assert found.values == (f"u_risk_low(alpha=0) = {known.u_low[0]:.4g}",)


def test_the_same_ranking_twice_is_certainly_the_same():
    qrels, runs = shuffled(0)
    twins = {"old": runs["old"], "new": runs["old"]}
    scores = load_scores(qrels=qrels, runs=twins, measure="P@5")
    known = sf.risk(scores, champion="old", qrels=qrels, runs=twins).residual
    assert (known.u_low[0], known.u_high[0], known.undecided[0]) == (0, 0, 0)
    assert known.verdict == ("unclear",)


@pytest.mark.parametrize("measure", ["RBP(p=0.5)", "ERR@3"])
def test_an_open_verdict_names_the_documents_to_judge(runs, measure):
    scores = load_scores(qrels=QRELS, runs=runs, measure=measure)
    result = sf.risk(scores, champion="old", qrels=QRELS, runs=runs)
    assert result.residual is not None
    for topics, documents in zip(
        result.residual.deciding_topics, result.residual.deciding_documents, strict=True
    ):
        assert [part.split(":")[0] for part in documents.split("; ") if part] == topics.split()


def test_documents_come_by_what_they_could_change():
    """d is first in both and changes nothing; e is worth more than f."""
    qrels = {t: {"a": 2} for t in ("q1", "q2", "q3")}
    runs = {
        "old": {t: {"d": 3.0, "a": 2.0, "f": 1.0} for t in qrels},
        "new": {t: {"d": 3.0, "e": 2.0, "a": 1.0} for t in qrels},
    }
    scores = load_scores(qrels=qrels, runs=runs, measure="DCG@3")
    known = sf.risk(scores, champion="old", qrels=qrels, runs=runs).residual
    assert known.verdict == ("open",)
    assert known.deciding_documents[0].split("; ")[0] == "q1: e f"


def test_a_measure_that_is_no_sum_names_what_is_shown_first(runs):
    scores = load_scores(qrels=QRELS, runs=runs, measure="ERR@3")
    known = sf.risk(scores, champion="old", qrels=QRELS, runs=runs).residual
    assert known.deciding_documents[0] == "q2: w y"
