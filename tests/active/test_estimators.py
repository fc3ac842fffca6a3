import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pools import labelled_pool

import surefoot as sf
from surefoot.active.estimators.priority import inclusion, priority_mean
from surefoot.active.estimators.regression import regression_mean
from surefoot.active.estimators.weighted import weighted_mean
from surefoot.active.sequential import (
    Reach,
    betting_interval,
    log_capital,
    parse_rule,
    planned_stake,
    reach,
)
from surefoot.active.simulation import METHODS, Setting, simulated_estimates
from surefoot.errors import InputError
from surefoot.kernels.active import replacement_studies


def test_eq6_and_its_delta_method_by_hand():
    weight, value = np.array([[1.0, 2.0, 1.0, 0.0]]), np.array([[0.5, 0.25, 1.0, 9.0]])
    found = weighted_mean(weight, value, np.array([3.0]))
    mean = (0.5 + 0.5 + 1.0) / 4
    assert found.value[0] == pytest.approx(mean)
    squares = (0.5 - mean) ** 2 + 4 * (0.25 - mean) ** 2 + (1 - mean) ** 2
    assert found.standard_error[0] == pytest.approx(np.sqrt(squares / 16 * 3 / 2))


def test_equal_weights_give_the_mean_and_its_usual_standard_error():
    value = np.random.default_rng(0).normal(size=(1, 40))
    found = weighted_mean(np.full((1, 40), 0.3), value, np.array([40.0]))
    assert found.value[0] == pytest.approx(value.mean())
    assert found.standard_error[0] == pytest.approx(value.std(ddof=1) / np.sqrt(40))
    low, high = found.interval(0.95)
    assert high[0] - low[0] == pytest.approx(2 * 2.022691 * found.standard_error[0], rel=1e-6)


def test_slope_zero_is_eq6_and_perfect_predictions_have_no_error():
    rng = np.random.default_rng(1)
    weight, value = rng.uniform(0.5, 2, (3, 20)), rng.uniform(size=(3, 20))
    count = np.full(3, 20.0)
    plain = weighted_mean(weight, value, count)
    zero = regression_mean(weight, value, rng.uniform(size=(3, 20)), 0.4, count, slope=0.0)
    np.testing.assert_allclose(zero.value, plain.value)
    np.testing.assert_allclose(zero.standard_error, plain.standard_error)
    exact = regression_mean(weight, value, 2 * value + 1, 2 * 0.7 + 1, count)
    np.testing.assert_allclose(exact.value, 0.7)
    np.testing.assert_allclose(exact.standard_error, 0, atol=1e-12)


def test_a_priority_sample_of_everything_is_a_census():
    p, value = np.full((1, 5), 0.2), np.arange(5.0)[None, :]
    found = priority_mean(p, inclusion(np.full((1, 5), 0.2), np.zeros((1, 1))), value)
    assert (found.value[0], found.standard_error[0]) == (2.0, 0.0)
    assert np.array(found.interval(0.95)).ravel().tolist() == [2.0, 2.0]


def test_no_draw_is_no_estimate():
    found = weighted_mean(np.zeros((1, 3)), np.ones((1, 3)), np.zeros(1))
    assert np.isnan(found.value[0])


@pytest.fixture(scope="module")
def setting():
    """A skewed population with a useful but imperfect model."""
    rng = np.random.default_rng(12)
    m = 400
    predicted = rng.beta(0.5, 2, m)
    value = np.clip(predicted + rng.normal(0, 0.1, m), 0, 1)
    cost = rng.uniform(0.3, 1.7, m)
    p = np.full(m, 1 / m)
    cost = cost / (p @ cost)
    mean = p @ predicted
    q = p * np.sqrt(((predicted - mean) ** 2 + 0.01) / cost)
    return Setting(value, predicted, p, cost), q / q.sum()


@pytest.mark.parametrize("method", list(METHODS))
def test_every_estimator_is_consistent_and_its_interval_covers(setting, method):
    known, q = setting
    budgets = np.array([20.0, 40.0, 80.0])
    repeats = 2000
    errors = {b: [] for b in range(3)}
    covered = {b: [] for b in range(3)}
    for b, found, _ in simulated_estimates(known, q, method, budgets, repeats=repeats, seed=5):
        low, high = found.interval(0.95)
        errors[b].extend(found.value - known.truth)
        covered[b].extend((low <= known.truth) & (known.truth <= high))
    rmse = [np.sqrt(np.mean(np.square(errors[b]))) for b in range(3)]
    # four times the labels, at most half the error
    assert rmse[2] < 0.56 * rmse[0]
    assert abs(np.mean(errors[2])) < 0.2 * rmse[2]
    for b in (1, 2):
        assert 0.92 < np.mean(covered[b]) < 0.98


def test_the_control_variate_pays_where_the_model_is_good(setting):
    known, q = setting
    rmse = {}
    for method in METHODS:
        found = simulated_estimates(known, q, method, np.array([60.0]), repeats=1000, seed=6)
        errors = np.concatenate([f.value for _, f, _ in found]) - known.truth
        rmse[method] = np.sqrt(np.mean(errors**2))
    assert rmse["regression"] < 0.8 * rmse["eq6"]
    assert rmse["priority"] < rmse["eq6"]
    assert rmse["priority-regression"] < 0.8 * rmse["priority"]


@pytest.mark.parametrize("shape", ["even", "rare"])
def test_looking_after_every_draw_stays_valid(setting, shape):
    known, q = setting
    # rare: most values are alike, so that early draws show no spread at all
    value = known.value if shape == "even" else np.where(known.value > 0.4, known.value, 0.0)
    truth = float(known.p @ value)
    weight = known.p / q
    ends = reach(weight, np.zeros(len(q)), np.ones(len(q)), known.p)
    budget, repeats = 60.0, 400
    draws, counts = replacement_studies(
        np.cumsum(q), known.cost, np.array([budget]), studies=repeats, limit=400, seed=7
    )
    step = planned_stake(0.3, 60, 0.95)
    missed = naive_missed = 0
    for row, (count,) in zip(draws, counts, strict=True):
        w, v = weight[row[:count]], value[row[:count]]
        above = log_capital(w * (v - truth), ends.loss(truth), step).max()
        below = log_capital(w * (truth - v), ends.excess(truth), step).max()
        missed += max(above, below) >= np.log(2 / 0.05)
        looks = np.arange(10, count)
        inside = np.arange(count) < looks[:, None]
        found = weighted_mean(np.where(inside, w, 0), np.tile(v, (len(looks), 1)), 1.0 * looks)
        low, high = found.interval(0.95)
        naive_missed += bool(((truth < low) | (truth > high)).any())
    assert missed / repeats < 0.05
    assert naive_missed / repeats > 0.15  # what looking again and again does to a plain interval


def test_the_sequence_is_where_the_capital_reaches_the_bar(setting):
    known, q = setting
    weight = known.p / q
    ends = reach(weight, np.zeros(len(q)), np.ones(len(q)), known.p)
    drawn = np.random.default_rng(3).choice(len(q), 80, p=q)
    w, v = weight[drawn], known.value[drawn]
    low, high = betting_interval(w, v, ends, confidence=0.9, step=2.0)
    assert 0 <= low < known.truth < high <= 1
    bar = np.log(2 / 0.1)
    assert log_capital(w * (v - low), ends.loss(low), 2.0)[-1] == pytest.approx(bar, abs=1e-6)
    assert log_capital(w * (high - v), ends.excess(high), 2.0)[-1] == pytest.approx(bar, abs=1e-6)
    wider = betting_interval(w, v, ends, confidence=0.99, step=2.0)
    assert wider[0] < low < high < wider[1]
    order = np.random.default_rng(4).permutation(80)
    again = betting_interval(w[order], v[order], ends, confidence=0.9, step=2.0)
    assert again == pytest.approx((low, high), abs=1e-9)


def test_one_draw_says_next_to_nothing():
    ends = reach(np.ones(50), np.zeros(50), np.ones(50), np.full(50, 0.02))
    low, high = betting_interval(np.ones(1), np.ones(1), ends, confidence=0.95, step=0.5)
    assert low < 0.1
    assert high == 1


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_the_reach_is_the_extreme_over_all_queries(seed, queries):
    rng = np.random.default_rng(seed)
    weight = rng.choice([rng.exponential(size=queries), np.ones(queries)])
    low = -rng.integers(0, 4, queries) / 4.0
    high = rng.integers(0, 4, queries) / 4.0
    p = np.full(queries, 1 / queries)
    ends = Reach.from_dict(reach(weight, low, high, p).to_dict())
    for r in np.linspace(ends.low, ends.high, 9):
        assert ends.loss(r) == pytest.approx(max((weight * (r - low)).max(), 0), abs=1e-12)
        assert ends.excess(r) == pytest.approx(max((weight * (high - r)).max(), 0), abs=1e-12)


@pytest.mark.parametrize(
    ("text", "low", "high", "met"),
    [
        ("sign", 0.1, 0.2, True),
        ("sign", -0.1, 0.2, False),
        ("half-width<0.1", -0.05, 0.1, True),
        ("half-width<0.1", -0.2, 0.1, False),
        ("sign,half-width<0.1", -0.05, 0.1, True),
        ("sign", float("nan"), 1.0, False),
    ],
)
def test_stopping_rules(text, low, high, met):
    assert parse_rule(text).met(low, high) is met


@pytest.mark.parametrize("text", ["sgin", "half-width<0", "half-width<x", "half-width<-1"])
def test_stopping_rules_that_make_no_sense(text):
    with pytest.raises(InputError, match="cannot read the stopping rule"):
        parse_rule(text)


def test_simulation_reports_error_and_savings():
    known = labelled_pool(150, seed=8)
    result = sf.active.simulate(
        known.pool,
        known.labels,
        compare=True,
        budgets=[10, 20, 40],
        repeats=400,
        methods=["eq6", "priority"],
    )
    table = result.columns()
    assert len(result) == 4 * 2 * 3
    assert list(table)[:5] == ["variant", "method", "budget", "error", "error_se"]
    rows = {(r["variant"], r["method"], r["budget"]): r for r in result.rows()}
    assert rows["active", "eq6", 40.0]["error"] < rows["active", "eq6", 10.0]["error"]
    assert rows["passive", "eq6", 20.0]["saved"] == pytest.approx(0)


def test_a_simulated_budget_below_every_query_is_an_error():
    known = labelled_pool(20, seed=8)
    with pytest.raises(InputError, match="could pay for its first query"):
        sf.active.simulate(known.pool, known.labels, compare=True, budgets=[0.01], repeats=10)
