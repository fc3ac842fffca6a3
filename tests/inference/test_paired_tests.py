"""The one-sample tests of paired differences, on the thesis' worked example and against scipy."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefoot.inference.bootstrap_test import bootstrap_test
from surefoot.inference.outcome import rounded
from surefoot.inference.randomization import randomization_test
from surefoot.inference.sign_test import sign_test
from surefoot.inference.t_test import t_test
from surefoot.inference.wilcoxon import wilcoxon

# thesis Tables 2.5, 2.6, 2.9; the difference of topic 10 is 0.0 - 0.8 (errata thesis-10)
S1 = np.array([0.4, 0.5, 0.1, 0.2, 0.2, 0.2, 0.0, 0.4, 0.3, 0.0, 0.5, 0.1, 0.4, 0.0, 0.1])
S2 = np.array([0.1, 0.1, 0.7, 0.8, 0.6, 0.6, 0.7, 0.3, 0.3, 0.8, 0.7, 0.1, 0.5, 0.1, 0.8])
DELTA = S1 - S2
RISK = np.where(DELTA < 0, 5 * DELTA, DELTA)

ALL = [t_test, sign_test, wilcoxon, bootstrap_test, randomization_test]


def test_table_2_5_sign_test():
    got = sign_test(DELTA)
    assert got.statistic[0] == 3
    # printed 0.094 doubles a sum of rounded terms; the sum is 0.0923 (errata thesis-12)
    assert round(got.p_value[0], 4) == 0.0923


def test_table_2_6_wilcoxon_needs_rounding():
    got = wilcoxon(DELTA)
    assert got.statistic[0] == 14  # W+ of the table; raw floats would give 16
    assert got.p_value[0] < 0.05  # at most the critical value 17 of the table
    assert got.p_value[0] == pytest.approx(0.0261, abs=1e-4)


# thesis Table 2.6: largest W that is significant, by n and two-sided level
CRITICAL = {
    5: {0.2: 2, 0.1: 0},
    10: {0.2: 14, 0.1: 10, 0.05: 8, 0.02: 5, 0.01: 3, 0.005: 1},
    13: {0.2: 26, 0.1: 21, 0.05: 17, 0.02: 12, 0.01: 9, 0.005: 7},
    15: {0.2: 36, 0.1: 30, 0.05: 25, 0.02: 19, 0.01: 15, 0.005: 12},
    20: {0.2: 69, 0.1: 60, 0.05: 52, 0.02: 43, 0.01: 37, 0.005: 32},
    25: {0.2: 113, 0.1: 100, 0.05: 89, 0.02: 76, 0.01: 68, 0.005: 60},
}


def with_rank_sum(n, w):
    """Differences 1..n with the signs that make W+ equal w."""
    signs = -np.ones(n)
    for rank in range(n, 0, -1):
        if rank <= w:
            signs[rank - 1], w = 1, w - rank
    return signs * np.arange(1, n + 1)


@pytest.mark.parametrize(
    ("n", "level", "w"), [(n, a, w) for n, row in CRITICAL.items() for a, w in row.items()]
)
def test_table_2_6_lookup_table_holds_with_at_most(n, level, w):
    x = np.array([with_rank_sum(n, w), with_rank_sum(n, w + 1)])
    at, beyond = wilcoxon(x).p_value
    assert at <= level
    assert beyond > level


@pytest.mark.parametrize(
    ("x", "t", "p"), [(DELTA, -2.585, 0.022), (RISK, -3.605, 0.003)], ids=["r=1", "r=5"]
)
def test_table_2_9_t_test(x, t, p):
    got = t_test(x)
    # -3.6045 is printed as -3.605
    assert got.statistic[0] == pytest.approx(t, abs=6e-4)
    assert round(got.p_value[0], 3) == p


def test_bootstrap_test_is_centred_on_the_null():
    # errata thesis-14: .0073 where Algorithm 2.1 as printed gives .514
    got = bootstrap_test(DELTA, n_resamples=200_000)
    assert got.p_value[0] == pytest.approx(0.0073, abs=0.001)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 40), st.integers(0, 10_000))
def test_t_and_sign_tests_match_scipy(n, seed):
    x = np.random.default_rng(seed).normal(0.3, 1, size=(2, n))
    want = stats.ttest_1samp(x, 0, axis=1)
    np.testing.assert_allclose(t_test(x).statistic, want.statistic, rtol=1e-9)
    np.testing.assert_allclose(t_test(x).p_value, want.pvalue, rtol=1e-9)
    for i, row in enumerate(x):
        want_sign = stats.binomtest(int((row > 0).sum()), n).pvalue
        assert sign_test(x).p_value[i] == pytest.approx(want_sign, rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 50), st.integers(0, 10_000))
def test_wilcoxon_matches_scipy_without_ties(n, seed):
    x = np.random.default_rng(seed).normal(0.3, 1, size=n)
    want = stats.wilcoxon(x, method="exact")
    got = wilcoxon(x)
    assert got.statistic[0] == want.statistic
    assert got.p_value[0] == pytest.approx(want.pvalue, rel=1e-9)


def test_wilcoxon_normal_approximation_matches_scipy_with_ties():
    x = np.random.default_rng(0).integers(-5, 7, size=300) / 10
    want = stats.wilcoxon(x, method="asymptotic", correction=True)
    got = wilcoxon(x)
    assert got.note == ("normal approximation",)
    assert got.p_value[0] == pytest.approx(want.pvalue, rel=1e-9)


def test_wilcoxon_exact_and_normal_agree_where_they_meet():
    x = np.random.default_rng(2).normal(0.1, 1, size=100)
    exact, normal = wilcoxon(x), wilcoxon(x, exact_limit=0)
    assert exact.p_value[0] == pytest.approx(normal.p_value[0], abs=3e-3)


def test_randomisation_is_exact_on_few_topics():
    x = np.array([0.3, 0.1, -0.2, 0.4, 0.25])
    got = randomization_test(x)
    want = stats.permutation_test(
        (x, np.zeros(5)), lambda a, b: np.mean(a - b), permutation_type="samples"
    ).pvalue
    assert got.note == ("exact",)
    assert got.p_value[0] == pytest.approx(want, rel=1e-9)


def test_randomisation_draws_agree_with_scipy():
    x = np.random.default_rng(1).gamma(1, size=60) - 0.75
    got = randomization_test(x, n_permutations=100_000)
    want = stats.permutation_test(
        (x, np.zeros(60)), lambda a, b, axis: np.mean(a - b, axis=axis), vectorized=True,
        permutation_type="samples", n_resamples=50_000, batch=1000,
        rng=np.random.default_rng(0),
    ).pvalue  # fmt: skip
    error = np.sqrt(want * (1 - want) * (1 / 50_000 + 1 / 100_000))
    assert abs(got.p_value[0] - want) < 5 * error


@pytest.mark.parametrize("test", ALL)
def test_every_test_leaves_missing_topics_out(test):
    x = np.random.default_rng(3).normal(0.2, 1, size=25)
    holed = np.insert(x, [0, 7, 7, 20], np.nan)
    together = test(np.array([holed, np.append(x, [np.nan] * 4)]))
    assert together.statistic[0] == pytest.approx(test(x).statistic[0])
    tolerance = 0.02 if test is randomization_test else 1e-12  # other topics flip in its draws
    assert together.p_value[0] == pytest.approx(test(x).p_value[0], abs=tolerance)


@pytest.mark.parametrize("test", ALL)
def test_every_test_finds_no_difference_between_identical_systems(test):
    got = test(np.zeros((1, 20)))
    assert got.statistic[0] == 0
    assert got.p_value[0] == 1


@pytest.mark.parametrize("test", [t_test, bootstrap_test])
def test_one_topic_is_not_enough(test):
    got = test(np.array([[0.4]]))
    assert np.isnan(got.p_value[0])
    assert "two topics" in got.note[0]


def test_constant_difference_is_certain_for_the_t_test():
    got = t_test(np.array([[0.8 - 0.7, 0.5 - 0.4, 0.3 - 0.2]]))
    assert got.statistic[0] == np.inf
    assert got.p_value[0] == 0
    assert got.note[0]


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(0, 1000), st.sampled_from(ALL))
def test_every_test_is_two_sided(n, seed, test):
    x = np.random.default_rng(seed).normal(0.2, 1, size=n)
    assert test(x).p_value[0] == pytest.approx(test(-x).p_value[0], abs=1e-9)


def test_rounding_restores_ties():
    x = rounded(np.array([[0.8 - 0.1, 0.7 - 0.0, 0.3 - 0.2, 0.2 - 0.1, 0.1 - 0.1, np.nan]]))
    assert x[0, 0] == x[0, 1]
    assert x[0, 2] == x[0, 3]
    assert x[0, 4] == 0
    assert np.isnan(x[0, 5])


def test_targets_of_the_worked_example_are_the_replicated_ones(shared_data):
    with (shared_data / "replication" / "printed_vs_computed.csv").open() as file:
        rows = [r for r in csv.DictReader(file) if r["table"] == "Table 2.9"]
    for row in rows:
        x = {"r=1": DELTA, "r=5": RISK}[row["row"]]
        ours = {
            "mean": x.mean(),
            "sd": x.std(ddof=1),
            "t": t_test(x).statistic[0],
            "p": t_test(x).p_value[0],
        }[row["column"]]
        assert ours == pytest.approx(float(row["computed"]), abs=6e-6)
