import itertools

import numpy as np
import pytest
from tests.pools import labelled_pool

import surefoot as sf
from surefoot.active.bounds import value_bounds
from surefoot.active.cost import normalise, query_costs
from surefoot.active.measure import GradedMeasure, parse_measure
from surefoot.active.moments import moments, values
from surefoot.active.sampling import (
    optimal_draws,
    relative_cost,
    sampling_distribution,
    spread,
)
from surefoot.data.pool import Pool
from surefoot.errors import InputError, MeasureError
from surefoot.io.pool import build_pool
from surefoot.kernels.reference import active as reference


def brute_q(pool, measure, cost, *, compare):
    """Eqs 11 and 12 by enumeration of all label vectors."""
    gain = measure.gains(pool.grades)
    functions, probabilities = [], []
    for x in range(len(pool.topics)):
        begin, end = pool.item_offset[x], pool.item_offset[x + 1]
        orders = [
            [int(i - begin) for i in items[offset[x] : offset[x + 1]]][: measure.depth]
            for offset, items in zip(pool.offsets, pool.items, strict=True)
        ]

        def value(y, order):
            gained = [y[z] for z in order]
            if measure.name == "ERR":
                return reference.L_err(gained)
            return reference.L_dcg(gained, measure.discounts(len(gained)))

        if compare:
            functions.append(lambda y, o=orders, v=value: v(y, o[0]) - v(y, o[1]))
        else:
            functions.append(lambda y, o=orders, v=value: v(y, o[0]))
        probabilities.append(pool.probability[begin:end])
    return reference.sampling_distribution(functions, probabilities, gain, cost)


@pytest.mark.parametrize("text", ["ERR", "ERR@2", "DCG", "DCG@3", "RBP(p=0.6)", "ERR(gain=thesis)"])
@pytest.mark.parametrize("rankings", [1, 2])
def test_planned_q_matches_enumeration(text, rankings, tmp_path):
    known = labelled_pool(8, rankings=rankings, docs=5, seed=11)
    compare = rankings == 2
    measure = parse_measure(text)
    plan = sf.active.plan(
        known.pool,
        tmp_path / "s.db",
        measure=text,
        compare=compare,
        budget=5,
        cost="log-length",
        floor=0.0,
    )
    q = brute_q(known.pool, measure, plan.cost, compare=compare)
    np.testing.assert_allclose(plan.q, q, rtol=1e-10)
    assert plan.cost.mean() == pytest.approx(1)
    table = plan.sampling().columns()
    assert list(table) == ["topic", "q", "cost", "expected", "second_moment"]
    assert plan.expected_draws == pytest.approx(5 / (plan.cost @ q))


def test_the_misprinted_objective_gives_another_q():
    # errata Active-1: minimising sigma_q / n instead of its square would give .884
    p, cost = np.array([0.5, 0.5]), np.array([1.0, 4.0])
    around = np.array([0.9, 1.6])
    q = sampling_distribution("active", around, cost, p, floor=0.0)
    assert q[0] == pytest.approx(0.6)

    def objective(first):
        q = np.array([first, 1 - first])
        return (p**2 * around / q).sum() * (cost @ q)

    grid = np.linspace(0.001, 0.999, 999)
    assert grid[np.argmin([objective(g) for g in grid])] == pytest.approx(0.6, abs=1e-3)


def test_the_floor_keeps_every_query_possible():
    # errata Active-5: two queries, one certain and exactly at the mean
    p = np.full(4, 0.25)
    around = np.array([0.0, 1.0, 1.0, 1.0])
    assert sampling_distribution("active", around, np.ones(4), p, floor=0.0)[0] == 0
    q = sampling_distribution("active", around, np.ones(4), p, floor=0.01)
    assert q.sum() == pytest.approx(1)
    assert q[0] == pytest.approx(0.0025, rel=0.01)
    nothing = sampling_distribution("active", np.zeros(4), np.ones(4), p, floor=0.0)
    np.testing.assert_allclose(nothing, p)


def test_variants_differ_as_named():
    known = labelled_pool(40, rankings=2, seed=1)
    measure = parse_measure("ERR")
    m = len(known.pool.topics)
    p = np.full(m, 1 / m)
    cost, _ = normalise(query_costs(known.pool), p)
    around = spread(moments(known.pool, measure), p, compare=True)
    q = {
        v: sampling_distribution(v, around, cost, p, floor=0) for v in ("active", "passive", "uniC")
    }
    np.testing.assert_allclose(q["passive"], p)
    without_price = q["active"] * np.sqrt(cost)
    np.testing.assert_allclose(q["uniC"], without_price / without_price.sum())
    assert relative_cost(q["active"], around, cost, p) < relative_cost(q["uniC"], around, cost, p)
    assert relative_cost(q["uniC"], around, cost, p) < 1
    assert optimal_draws(10, p, cost) == pytest.approx(10)


def test_no_other_distribution_beats_q_star():
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(20))
    around, cost = rng.uniform(0.1, 1, 20), rng.uniform(0.2, 3, 20)
    q = sampling_distribution("active", around, cost, p, floor=0)
    best = relative_cost(q, around, cost, p)
    for _ in range(200):
        other = q * np.exp(rng.normal(0, 0.3, 20))
        assert relative_cost(other / other.sum(), around, cost, p) >= best


def test_three_rankings_minimise_the_sum_of_the_variances():
    known = labelled_pool(10, rankings=3, seed=2)
    m = len(known.pool.topics)
    p = np.full(m, 1 / m)
    found = moments(known.pool, parse_measure("ERR"))
    total = spread(found, p, compare=True)
    parts = 0
    for r in (1, 2):
        pair = Pool(
            known.pool.topics,
            ("A", "X"),
            known.pool.item_offset,
            known.pool.docs,
            (known.pool.offsets[0], known.pool.offsets[r]),
            (known.pool.items[0], known.pool.items[r]),
            known.pool.probability,
        )
        parts = parts + spread(moments(pair, parse_measure("ERR")), p, compare=True)
    np.testing.assert_allclose(total, parts, rtol=1e-12)


@pytest.mark.parametrize(
    "text", ["ERR", "ERR@2", "DCG", "DCG@3", "RBP(p=0.6)@2", "nDCG@2", "INST(T=1)@3"]
)
def test_no_labels_lead_out_of_the_bounds_of_a_query(text):
    known = labelled_pool(12, rankings=3, docs=4, seed=6)
    measure, pool = parse_measure(text), known.pool
    low, high = value_bounds(pool, measure)
    reached_low, reached_high = np.full_like(low, np.inf), np.full_like(high, -np.inf)
    for label in itertools.product(range(3), repeat=4):
        place = np.arange(len(pool.docs)) - pool.item_offset[pool.topic_of_item]
        found = values(pool, measure, np.array(label)[place])
        both = np.concatenate([found, found[0] - found[1:]])
        assert (both >= low - 1e-12).all()
        assert (both <= high + 1e-12).all()
        reached_low, reached_high = np.minimum(reached_low, both), np.maximum(reached_high, both)
    if measure.linear and not measure.normalised:
        np.testing.assert_allclose(reached_low, low, atol=1e-12)
        np.testing.assert_allclose(reached_high, high, atol=1e-12)
    same = np.abs(reached_high[3:] - reached_low[3:]) < 1e-12
    if measure.name == "ERR":
        assert (high[3:][same] == 0).all()


@pytest.mark.parametrize(
    ("text", "gains"),
    [
        ("ERR", [0, 1 / 16, 3 / 16, 7 / 16, 15 / 16]),
        ("DCG", [0, 1, 3, 7, 15]),
        ("ERR(gain=thesis)", [0, 0.0946036, 0.2071068, 0.3408964, 0.5]),
        ("DCG(gain=thesis)", [0, 0.25, 0.5, 0.75, 1]),
        ("DCG(gain=linear)", [0, 1, 2, 3, 4]),
        ("RBP(p=0.8)", [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_gains_of_five_grades(text, gains):
    # errata Active-7 and thesis-2: grade 2 of 4 is .1875 for the paper, .2071 for the thesis
    np.testing.assert_allclose(parse_measure(text).gains(5), gains, atol=1e-6)


@pytest.mark.parametrize("text", ["ERR@10", "DCG", "nDCG@5", "RBP(p=0.8)@20", "INST(T=3)"])
def test_measures_print_as_they_are_read(text):
    assert str(parse_measure(text)) == text


@pytest.mark.parametrize(
    "text", ["MAP", "ERR@0", "RBP(p=2)", "DCG(q=1)", "ERR@", "DCG(gain=x)", "INST(T=0)"]
)
def test_measures_that_do_not_exist_are_refused(text):
    with pytest.raises(MeasureError):
        parse_measure(text)


def test_ndcg_values_divide_by_the_ideal_list():
    known = labelled_pool(20, rankings=1, seed=5)
    measure = GradedMeasure("nDCG", 3)
    found = values(known.pool, measure, known.grade)[0]
    gain = measure.gains(3)
    for x, topic in enumerate(known.pool.topics):
        begin, end = known.pool.item_offset[x], known.pool.item_offset[x + 1]
        items = known.pool.items[0][known.pool.offsets[0][x] : known.pool.offsets[0][x + 1]]
        gained = gain[known.grade[items]]
        best = np.sort(gain[known.grade[begin:end]])[::-1]
        discount = measure.discounts(10)
        ideal = best[:3] @ discount[: len(best[:3])]
        expected = gained[:3] @ discount[: len(gained[:3])] / ideal if ideal > 0 else 0
        assert found[x] == pytest.approx(expected), topic


@pytest.mark.parametrize("text", ["INST(T=3)", "INST(T=1)@3"])
def test_inst_values_are_those_of_evaluate(text, tmp_path):
    known = labelled_pool(40, rankings=1, seed=5)
    pool = known.pool
    run = tmp_path / "run"
    lines = []
    for x, topic in enumerate(pool.topics):
        items = pool.items[0][pool.offsets[0][x] : pool.offsets[0][x + 1]]
        for rank, i in enumerate(items):
            lines.append(f"{topic} Q0 {pool.docs[i]} {rank + 1} {-rank} run\n")
    run.write_text("".join(lines))
    result = sf.evaluate(known.labels, run, measures=[text], per_topic=True)
    expected = {r["topic"]: r["value"] for r in result.rows()}
    found = values(pool, parse_measure(text), known.grade)[0]
    for topic, value in zip(pool.topics, found, strict=True):
        assert value == pytest.approx(expected[topic], abs=1e-12)


@pytest.mark.parametrize("text", ["INST(T=2)", "nDCG@3"])
@pytest.mark.parametrize("rankings", [1, 2])
def test_sampled_moments_give_nearly_the_exact_q(text, rankings):
    known = labelled_pool(25, rankings=rankings, docs=5, seed=11)
    measure, pool = parse_measure(text), known.pool
    m = len(pool.topics)
    p = np.full(m, 1 / m)
    place = np.arange(len(pool.docs)) - pool.item_offset[pool.topic_of_item]
    size = np.diff(pool.item_offset)
    weight_of, value_of = [], []
    for label in itertools.product(range(3), repeat=5):
        grade = np.array(label)[place]
        found = values(pool, measure, grade)
        value_of.append(found[0] - found[1] if rankings == 2 else found[0])
        chance = pool.probability[np.arange(len(grade)), grade]
        # queries with fewer documents meet each of their label vectors several times
        weight_of.append(np.multiply.reduceat(chance, pool.item_offset[:-1]) / 3.0 ** (5 - size))
    weight, value = np.array(weight_of), np.array(value_of)
    np.testing.assert_allclose(weight.sum(axis=0), 1)
    mean = (weight * value).sum(axis=0)
    exact = (weight * (value - mean @ p) ** 2).sum(axis=0)
    q = np.sqrt(exact) / np.sqrt(exact).sum()
    near = np.sqrt(spread(moments(pool, measure), p, compare=rankings == 2))
    near /= near.sum()
    # what the approximation costs, in labels
    lost = relative_cost(near, exact, np.ones(m), p) / relative_cost(q, exact, np.ones(m), p)
    assert 1 <= lost < 1.02


# -- costs and the table -------------------------------------------------------------------------


def table(**columns):
    base = {
        "topic": ["a", "a", "b", "b"],
        "ranking": ["R"] * 4,
        "rank": [1, 2, 1, 2],
        "doc": ["d1", "d2", "d1", "d2"],
    }
    return build_pool({**base, **columns}, name="pool", grades=3)


@pytest.mark.parametrize(
    ("columns", "kind", "depth", "per", "expected"),
    [
        ({}, None, None, "auto", [2, 2]),
        ({}, None, 1, "auto", [1, 1]),
        ({}, "flat", None, "auto", [1, 1]),
        ({"length": [100, 1000, 10, 0]}, "log-length", None, "auto", [np.log(1e5), np.log(20)]),
        ({"cost": [3, 3, 5, 5]}, None, None, "auto", [3, 5]),
        ({"cost": [3, "", 5, ""]}, None, None, "auto", [3, 5]),
        ({"cost": [3, 3, 5, 5]}, None, None, "item", [6, 10]),
        ({"cost": [3, 1, 5, 5]}, None, None, "auto", [4, 10]),
        ({"cost": [3, 1, 5, 5]}, "documents", None, "auto", [2, 2]),
        ({"price": [1, 2, 3, 4]}, "price", 1, "auto", [1, 3]),
    ],
)
def test_costs_of_a_query(columns, kind, depth, per, expected):
    np.testing.assert_allclose(query_costs(table(**columns), kind, depth=depth, per=per), expected)


@pytest.mark.parametrize(
    ("price", "words"),
    [
        ([1.0, 1.0], "column cost per query"),
        ([1.0, 2.0], "column cost per document"),
        (None, "documents"),
    ],
)
def test_a_plan_says_how_it_read_the_costs(price, words, tmp_path):
    table = {"topic": ["q"] * 2, "ranking": ["A"] * 2, "rank": [1, 2], "doc": ["d", "e"]}
    if price is not None:
        table["cost"] = price
    plan = sf.active.plan(table, tmp_path / "s.db", measure="ERR", budget=1, grades=3)
    assert plan.settings["cost"] == words
    assert any(words in line for line in plan.headline) == (price is not None)


@pytest.mark.parametrize(
    ("columns", "kind", "message"),
    [
        ({"cost": [0, 0, 1, 1]}, None, r"cost \(cost\) of topic 'a' must be above 0, got 0"),
        ({"cost": [1, 2, 3, ""]}, None, r"of topic 'b' must be above 0, got an empty cell"),
        ({}, "price", r"no numeric column 'price'"),
    ],
)
def test_costs_that_make_no_sense_are_refused(columns, kind, message):
    with pytest.raises(InputError, match=message):
        query_costs(table(**columns), kind)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rank": [1, 1, 1, 2]}, "topic 'a' has the rank 1 more than once"),
        ({"doc": ["d", "d", "d", "e"]}, "has the doc 'd' more than once"),
        ({"rank": [1, "x", 1, 2]}, "row 2: rank 'x' is not a number"),
        (
            {"p0": [1, 1, 1, 1], "p1": [0.5, 0, 0, 0], "p2": [0, 0, 0, 0]},
            r"topic 'a', doc 'd1' must be at least 0 and sum to 1, got",
        ),
        ({"p0": [1, 1, 1, 1], "p1": [0, 0, 0, 0]}, "has p0 to p1, so 2 grades, not"),
        ({"p0": [1, 1, 1, 1], "p2": [0, 0, 0, 0]}, "without a gap"),
    ],
)
def test_wrong_tables_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        table(**change)


def test_a_pool_without_probabilities_needs_the_number_of_grades():
    columns = {"topic": ["a"], "ranking": ["R"], "rank": [1], "doc": ["d"]}
    with pytest.raises(InputError, match="--grades"):
        build_pool(columns, name="pool")
    np.testing.assert_allclose(build_pool(columns, name="pool", grades=4).probability, 0.25)


def test_two_rows_of_a_document_are_mixed():
    pool = build_pool(
        {
            "topic": ["a", "a"],
            "ranking": ["R", "S"],
            "rank": [1, 1],
            "doc": ["d", "d"],
            "p0": [1.0, 0.5],
            "p1": [0.0, 0.5],
        },
        name="pool",
    )
    np.testing.assert_allclose(pool.probability, [[0.75, 0.25]])
