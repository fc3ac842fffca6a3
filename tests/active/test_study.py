import json

import numpy as np
import pytest
from scipy.special import ndtri
from tests.pools import labelled_pool, write_pool

import surefoot as sf
from surefoot.active.group_sequential import last_look, look_levels, look_times
from surefoot.active.moments import values
from surefoot.active.store.study import Study
from surefoot.errors import InputError
from surefoot.io.labels import Label
from surefoot.kernels.active import replacement_studies, uniform_draws


@pytest.fixture(scope="module")
def known():
    return labelled_pool(60, seed=3)


def run(study, labels, *, count=1):
    """Label whatever the study asks for, until it asks for nothing more."""
    while len(tasks := sf.active.next_tasks(study, count=count)):
        answered = [Label(t, d, labels[t][d]) for t, d in zip(tasks.topic, tasks.doc, strict=True)]
        sf.active.label(study, answered)
    return sf.active.estimate(study)


@pytest.mark.parametrize("design", ["replacement", "priority"])
def test_the_estimate_is_recomputed_from_the_exported_draws(known, tmp_path, design):
    study = tmp_path / "s.db"
    sf.active.plan(
        known.pool, study, measure="ERR@5", compare=True, budget=25, design=design, seed=4
    )
    found = run(study, known.labels, count=3)
    draws = sf.active.export(study, "draws").table
    from surefoot.active.measure import parse_measure

    value = values(known.pool, parse_measure("ERR@5"), known.grade)
    delta = dict(zip(known.pool.topics, value[0] - value[1], strict=True))
    drawn = np.array([delta[t] for t in draws["topic"]])
    if design == "replacement":
        weight = np.array(draws["p"]) / np.array(draws["q"])
        # the probabilities and the numbers drawn are those that the seed gives
        assert draws["uniform"] == pytest.approx(uniform_draws(4, 0, 0, len(drawn)), abs=0)
    else:
        assert len(set(draws["topic"])) == len(drawn)
        chance = np.minimum(1, np.array(draws["q"]) / Study(study).threshold(len(drawn)))
        weight = np.array(draws["p"]) / chance
    assert found.quantity[0] == "ERR@5[A]-ERR@5[B]"
    assert found.estimate[0] == pytest.approx((weight @ drawn) / weight.sum(), rel=1e-12)
    assert found.draws == len(drawn)
    assert found.labelled == len(set(draws["topic"]))
    assert found.cost == pytest.approx(sum(draws["cost"]))
    assert found.cost <= 25 * (1 + 1e-9)


def test_one_study_is_the_first_of_the_simulated_ones(known, tmp_path):
    study = tmp_path / "s.db"
    planned = sf.active.plan(known.pool, study, measure="DCG@3", compare=True, budget=12, seed=9)
    run(study, known.labels)
    draws, counts = replacement_studies(
        np.cumsum(planned.q), planned.cost, np.array([12.0]), studies=1, limit=500, seed=9
    )
    simulated = [known.pool.topics[x] for x in draws[0, : counts[0, 0]]]
    assert sf.active.export(study, "draws").table["topic"] == simulated


def test_asking_again_without_labelling_gives_the_same_answer(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=10)
    first = sf.active.next_tasks(study, count=2)
    again = sf.active.next_tasks(study, count=2)
    assert first.columns() == again.columns()
    assert len(set(first.topic)) == 2


def test_labels_of_everything_at_once_or_one_by_one_give_the_same_estimate(known, tmp_path):
    found = []
    for name, everything in (("a.db", True), ("b.db", False)):
        study = tmp_path / name
        sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=20, seed=2)
        if everything:
            sf.active.label(study, known.labels)
            found.append(sf.active.estimate(study))
        else:
            found.append(run(study, known.labels))
    assert found[0].columns() == found[1].columns()


def test_a_budget_for_everything_ends_in_a_census(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=1000)
    found = run(study, known.labels, count=20)
    from surefoot.active.measure import parse_measure

    value = values(known.pool, parse_measure("ERR"), known.grade).mean(axis=1)
    assert found.estimate == pytest.approx((value[0] - value[1], value[0], value[1]))
    assert found.se == (0.0, 0.0, 0.0)
    assert found.labelled == 60
    assert found.method == "census"
    assert "every query has been drawn" in sf.active.next_tasks(study).headline[0]


def test_the_first_draw_over_budget_is_an_error(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=0.01)
    with pytest.raises(InputError, match=r"does not pay for the first query drawn"):
        sf.active.next_tasks(study)
    with pytest.raises(InputError, match="nothing to estimate from"):
        sf.active.estimate(study)


def test_corrections_are_kept_beside_what_they_correct(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=10)
    tasks = sf.active.next_tasks(study)
    topic, doc = tasks.topic[0], tasks.doc[0]
    sf.active.label(study, {topic: known.labels[topic]}, labeller="ann")
    before = sf.active.estimate(study)
    wrong = (known.labels[topic][doc] + 1) % 3
    taken = sf.active.label(study, {topic: {doc: wrong}}, labeller="ann")
    assert (taken.stored, taken.corrected, taken.unchanged) == (1, 1, 0)
    again = sf.active.label(study, {topic: {doc: wrong}}, labeller="ann")
    assert (again.stored, again.unchanged) == (0, 1)
    rows = sf.active.export(study, "labels").table
    said = [g for d, g in zip(rows["doc"], rows["grade"], strict=True) if d == doc]
    assert said == [known.labels[topic][doc], wrong]
    grades = sf.active.export(study, "grades").table
    assert dict(zip(grades["doc"], grades["grade"], strict=True))[doc] == wrong
    assert sf.active.estimate(study).draws == before.draws


def test_disagreement_of_labellers_is_shown(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=10)
    topic = sf.active.next_tasks(study).topic[0]
    docs = list(known.labels[topic])
    sf.active.label(study, {topic: dict.fromkeys(docs, 1)}, labeller="ann")
    sf.active.label(study, {topic: {**dict.fromkeys(docs, 1), docs[0]: 2}}, labeller="bob")
    facts = dict(zip(*sf.active.status(study).columns().values(), strict=True))
    assert facts["documents with several labellers"] == len(docs)
    assert facts["agreement of labellers"] == pytest.approx(1 - 1 / len(docs))
    assert facts["labels by ann"] == facts["labels by bob"] == len(docs)
    grades = sf.active.export(study, "grades").table
    assert dict(zip(grades["doc"], grades["grade"], strict=True))[docs[0]] == 1  # lower median


def test_two_labellers_are_given_different_queries(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=20)
    ann = sf.active.next_tasks(study, count=3, labeller="ann")
    bob = sf.active.next_tasks(study, count=3, labeller="bob")
    assert not set(ann.topic) & set(bob.topic)
    assert sf.active.next_tasks(study, count=3, labeller="ann").columns() == ann.columns()


def test_labels_given_out_of_order_wait_for_the_draws_before_them(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=20)
    tasks = sf.active.next_tasks(study, count=3)
    topics = list(dict.fromkeys(tasks.topic))
    sf.active.label(study, {topics[1]: known.labels[topics[1]]})
    with pytest.raises(InputError, match="nothing to estimate from"):
        sf.active.estimate(study)
    sf.active.label(study, {topics[0]: known.labels[topics[0]]})
    assert sf.active.estimate(study).labelled == 2


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("q0 0 d 1 extra\n", r"labels:1: has 5 fields"),
        ("topic,doc,grade\nq0,d,x\n", r"labels:2: the grade 'x' is not a whole number"),
        ("topic,doc,grade\nq0,d,9\n", r"labels:2: the grade 9 is above the study's largest"),
        ("topic,doc\nq0,d\n", r"missing: grade"),
        ("zzz 0 d 1\n", r"none of the 1 labels is of a topic and document of the study"),
        ("", r"has no labels"),
    ],
)
def test_bad_labels_are_refused_and_nothing_is_stored(known, tmp_path, labels, message):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=10)
    sf.active.next_tasks(study)
    file = tmp_path / "labels"
    file.write_text(labels)
    with pytest.raises(InputError, match=message):
        sf.active.label(study, file)
    assert sf.active.export(study, "labels").table["topic"] == []


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"q0": {"d": 1.5}}, r"^the labels: topic 'q0', doc 'd': the grade 1.5 is not a whole"),
        ([("q0", "d", 1)], r"^labels are a path, .* but got tuple$"),
        (None, r"^labels are a path, .* but got NoneType$"),
    ],
)
def test_labels_of_python_that_are_none(known, tmp_path, labels, message):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=10)
    with pytest.raises(InputError, match=message):
        sf.active.label(study, labels)


def test_the_planned_method_is_the_one_used(known, tmp_path):
    study = tmp_path / "s.db"
    options = {"measure": "ERR", "compare": True, "budget": 15, "method": "regression"}
    sf.active.plan(known.pool, study, **options)
    found = run(study, known.labels)
    assert found.method == "regression delta"
    assert found.estimate == sf.active.estimate(study, method="regression").estimate
    plain = sf.active.estimate(study, method="eq6")
    assert plain.method == "eq6 delta"
    assert plain.estimate != found.estimate


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "the seed must be an integer from 0"),
        ({"price": -3.0}, "price of a mean query must be above 0"),
        ({"budget": float("nan")}, "budget must be above 0"),
        ({"pool": None}, "a pool is a path, a mapping of columns or a data frame"),
        ({"method": "best"}, "method must be one of eq6, regression, difference"),
        ({"method": "difference", "design": "priority"}, "a priority study knows"),
    ],
)
def test_plans_that_make_no_sense(known, tmp_path, options, message):
    asked = {"pool": known.pool, "measure": "ERR", "compare": True, "budget": 10, **options}
    with pytest.raises(InputError, match=message):
        sf.active.plan(asked.pop("pool"), tmp_path / "s.db", **asked)
    assert list(tmp_path.iterdir()) == []


def test_a_study_is_never_overwritten(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=10)
    before = study.read_bytes()
    with pytest.raises(InputError, match="never overwritten"):
        sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=10)
    assert study.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.db"]


def test_a_plan_that_fails_leaves_nothing_behind(known, tmp_path):
    with pytest.raises(InputError, match="has 2 rankings"):
        sf.active.plan(known.pool, tmp_path / "s.db", measure="ERR", budget=10)
    assert list(tmp_path.iterdir()) == []


def test_blocks_of_a_file_and_the_whole_pool_plan_the_same(known, tmp_path, monkeypatch):
    from surefoot.io import pool as reader

    file = write_pool(known.columns, tmp_path / "pool.csv")
    whole = sf.active.plan(known.pool, tmp_path / "a.db", measure="ERR", compare=True, budget=9)
    chunks = reader._chunks
    monkeypatch.setattr(reader, "_chunks", lambda path, rows=7: chunks(path, rows))
    blocks = list(reader.read_pool_blocks(file, rows_per_block=30))
    assert len(blocks) > 5
    monkeypatch.setattr("surefoot.active.planning.read_pool_blocks", lambda *a, **k: iter(blocks))
    parts = sf.active.plan(file, tmp_path / "b.db", measure="ERR", compare=True, budget=9)
    assert parts.q_topics == whole.q_topics
    np.testing.assert_allclose(parts.q, whole.q, rtol=1e-12)
    one, other = Study(tmp_path / "a.db"), Study(tmp_path / "b.db")
    for x, y in zip(one.topics(range(60)), other.topics(range(60)), strict=True):
        assert json.loads(x.docs) == json.loads(y.docs)
        assert x.rankings == y.rankings


def test_a_file_that_lists_one_ranking_after_the_other_is_read_too(known, tmp_path):
    order = np.argsort(known.columns["ranking"], kind="stable")
    columns = {k: [v[i] for i in order] for k, v in known.columns.items()}
    one = sf.active.plan(
        write_pool(known.columns, tmp_path / "a.csv"),
        tmp_path / "a.db",
        measure="ERR",
        compare=True,
        budget=9,
    )
    other = sf.active.plan(
        write_pool(columns, tmp_path / "b.csv"),
        tmp_path / "b.db",
        measure="ERR",
        compare=True,
        budget=9,
    )
    assert one.q_topics == other.q_topics
    np.testing.assert_allclose(one.q, other.q, rtol=1e-12)


def test_a_study_with_a_stopping_rule_stops_asking(tmp_path):
    clear = labelled_pool(300, seed=4, sharpness=3.0, skill=(3.0, -3.0))
    study = tmp_path / "s.db"
    sf.active.plan(clear.pool, study, measure="ERR", compare=True, budget=250, stop="sign")
    found = run(study, clear.labels, count=5)
    assert found.low[0] > 0
    assert found.settings["look"] < 5
    assert found.cost < 200
    assert "the stopping rule (sign) is met" in sf.active.next_tasks(study).headline[0]
    assert found.headline[-1] == "The stopping rule (sign) is met."
    assert "sequence" not in found.settings


def test_what_a_priority_sample_cannot_do_is_said(known, tmp_path):
    study = tmp_path / "s.db"
    options = {"measure": "ERR", "compare": True, "budget": 20, "design": "priority"}
    with pytest.raises(InputError, match="a stopping rule needs independent draws"):
        sf.active.plan(known.pool, study, stop="sign", **options)
    sf.active.plan(known.pool, study, **options)
    run(study, known.labels)
    with pytest.raises(InputError, match="the interval sequence needs independent draws"):
        sf.active.estimate(study, interval="sequence")


def test_between_planned_looks_the_last_one_stands(known, tmp_path):
    study = tmp_path / "s.db"
    planned = sf.active.plan(
        known.pool, study, measure="ERR", compare=True, budget=50, stop="half-width<0.001"
    )
    first = look_times(planned.expected_draws)[0]
    looks = []
    for _ in range(200):
        tasks = sf.active.next_tasks(study)
        if not len(tasks):
            break
        sf.active.label(study, {tasks.topic[0]: known.labels[tasks.topic[0]]})
        found = sf.active.estimate(study)
        every = sf.active.estimate(study, interval="delta")
        look = found.settings["look"]
        looks.append(look)
        if look == 0:
            assert every.draws < first
            assert np.isnan(found.low[0])
            assert f"after {first} draws" in found.headline[-2]
        elif look < 5:
            assert found.draws == look_times(planned.expected_draws)[look - 1] <= every.draws
            assert found.low[0] < found.estimate[0] < found.high[0]
    assert sorted(set(looks)) == [0, 1, 2, 3, 4, 5]
    assert looks == sorted(looks)


def test_levels_of_planned_looks_are_those_in_print():
    # Jennison and Turnbull 2000, Table 2.3: C_B(5, .10) = 1.751, C_B(5, .05) = 2.040
    for confidence, printed in ((0.90, 1.751), (0.95, 2.040)):
        levels = look_levels(confidence)
        ends = [-ndtri(level / 2) for level in levels]
        np.testing.assert_allclose(ends, [printed * np.sqrt(5 / k) for k in range(1, 6)], rtol=5e-4)


@pytest.mark.parametrize(
    ("draws", "ended", "expected"),
    [
        (19, False, (0, 0)),
        (19, True, (5, 19)),
        (20, False, (1, 20)),
        (99, False, (4, 80)),
        # free repeats lead beyond the planned 100 draws; that is no licence to look after each
        (140, False, (4, 80)),
        (140, True, (5, 140)),
    ],
)
def test_the_last_look_is_at_the_end_of_the_budget(draws, ended, expected):
    assert last_look(draws, 100.0, ended=ended) == expected


def test_what_a_look_said_is_asked_again_after_a_correction(tmp_path, monkeypatch):
    from surefoot.active import collect

    clear = labelled_pool(300, seed=4, sharpness=3.0, skill=(3.0, -3.0))
    study = tmp_path / "s.db"
    sf.active.plan(clear.pool, study, measure="ERR", compare=True, budget=250, stop="sign")
    run(study, clear.labels, count=5)
    opened, asked = Study(study), []
    estimate = collect.estimate
    monkeypatch.setattr(collect, "estimate", lambda *a, **k: asked.append(1) or estimate(*a, **k))
    for _ in range(3):
        assert "is met" in sf.active.next_tasks(opened).headline[0]
    assert len(asked) == 1
    # every label was wrong: all documents are worthless, and nothing is known any more
    drawn = sf.active.export(opened, "grades").table
    worthless = {}
    for topic, doc in zip(drawn["topic"], drawn["doc"], strict=True):
        worthless.setdefault(topic, {})[doc] = 0
    sf.active.label(opened, worthless)
    assert len(sf.active.next_tasks(opened)) > 0
    assert len(asked) == 2


def test_a_raised_budget_goes_on_where_the_study_stopped(known, tmp_path):
    options = {"measure": "ERR", "compare": True, "seed": 4}
    small, large = tmp_path / "small.db", tmp_path / "large.db"
    sf.active.plan(known.pool, small, budget=10, **options)
    sf.active.plan(known.pool, large, budget=25, **options)
    run(small, known.labels)
    more = sf.active.extend(small, 15)
    assert more.columns()["budget"] == [25.0]
    assert "only --interval sequence still covers" in more.headline[1]
    for study in (small, large):
        run(study, known.labels)
    one, other = (sf.active.export(s, "draws").table for s in (small, large))
    assert one == other


def test_budgets_that_cannot_be_raised(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=25, stop="sign")
    with pytest.raises(InputError, match="must be above 0, got -1"):
        sf.active.extend(study, -1)
    with pytest.raises(InputError, match="planned for its budget, which stays"):
        sf.active.extend(study, 5)


def test_disagreements_are_listed_widest_first(known, tmp_path):
    study = tmp_path / "s.db"
    sf.active.plan(known.pool, study, measure="ERR", compare=True, budget=25)
    topic = known.pool.topics[0]
    a, b, c = list(known.labels[topic])[:3]
    for name, grades in (
        ("ann", {a: 2, b: 1, c: 1}),
        ("bob", {a: 1, b: 1, c: 0}),
        ("cay", {a: 0, b: 1, c: 0}),
        ("bob", {c: 1}),
    ):
        sf.active.label(study, {topic: grades}, labeller=name)
    found = sf.active.export(study, "disagreements").table
    assert found == {
        "topic": [topic, topic],
        "doc": [a, c],
        "grade": [1, 1],
        "lowest": [0, 0],
        "highest": [2, 1],
        "said": ["ann=2 bob=1 cay=0", "ann=1 bob=1 cay=0"],
    }
