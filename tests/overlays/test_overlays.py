"""Claims that every overlay must keep, on any scores."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.strategies import score_matrices

import surefoot as sf
from surefoot.data.scores import ScoreMatrix
from surefoot.overlays.baselines import aggregate, baseline
from surefoot.overlays.differences import differences
from surefoot.overlays.exploratory import explore
from surefoot.overlays.t_risk import (
    critical_t,
    errors_agree,
    p_value,
    se_jackknife,
    se_parametric,
    t_risk,
)
from surefoot.overlays.u_risk import break_even_alpha, f_reward, f_risk, u_gain, u_risk
from surefoot.overlays.value import Cubic, Linear, fences, fit_smooth
from surefoot.overlays.z_risk import deviations, z_risk

ALPHAS = st.sampled_from([0.0, 0.5, 1.0, 5.0, 10.0])
PAIRS = score_matrices(systems=(2, 2), topics=(2, 12), missing=True)


def x_of(matrix, alpha):
    delta = matrix.values[1] - matrix.values[0]
    delta = delta[~np.isnan(delta)]
    return np.where(delta < 0, (1 + alpha) * delta, delta)


@given(PAIRS, ALPHAS)
def test_overlays_equal_their_definitions(matrix, alpha):
    x, delta = x_of(matrix, alpha), x_of(matrix, 0.0)
    assume(len(x) > 1)
    d = differences(matrix.values[1], matrix.values[0])
    assert f_risk(d)[0] == pytest.approx(np.maximum(-delta, 0).mean(), abs=1e-12)
    assert f_reward(d)[0] == pytest.approx(np.maximum(delta, 0).mean(), abs=1e-12)
    assert u_gain(d)[0] == pytest.approx(delta.mean(), abs=1e-12)
    assert u_risk(d, alpha)[0] == pytest.approx(x.mean(), abs=1e-12)
    error = x.std(ddof=1) / math.sqrt(len(x))
    assert se_parametric(d, alpha)[0] == pytest.approx(error, rel=1e-7, abs=1e-10)


@given(PAIRS, ALPHAS)
def test_the_jackknife_leaves_out_one_topic_at_a_time(matrix, alpha):
    x = x_of(matrix, alpha)
    assume(len(x) > 1)
    d = differences(matrix.values[1], matrix.values[0])
    n = len(x)
    left_out = np.array([np.delete(x, i).mean() for i in range(n)])
    brute = math.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    assert se_jackknife(d, alpha)[0] == pytest.approx(brute, rel=1e-6, abs=1e-10)
    assert errors_agree(se_parametric(d, alpha), se_jackknife(d, alpha)).all()


@given(score_matrices(systems=(2, 4), topics=(2, 12), missing=True), st.integers(0, 12), ALPHAS)
def test_sums_over_parts_of_the_topics_merge(matrix, cut, alpha):
    values = matrix.values
    cut = min(cut, values.shape[1])
    whole = differences(values, values[0])
    merged = differences(values[:, :cut], values[0, :cut]).merge(
        differences(values[:, cut:], values[0, cut:])
    )
    for overlay in (u_risk, se_parametric):
        np.testing.assert_allclose(overlay(merged, alpha), overlay(whole, alpha), atol=1e-9)
    np.testing.assert_array_equal(merged.ties, whole.ties)


@given(PAIRS)
def test_risk_grows_with_alpha_and_breaks_even_where_it_says(matrix):
    d = differences(matrix.values[1], matrix.values[0])
    u = [u_risk(d, a)[0] for a in (0.0, 1.0, 5.0)]
    assume(not np.isnan(u[0]))
    assert u[0] >= u[1] >= u[2]
    alpha = break_even_alpha(d)[0]
    if np.isfinite(alpha):
        assert u_risk(d, alpha)[0] == pytest.approx(0, abs=1e-9 * max(1, abs(alpha)))


@given(PAIRS, st.sampled_from([1.0, 2.0, 5.0]))
def test_the_minus_form_is_the_negative(matrix, r):
    plain = sf.risk(matrix, champion="s0", alpha=r - 1)
    minus = sf.risk(matrix, champion="s0", r=r)
    assert (plain.form, minus.form) == ("alpha", "minus")
    for name in ("u_risk", "t_risk", "z_risk", "geo_risk"):
        np.testing.assert_array_equal(getattr(minus, name), -getattr(plain, name))
    np.testing.assert_array_equal(minus.p_value, plain.p_value)
    assert minus.verdict == plain.verdict


def test_a_value_function_of_the_user_goes_through_the_same_door():
    rng = np.random.default_rng(0)
    matrix = ScoreMatrix(("a", "b", "c"), tuple("tuvwxyz"), rng.random((3, 7)))
    mine = sf.risk(matrix, champion="a", value=Linear(2.0))
    linear = sf.risk(matrix, champion="a", alpha=2)
    for name in ("u_risk", "t_risk", "p_value", "z_risk", "geo_risk"):
        np.testing.assert_allclose(getattr(mine, name), getattr(linear, name))
    assert mine.value == "Linear"
    assert np.isnan(mine.alpha).all()


@given(score_matrices(systems=(2, 5), topics=(1, 8)), ALPHAS)
def test_z_deviations_of_a_system_sum_to_zero_before_division(matrix, alpha):
    """Sum of (x - e) is 0: RiskZ with the value function s(d) = d, times sqrt(e), vanishes."""
    values = matrix.values
    d = deviations(values)
    plain = deviations(values, value=Linear(alpha))
    np.testing.assert_allclose(z_risk(plain, 0.0), z_risk(d, alpha), atol=1e-9)


def test_all_zero_topics_and_systems_have_defined_z():
    values = np.array([[0.0, 0.0, 0.0], [0.0, 0.4, 0.2], [0.0, 0.1, 0.5]])
    d = deviations(values)
    assert z_risk(d, 1.0)[0] == 0.0
    assert np.isfinite(z_risk(d, 1.0)).all()
    nothing = deviations(np.zeros((2, 3)))
    assert z_risk(nothing, 5.0).tolist() == [0.0, 0.0]


def test_a_missing_score_is_filled_for_the_population_and_left_out_for_its_system():
    values = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.4], [0.2, np.nan, 0.3]])
    d = deviations(values)
    assert d.count.tolist() == [3, 3, 2]
    filled = values.copy()
    filled[2, 1] = np.nanmean(values[:, 1])
    assert z_risk(d, 1.0)[0] == pytest.approx(z_risk(deviations(filled), 1.0)[0])


@pytest.mark.parametrize(("kind", "function"), [("mean", np.nanmean), ("median", np.nanmedian)])
def test_aggregate_baselines(kind, function):
    rng = np.random.default_rng(1)
    values = rng.random((6, 50))
    values[rng.random(values.shape) < 0.2] = np.nan
    np.testing.assert_allclose(aggregate(values, kind), function(values, axis=0))
    np.testing.assert_array_equal(aggregate(values, "max"), np.nanmax(values, axis=0))


def test_a_system_named_like_an_aggregate_comes_first():
    matrix = ScoreMatrix(("mean", "b"), ("t",), np.array([[0.1], [0.9]]))
    assert baseline(matrix, "mean").system
    assert baseline(matrix, "best").scores.tolist() == [0.9]


# -- degenerate cases: defined, with a word ----------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "t", "p", "note"),
    [
        ([0.5, 0.2], [0.5, 0.2], 0.0, 1.0, "identical on every topic"),
        ([0.5], [0.2], math.nan, math.nan, "one topic"),
        ([0.5, 0.4, 0.3], [0.4, 0.3, 0.2], -math.inf, 0.0, "the same difference"),
        ([0.4, 0.3], [0.5, 0.4], math.inf, 0.0, "the same difference"),
        ([0.5, math.nan], [math.nan, 0.2], math.nan, math.nan, "no topic in common"),
        ([0.5, -0.4], [0.4, -0.5], -math.inf, 0.0, "not negative"),
    ],
)
def test_degenerate_scores_are_defined(old, new, t, p, note):
    topics = tuple(f"t{j}" for j in range(len(old)))
    result = sf.risk(ScoreMatrix(("old", "new"), topics, np.array([old, new])), champion="old")
    np.testing.assert_equal((result.t_risk[0], result.p_value[0]), (t, p))
    assert note in result.note[0]
    assert result.headline


def test_missing_cells_are_left_out_by_pairs_and_counted():
    table = {"old": {"a": 0.5, "b": 0.4, "c": 0.1}, "new": {"b": 0.5, "c": 0.2, "d": 0.9}}
    result = sf.risk(table, champion="old")
    assert (result.topics[0], result.df[0]) == (2, 1)
    assert result.u_gain[0] == pytest.approx(0.1)


def test_a_loss_of_exactly_20_percent_is_not_over_it():
    old = np.array([0.5, 0.1, 0.3, 1.0, 0.7, 0.0])
    matrix = ScoreMatrix(("old", "new"), tuple("abcdef"), np.stack([old, 0.8 * old]))
    assert sf.risk(matrix, champion="old").loss_over[0] == 0
    worse = ScoreMatrix(("old", "new"), tuple("abcdef"), np.stack([old, 0.79 * old]))
    assert sf.risk(worse, champion="old").loss_over[0] == 5


def test_tolerance_makes_ties_and_leaves_the_overlays():
    table = {"old": {"a": 0.5, "b": 0.4}, "new": {"a": 0.505, "b": 0.2}}
    plain, loose = (sf.risk(table, champion="old", tolerance=t) for t in (0.0, 0.01))
    assert (plain.wins[0], loose.wins[0], loose.ties[0]) == (1, 0, 1)
    assert plain.u_risk[0] == loose.u_risk[0]


def test_p_values_are_adjusted_over_challengers_and_over_slices():
    rng = np.random.default_rng(3)
    topics = tuple(f"t{j}" for j in range(20))
    matrix = ScoreMatrix(("old", "a", "b"), topics, rng.random((3, 20)))
    slices = {t: f"s{j % 2}" for j, t in enumerate(topics)}
    result = sf.risk(matrix, champion="old", slices=slices, correction="bonferroni")
    for p, adjusted, scope in zip(
        result.p_value, result.p_adjusted, result.slice or (), strict=True
    ):
        assert adjusted == pytest.approx(min(1, p * (2 if scope == "all" else 4)))
    part = sf.risk(matrix.select(topics=[t for t in topics if slices[t] == "s1"]), champion="old")
    rows = [i for i, s in enumerate(result.slice or ()) if s == "s1"]
    np.testing.assert_allclose(result.t_risk[rows], part.t_risk)
    np.testing.assert_allclose(result.z_risk[rows], part.z_risk)


def test_several_champions_and_the_population():
    rng = np.random.default_rng(4)
    matrix = ScoreMatrix(tuple("abcd"), tuple("tuvw"), rng.random((4, 4)))
    result = sf.risk(matrix, champion="a,b")
    assert list(zip(result.champion, result.system, strict=True)) == [
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
    ]
    crowd = ScoreMatrix(("x", "y"), tuple("wvut"), rng.random((2, 4)))
    shifted = sf.risk(matrix, champion="max", population=crowd)
    best = crowd.select(topics=matrix.topics).values.max(axis=0)
    np.testing.assert_allclose(shifted.u_gain, (matrix.values - best).mean(axis=1))


@given(score_matrices(systems=(2, 2), topics=(3, 10)), ALPHAS)
def test_exploration_equals_brute_force(matrix, alpha):
    x = x_of(matrix, alpha)
    assume(x.std() > 1e-6)
    found = explore(x)
    n = len(x)
    np.testing.assert_allclose(found.t_r, x / x.std(ddof=1))
    np.testing.assert_allclose(found.t_j, (x - x.mean()) / x.std(), atol=1e-9)
    # the printed Eq. 23, whose sign is reversed: sqrt(c-1) (mean_(i) - mean) / SE_J
    left = np.array([np.delete(x, i).mean() for i in range(n)])
    error = x.std(ddof=1) / math.sqrt(n)
    np.testing.assert_allclose(-found.t_j, math.sqrt(n - 1) * (left - x.mean()) / error, atol=1e-9)
    for i in range(n):
        rest = np.delete(x, i)
        if rest.std() > 1e-6:
            t = rest.mean() / (rest.std(ddof=1) / math.sqrt(n - 1))
            assert found.t_without[i] == pytest.approx(t, rel=1e-5, abs=1e-7)


def test_the_verdict_hangs_on_one_topic():
    x = np.array([0.1, 0.12, 0.09, 0.11, 0.1, 0.1, 0.12, -0.9])
    found = explore(x)
    assert found.decides.tolist() == [False] * 7 + [True]
    assert found.flagged.tolist() == [False] * 7 + [True]


def test_the_critical_value_is_exact():
    """The papers round it to 2; at 49 degrees of freedom it is 2.0096."""
    assert critical_t(49, 0.05) == pytest.approx(2.0096, abs=5e-5)
    assert p_value(np.array([2.0]), np.array([49.0]))[0] == pytest.approx(0.0511, abs=5e-5)


def test_smooth_values_say_when_they_are_not_monotone():
    assert fit_smooth(-0.2, 0.3).monotone
    assert not Cubic(1.0, 2.0, 0.1).monotone
    assert not fit_smooth(-0.9, 0.05, at_fence=0.9).monotone
    low, high = fences([0.0, 1.0, 2.0, 3.0, 4.0])
    assert (low, high) == (-2.0, 6.0)


def test_t_risk_does_not_lose_small_variances_in_large_means():
    delta = np.array([1e6, 1e6 + 1e-3, 1e6 - 1e-3])
    d = differences(delta, np.zeros(3))
    expected = delta.mean() / (delta.std(ddof=1) / math.sqrt(3))
    assert t_risk(d, 0.0)[0] == pytest.approx(expected, rel=1e-6)


def test_leaving_out_the_only_topic_that_differs_leaves_an_infinite_t():
    """As in risk: the same difference everywhere has no variance."""
    table = {
        "old": {"a": 0.5, "b": 0.0, "c": 0.3},
        "new": {"a": 0.4, "b": 0.0, "c": 0.2},
    }
    result = sf.topics(table, champion="old", alpha=0)
    b = result.topic.index("b")
    assert (result.t_without[b], result.decides[b]) == (-np.inf, True)
    rest = {name: {t: row[t] for t in "ac"} for name, row in table.items()}
    assert sf.risk(rest, champion="old", alpha=0).t_risk[0] == -np.inf


def test_risk_says_whether_the_two_standard_errors_agree():
    table = {
        "old": {"a": 0.5, "b": 0.1, "c": 0.3},
        "new": {"a": 0.4, "b": 0.3, "c": 0.2},
        "short": {"a": 0.7},
    }
    result = sf.risk(table, champion="old", alpha=[0, 2])
    assert result.errors_agree.tolist() == [True, True, False, False]
    assert [r["errors_agree"] for r in result.rows()] == [True, True, False, False]
    assert "no standard error" in result.note[2]
