import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import labelled_pools

from surefoot.kernels import active as kernel
from surefoot.kernels.reference import active as reference


def positions(block, ranking, x):
    """Items of query x in the ranking, by their number within the query, cut at the depth."""
    _, _, offset, *_, depth = block
    starts, items = ranking
    return [int(i - offset[x]) for i in items[starts[x] : starts[x + 1]][:depth]]


def brute(block, x, function):
    probability, gain, offset, *_ = block
    return reference.expectation(function, probability[offset[x] : offset[x + 1]], gain)


@settings(max_examples=60, deadline=None)
@given(labelled_pools())
def test_err_moments_match_enumeration_of_all_label_vectors(block):
    probability, gain, offset, a, _, depth = block
    mean, variance = kernel.err_moments(probability, gain, *a, depth=depth, threads=1)
    for x in range(len(offset) - 1):
        order = positions(block, a, x)
        value = lambda y, order=order: reference.L_err([y[z] for z in order])  # noqa: E731
        first = brute(block, x, value)
        second = brute(block, x, lambda y, value=value: value(y) ** 2)
        assert mean[x] == pytest.approx(first, abs=1e-13)
        assert variance[x] == pytest.approx(second - first**2, abs=1e-13)
        assert variance[x] >= 0


@settings(max_examples=60, deadline=None)
@given(labelled_pools())
def test_err_comparison_matches_enumeration_of_all_label_vectors(block):
    probability, gain, offset, a, b, depth = block
    covariance = kernel.err_covariance(probability, gain, offset, *a, *b, depth=depth, threads=1)
    for x in range(len(offset) - 1):
        order_a, order_b = positions(block, a, x), positions(block, b, x)
        first = lambda y, o=order_a: reference.L_err([y[z] for z in o])  # noqa: E731
        second = lambda y, o=order_b: reference.L_err([y[z] for z in o])  # noqa: E731
        joint = brute(block, x, lambda y, f=first, g=second: f(y) * g(y))
        expected = joint - brute(block, x, first) * brute(block, x, second)
        assert covariance[x] == pytest.approx(expected, abs=1e-13)


@settings(max_examples=60, deadline=None)
@given(labelled_pools(), st.booleans())
def test_linear_moments_match_enumeration_of_all_label_vectors(block, compare):
    probability, gain, offset, a, b, depth = block
    discount = 1 / np.log2(np.arange(2, 2 + (6 if depth is None else depth)))
    second_ranking = b if compare else (None, None)
    mean, variance = kernel.linear_moments(
        probability, gain, offset, discount, *a, *second_ranking, threads=1
    )
    for x in range(len(offset) - 1):
        order_a = positions(block, a, x)
        order_b = positions(block, b, x) if compare else []

        def value(y, order_a=order_a, order_b=order_b):
            return reference.L_dcg([y[z] for z in order_a], discount) - reference.L_dcg(
                [y[z] for z in order_b], discount
            )

        first = brute(block, x, value)
        second = brute(block, x, lambda y, value=value: value(y) ** 2)
        assert mean[x] == pytest.approx(first, abs=1e-13)
        assert variance[x] == pytest.approx(second - first**2, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 40])
def test_err_moments_match_the_printed_equation(n):
    # Sawade et al. 2012, Eq. 23, on lists too long to enumerate
    probability = np.random.default_rng(n).dirichlet(np.ones(5), size=n)
    gain = (2.0 ** np.arange(5) - 1) / 16
    offset, items = np.array([0, n], np.int64), np.arange(n, dtype=np.int32)
    mean, variance = kernel.err_moments(probability, gain, offset, items)
    printed = reference.err_squared_deviation(probability, gain, 0.3)
    assert variance[0] + (mean[0] - 0.3) ** 2 == pytest.approx(printed, rel=1e-12)


def test_300_certain_top_grades_are_no_zero_over_zero():
    # errata Active-2: the tail products of Eq. 23 vanish here
    with np.errstate(all="ignore"):
        certain = np.tile([0.0, 0, 0, 0, 1.0], (300, 1))
        printed = reference.err_squared_deviation(certain, np.arange(5) / 4 * 15 / 16, 0.3)
    assert np.isnan(printed)
    n = 300
    probability = np.tile([0.0, 0, 0, 0, 1.0], (n, 1))
    offset, items = np.array([0, n], np.int64), np.arange(n, dtype=np.int32)
    for top in (15 / 16, 1.0):
        gain = np.array([0, 1 / 16, 3 / 16, 7 / 16, top])
        mean, variance = kernel.err_moments(probability, gain, offset, items)
        assert mean[0] == pytest.approx(reference.L_err([top] * n), abs=1e-15)
        assert variance[0] < 1e-15
        covariance = kernel.err_covariance(
            probability, gain, offset, offset, items, offset, items[::-1].copy()
        )
        assert abs(covariance[0]) < 1e-15


def test_a_ranking_covaries_with_itself_by_its_variance():
    rng = np.random.default_rng(5)
    probability = rng.dirichlet(np.ones(5), size=119)
    gain = (2.0 ** np.arange(5) - 1) / 16
    offset, items = np.array([0, 119], np.int64), rng.permutation(119).astype(np.int32)
    _, variance = kernel.err_moments(probability, gain, offset, items)
    covariance = kernel.err_covariance(probability, gain, offset, offset, items, offset, items)
    assert covariance[0] == pytest.approx(variance[0], rel=1e-12)


def test_uniform_probabilities_are_read_without_a_copy():
    row = np.full(3, 1 / 3)
    flat, tiled = np.broadcast_to(row, (7, 3)), np.tile(row, (7, 1))
    gain = np.array([0, 0.25, 0.75])
    offset, items = np.array([0, 7], np.int64), np.arange(7, dtype=np.int32)
    one = kernel.err_moments(flat, gain, offset, items)
    other = kernel.err_moments(tiled, gain, offset, items)
    assert np.array_equal(one, other)


@pytest.mark.parametrize("design", ["replacement", "priority"])
def test_studies_do_not_depend_on_threads_or_batches(design):
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(50))
    cost = rng.uniform(0.5, 1.5, 50)
    budgets = np.array([3.0, 10.0])

    def run(studies, first=0, threads=1):
        options = {"studies": studies, "limit": 60, "seed": 3, "threads": threads}
        if design == "priority":
            return kernel.priority_studies(q, cost, budgets, first_study=first, **options)
        return kernel.replacement_studies(np.cumsum(q), cost, budgets, first_study=first, **options)

    whole = run(40)
    for one, many in zip(whole, run(40, threads=4), strict=True):
        assert np.array_equal(one, many)
    for one, part in zip(whole, run(15, first=25), strict=True):
        assert np.array_equal(one[25:], part)


def test_a_study_pays_for_a_query_once_and_stops_before_the_draw_over_budget():
    q = np.full(4, 0.25)
    cost = np.array([1.0, 2.0, 3.0, 4.0])
    budgets = np.array([0.5, 4.5, 100.0])
    draws, counts = kernel.replacement_studies(
        np.cumsum(q), cost, budgets, studies=200, limit=400, seed=1
    )
    for row, count in zip(draws, counts, strict=True):
        assert count[0] == 0
        for b, budget in enumerate(budgets):
            drawn = row[: count[b]]
            assert cost[np.unique(drawn)].sum() <= budget
        # the largest budget pays for everything, so the study ends when the last query is labelled
        assert set(row[: count[2]].tolist()) == {0, 1, 2, 3}
        assert len(set(row[: count[2] - 1].tolist())) == 3


def test_priority_inclusion_is_unbiased():
    rng = np.random.default_rng(2)
    q = rng.dirichlet(np.ones(12))
    value = rng.uniform(0, 1, 12)
    draws, counts, thresholds = kernel.priority_studies(
        q, np.ones(12), np.array([5.0]), studies=40_000, limit=12, seed=8
    )
    assert (counts == 5).all()
    chosen = draws[:, :5]
    inclusion = np.minimum(1, q[chosen] / thresholds)
    estimates = (value[chosen] / inclusion).sum(axis=1)
    standard_error = estimates.std() / np.sqrt(len(estimates))
    assert abs(estimates.mean() - value.sum()) < 4 * standard_error
