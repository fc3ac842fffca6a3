"""Analysis of variance, Tukey, max-T, the studentised range, letters and effect sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefoot.errors import SurefootError
from surefoot.inference.anova import anova
from surefoot.inference.effect_size import effect_sizes
from surefoot.inference.letters import compact_letters
from surefoot.inference.max_t import all_pairs, many_to_one
from surefoot.inference.randomization import randomization_test
from surefoot.inference.studentized_range import studentized_range_isf, studentized_range_sf
from surefoot.inference.t_test import t_test
from surefoot.inference.tukey import tukey


def scores(n_systems=5, n_topics=20, seed=0):
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, 0.05, size=(n_systems, 1))
    return (
        0.5
        + effects
        + rng.normal(0, 0.1, size=n_topics)
        + rng.normal(0, 0.1, size=(n_systems, n_topics))
    )


def test_anova_of_two_systems_is_the_paired_t_test():
    x = scores(2)
    table = anova(x)
    t = t_test(x[0] - x[1])
    assert table.f[0] == pytest.approx(t.statistic[0] ** 2, rel=1e-9)
    assert table.p_value[0] == pytest.approx(t.p_value[0], rel=1e-9)


def test_anova_sums_of_squares_add_up():
    table = anova(scores())
    assert table.sum_of_squares[:3].sum() == pytest.approx(table.sum_of_squares[3], rel=1e-12)
    assert table.df[:3].sum() == table.df[3]


def test_additive_scores_leave_no_residual():
    # errata thesis-16: the minus sign printed in Eq. 2.31 would leave 9.01 here
    x = np.array([[0.1], [0.3]]) + np.array([[0.2, 0.5, 0.6, 0.1]])
    table = anova(x)
    assert table.sum_of_squares[2] == 0
    assert table.p_value[0] == 0


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_anova_needs_two_of_each(shape):
    with pytest.raises(SurefootError, match="two systems and two topics"):
        anova(np.zeros(shape))


@pytest.mark.parametrize(
    ("q", "groups", "df"),
    [(3.5, 3, 10), (3.0, 5, 38), (5.2, 10, 441), (4.9, 61, 2940), (6.0, 129, 6272), (2.0, 2, 2),
     (1.0, 3, 1), (0.3, 4, 20)],
)  # fmt: skip
def test_studentised_range_matches_scipy(q, groups, df):
    want = stats.studentized_range.sf(q, groups, df)
    assert studentized_range_sf(q, groups, df)[0] == pytest.approx(
        want, abs=2e-6 if df < 3 else 1e-9
    )


def test_studentised_range_of_many_values_equals_one_by_one():
    q = np.linspace(0, 12, 1000)
    together = studentized_range_sf(q, 20, 931)
    apart = [studentized_range_sf(v, 20, 931)[0] for v in q[::50]]
    np.testing.assert_allclose(together[::50], apart, atol=1e-9)


def test_studentised_range_quantile_inverts():
    assert studentized_range_isf(0.05, 3, 10) == pytest.approx(3.877, abs=5e-4)  # tabulated


def test_tukey_of_two_systems_is_the_paired_t_test():
    x = scores(2)
    got = tukey(x)
    assert got.p_adjusted[0] == pytest.approx(t_test(x[0] - x[1]).p_value[0], rel=1e-6)
    half = stats.t.isf(0.025, 19) * (x[0] - x[1]).std(ddof=1) / np.sqrt(20)
    assert got.margin == pytest.approx(half, rel=1e-6)


def test_tukey_intervals_agree_with_its_p_values():
    got = tukey(scores(8, 30, seed=4))
    beyond = np.abs(got.difference) > got.margin
    np.testing.assert_array_equal(beyond, got.p_adjusted < 0.05)


def test_max_t_of_one_challenger_is_the_randomisation_test():
    x = np.random.default_rng(0).normal(0.2, 1, size=(1, 40))
    got = many_to_one(x, n_permutations=5000)
    assert got.p_adjusted[0] == got.p_value[0]
    assert got.p_value[0] == randomization_test(x, n_permutations=5000).p_value[0]
    assert got.statistic[0] == pytest.approx(t_test(x).statistic[0], rel=1e-9)


def test_max_t_critical_value_decides_as_its_p_values():
    x = np.random.default_rng(5).normal(0.35, 1, size=(12, 40))
    got = many_to_one(x, n_permutations=20_000)
    np.testing.assert_array_equal(np.abs(got.statistic) > got.critical, got.p_adjusted < 0.05)
    assert (got.p_adjusted >= got.p_value).all()
    assert (got.p_adjusted <= np.minimum(12 * got.p_value, 1) + 0.01).all()


def test_max_t_all_pairs_of_two_systems_is_the_randomisation_test():
    x = scores(2)
    got = all_pairs(x, n_permutations=50_000)
    want = randomization_test(x[0] - x[1], n_permutations=50_000).p_value[0]
    assert got.p_adjusted[0] == pytest.approx(want, abs=0.01)


def test_max_t_all_pairs_is_near_tukey_on_normal_scores():
    x = scores(6, 60, seed=2)
    exact, parametric = all_pairs(x, n_permutations=20_000), tukey(x)
    np.testing.assert_allclose(exact.p_adjusted, parametric.p_adjusted, atol=0.02)
    np.testing.assert_array_equal(exact.statistic > exact.critical, exact.p_adjusted < 0.05)


@pytest.mark.slow
def test_max_t_keeps_the_family_error_under_the_null():
    rng = np.random.default_rng(0)
    false = [0, 0]
    for trial in range(400):
        x = rng.gamma(1, size=(6, 25)) + rng.normal(size=25)
        false[0] += (all_pairs(x, n_permutations=499, seed=trial).p_adjusted <= 0.05).any()
        d = x[1:] - x[0]
        false[1] += (many_to_one(d, n_permutations=499, seed=trial).p_adjusted <= 0.05).any()
    # binomial 99.9 % limits about 5 %
    assert 6 <= false[0] <= 36
    assert 6 <= false[1] <= 36


@pytest.mark.parametrize("threads", [1, 2])
def test_max_t_does_not_depend_on_threads(threads):
    x = scores(9, 15)
    assert all_pairs(x, n_permutations=999, threads=threads).p_adjusted.tobytes() == (
        all_pairs(x, n_permutations=999, threads=3).p_adjusted.tobytes()
    )


def test_letters_of_a_worked_example():
    significant = np.zeros((4, 4), dtype=bool)
    for a, b in ((0, 2), (0, 3), (1, 3)):
        significant[a, b] = significant[b, a] = True
    assert compact_letters([4, 3, 2, 1], significant) == ("a", "ab", "bc", "c")
    assert compact_letters([1, 2, 3, 4], significant) == ("c", "bc", "ab", "a")


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(0, 10_000), st.floats(0, 1))
def test_systems_share_a_letter_exactly_when_not_significant(n, seed, share):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < share, 1)
    significant = upper | upper.T
    letters = compact_letters(rng.random(n), significant)
    for a in range(n):
        assert letters[a]
        for b in range(n):
            assert bool(set(letters[a]) & set(letters[b])) == (not significant[a, b])


def test_effect_sizes_by_hand():
    x = np.array([0.1, 0.2, 0.3, 0.0, 0.4])
    base = np.array([0.2, 0.4, 0.3, 0.5, 0.6])
    got = effect_sizes(x, base)
    assert got.cohen_d[0] == pytest.approx(x.mean() / x.std(ddof=1))
    assert got.glass_delta[0] == pytest.approx(x.mean() / base.std(ddof=1))
    # exact Hedges factor on 4 degrees of freedom
    assert got.hedges_g[0] == pytest.approx(0.7978846 * got.cohen_d[0], rel=1e-6)


def test_effect_size_interval_inverts_the_noncentral_t():
    x = np.random.default_rng(0).normal(0.5, 1, size=30)
    got = effect_sizes(x, x)
    t = got.cohen_d[0] * np.sqrt(30)
    for end, tail in ((got.cohen_low[0], 0.975), (got.cohen_high[0], 0.025)):
        assert stats.nct.cdf(t, 29, end * np.sqrt(30)) == pytest.approx(tail, abs=1e-6)


def test_effect_size_interval_covers():
    rng = np.random.default_rng(1)
    x = rng.normal(0.4, 1, size=(2000, 20))
    got = effect_sizes(x, x)
    covered = ((got.cohen_low <= 0.4) & (got.cohen_high >= 0.4)).mean()
    assert abs(covered - 0.95) < 0.02


def test_effect_sizes_of_identical_systems_are_zero():
    got = effect_sizes(np.zeros((1, 10)), np.arange(10.0))
    assert got.cohen_d[0] == 0
    assert got.glass_delta[0] == 0
