import numpy as np
import pytest
from tests.pools import labelled_pool

import surefoot as sf
from surefoot.active.relevance.forest import fit_forest
from surefoot.active.relevance.machine import cumulative_logits, fit_confusion
from surefoot.active.relevance.ordered_logit import OrderedLogit, fit_ordered_logit
from surefoot.data.pool import Pool
from surefoot.errors import InputError, ModelError


@pytest.fixture(scope="module")
def ordinal():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 3)) * [1, 5, 0.1] + [0, 10, 3]
    truth = OrderedLogit(
        np.array([1.2, -0.8, 0.0]), np.array([-0.5, 0.7, 2.0]), x.mean(axis=0), x.std(axis=0)
    )
    p = truth.predict(x)
    y = (rng.random(4000)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    return truth, x, y, p


def test_ordered_logit_finds_the_parameters_it_was_drawn_from(ordinal):
    truth, x, y, p = ordinal
    found = fit_ordered_logit(x, y, 4)
    np.testing.assert_allclose(found.weights, truth.weights, atol=0.12)
    np.testing.assert_allclose(found.cuts, truth.cuts, atol=0.12)
    assert np.abs(found.predict(x) - p).mean() < 0.02
    np.testing.assert_allclose(found.predict(x).sum(axis=1), 1)


def test_ordered_logit_without_a_grade_in_the_seed_stays_finite(ordinal):
    _, x, y, _ = ordinal
    found = fit_ordered_logit(x[:30], np.minimum(y[:30], 1), 4)
    p = found.predict(x)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    with pytest.raises(ModelError, match="no labelled document"):
        fit_ordered_logit(np.empty((0, 2)), np.empty(0, np.int64), 3)


def test_forest_beats_the_base_rate_out_of_sample(ordinal):
    pytest.importorskip("lightgbm")
    _, x, y, _ = ordinal
    forest = fit_forest(x[:2000], y[:2000], 4, trees=50, threads=1)
    p = forest.predict(x[2000:])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p >= 0).all()
    base = np.bincount(y[:2000], minlength=4) / 2000
    held = y[2000:]
    onehot = np.eye(4)[held]
    assert ((p - onehot) ** 2).sum() < 0.9 * ((base - onehot) ** 2).sum()


def test_confusion_is_the_frequency_of_what_people_say():
    rng = np.random.default_rng(1)
    table = np.array([[0.8, 0.15, 0.05], [0.3, 0.5, 0.2], [0.1, 0.3, 0.6]])
    machine = rng.integers(0, 3, 6000)
    grade = np.array([rng.choice(3, p=table[g]) for g in machine])
    np.testing.assert_allclose(fit_confusion(machine, grade, 3).table, table, atol=0.04)
    few = fit_confusion(machine[:5], grade[:5], 3).table
    assert (few > 0).all()


def test_cumulative_logits_are_ordered():
    logits = cumulative_logits(np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(logits[0], [0.0, np.log(1 / 3)])
    assert np.isfinite(logits).all()


def with_columns(known, **columns):
    pool = known.pool
    return Pool(
        pool.topics,
        pool.rankings,
        pool.item_offset,
        pool.docs,
        pool.offsets,
        pool.items,
        np.broadcast_to(np.full(3, 1 / 3), pool.probability.shape),
        columns,
    )


@pytest.mark.parametrize("kind", ["ordered-logit", "forest", "scores", "machine", "m-columns"])
def test_a_model_of_a_seed_set_learns_what_is_relevant(kind):
    if kind == "forest":
        pytest.importorskip("lightgbm")
    known = labelled_pool(400, seed=2)
    rng = np.random.default_rng(3)
    y = known.grade
    noisy = y + rng.normal(0, 0.7, len(y))
    said = np.clip(np.round(noisy), 0, 2)
    smooth = np.eye(3)[said.astype(int)] * 0.7 + 0.1
    columns = {"x": noisy, "score": noisy}
    columns |= {f"m{g}": smooth[:, g] for g in range(3)}
    if kind == "machine":
        columns["machine"] = said
    pool = with_columns(known, **columns)
    seed = {t: known.labels[t] for t in pool.topics[:200]}
    name = "machine" if kind == "m-columns" else kind
    model = sf.active.fit_relevance(pool, name, seed_labels=seed, features=["x"])
    p = model(pool).probability
    np.testing.assert_allclose(p.sum(axis=1), 1)
    held = pool.topic_of_item >= 200
    onehot = np.eye(3)[y]
    base = np.bincount(y, minlength=3) / len(y)
    error = ((p - onehot) ** 2).sum(axis=1)[held].mean()
    assert error < 0.9 * ((base - onehot) ** 2).sum(axis=1)[held].mean()


def test_a_mixture_is_the_mean_of_its_models(tmp_path):
    known = labelled_pool(30, seed=2)
    pool = known.pool
    model = sf.active.fit_relevance(pool, "supplied+uniform")
    expected = 0.99 * (pool.probability + 1 / 3) / 2 + 0.01 / 3
    np.testing.assert_allclose(model(pool).probability, expected)
    plan = sf.active.plan(
        pool, tmp_path / "s.db", measure="ERR", compare=True, budget=5, model=model
    )
    assert plan.settings["model"] == "supplied+uniform"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("oracle", {}, "model must be one of"),
        ("forest", {}, "--seed-labels"),
        ("ordered-logit", {"seed_labels": {"q0": {"q0d0": 1}}}, "--features"),
        ("scores", {"seed_labels": {"q0": {"q0d0": 1}}}, "no numeric column 'score'"),
        ("scores", {"seed_labels": {"z": {"z": 1}}}, "no numeric column 'score'"),
    ],
)
def test_models_that_cannot_be_fitted(name, options, message):
    with pytest.raises(InputError, match=message):
        sf.active.fit_relevance(labelled_pool(5).pool, name, **options)


@pytest.mark.parametrize(
    ("name", "columns", "grade", "message"),
    [
        ("scores", {"score": [1.0, np.nan]}, 1, "score has no number for topic 'q', doc 'e'"),
        ("scores", {"score": [1.0, 2.0]}, 3, "seed label 3 of topic 'q', doc 'd' is above"),
        ("machine", {"machine": [1.0, np.nan]}, 1, "machine has no number for"),
        ("machine", {"machine": [1.0, 1.5]}, 1, "must be a grade from 0 to 2, got 1.5"),
        ("machine", {"m0": [1, 0], "m1": [0, 0], "m2": [1, 0]}, 1, r"not all 0, got \[0.0, 0.0"),
        ("machine", {"m0": [1, 2], "m1": [0, -1], "m2": [1, 0]}, 1, "must be at least 0"),
    ],
)
def test_columns_that_no_model_can_read(name, columns, grade, message):
    table = {"topic": ["q"] * 2, "ranking": ["A"] * 2, "rank": [1, 2], "doc": ["d", "e"], **columns}
    with pytest.raises(InputError, match=message):
        sf.active.fit_relevance(table, name, seed_labels={"q": {"d": grade}}, grades=3)


def test_supplied_probabilities_must_be_there(tmp_path):
    table = {"topic": ["q"] * 2, "ranking": ["A"] * 2, "rank": [1, 2], "doc": ["d", "e"]}
    options = {"measure": "ERR", "budget": 1, "grades": 3}
    plan = sf.active.plan(table, tmp_path / "s.db", **options)
    assert plan.settings["model"] == "uniform"
    model = sf.active.fit_relevance(table, "supplied", grades=3)
    with pytest.raises(InputError, match="needs the probabilities p0"):
        sf.active.plan(table, tmp_path / "t.db", model=model, **options)
