import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefoot.errors import SurefootError, UnreliableWarning
from surefoot.inference.intervals import METHODS, bootstrap_intervals, resamples_needed
from surefoot.inference.statistics import T_RATIO, FunctionOfMeans


def skewed(n_series=3, n_topics=30, seed=0):
    return np.random.default_rng(seed).gamma(1.0, size=(n_series, n_topics)) - 1.0


@pytest.mark.parametrize(("ours", "theirs"), [("percentile", "percentile"), ("basic", "basic")])
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_percentile_and_basic_match_scipy(ours, theirs, confidence):
    x = skewed()
    got = bootstrap_intervals(x, methods=[ours], confidence=confidence, n_resamples=100_000)
    want = stats.bootstrap(
        (x,), np.mean, axis=1, n_resamples=50_000, batch=1000, method=theirs,
        confidence_level=confidence, rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    # Monte Carlo error of both ends is about 0.02 standard errors
    atol = 0.12 * got.standard_error
    assert (np.abs(got.low[0] - want.low) < atol).all()
    assert (np.abs(got.high[0] - want.high) < atol).all()


def test_bca_matches_scipy():
    x = skewed()
    got = bootstrap_intervals(x, methods=["bca"], n_resamples=100_000)
    want = stats.bootstrap(
        (x,), np.mean, axis=1, n_resamples=50_000, batch=1000, method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    atol = 0.12 * got.standard_error
    assert (np.abs(got.low[0] - want.low) < atol).all()
    assert (np.abs(got.high[0] - want.high) < atol).all()


def test_student_is_the_textbook_interval():
    x = skewed()
    got = bootstrap_intervals(x, methods=["student"], confidence=0.9)
    want = stats.ttest_1samp(x, 0, axis=1).confidence_interval(0.9)
    np.testing.assert_allclose(got.low[0], want.low, rtol=1e-12)
    np.testing.assert_allclose(got.high[0], want.high, rtol=1e-12)


def test_bonferroni_shares_the_error_over_the_comparisons():
    x = skewed()
    four = bootstrap_intervals(x, methods=METHODS, confidence=0.95, comparisons=4)
    single = bootstrap_intervals(
        x, methods=METHODS, confidence=1 - 0.05 / 4, n_resamples=four.n_resamples
    )
    np.testing.assert_array_equal(four.low, single.low)
    np.testing.assert_array_equal(four.high, single.high)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(2, 15), st.integers(0, 10_000), st.integers(1, 4))
def test_same_seed_same_bytes_for_any_threads(n_series, n_topics, seed, threads):
    x = np.random.default_rng(seed).normal(size=(n_series, n_topics))
    kwargs = {"methods": METHODS, "n_resamples": 999, "seed": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        one = bootstrap_intervals(x, threads=1, **kwargs)
        many = bootstrap_intervals(x, threads=threads, **kwargs)
        alone = bootstrap_intervals(x[:1], threads=threads, **kwargs)
    assert one.low.tobytes() == many.low.tobytes()
    assert one.high.tobytes() == many.high.tobytes()
    assert one.low[:, 0].tobytes() == alone.low[:, 0].tobytes()


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 20), st.floats(0.01, 100), st.floats(-5, 5), st.integers(0, 1000))
def test_intervals_move_and_stretch_with_the_scores(n_topics, scale, shift, seed):
    x = np.random.default_rng(seed).normal(size=(1, n_topics))
    kwargs = {"methods": METHODS, "n_resamples": 2000, "confidence": 0.8}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        a = bootstrap_intervals(x, **kwargs)
        b = bootstrap_intervals(scale * x + shift, **kwargs)
    finite = np.isfinite(a.low) & np.isfinite(b.low) & np.isfinite(a.high) & np.isfinite(b.high)
    np.testing.assert_allclose(b.low[finite], (scale * a.low + shift)[finite], atol=1e-5 * scale)
    np.testing.assert_allclose(b.high[finite], (scale * a.high + shift)[finite], atol=1e-5 * scale)


def test_replicates_of_a_function_of_means_equal_the_black_box():
    x = skewed(2, 25)
    fast = bootstrap_intervals(
        x, methods=["percentile", "bca"], statistic=T_RATIO, n_resamples=5000
    )

    def t_ratio(samples):
        n = samples.shape[1]
        return samples.mean(axis=1) / (samples.std(axis=1, ddof=1) / np.sqrt(n))

    slow = bootstrap_intervals(
        x, methods=["percentile", "bca"], statistic=t_ratio, n_resamples=5000
    )
    np.testing.assert_allclose(fast.estimate, slow.estimate, rtol=1e-12)
    # the jackknife inside T_RATIO scales by the topics left, as the black box does
    np.testing.assert_allclose(fast.low, slow.low, rtol=1e-6)
    np.testing.assert_allclose(fast.high, slow.high, rtol=1e-6)


def test_any_statistic_with_its_standard_error():
    x = skewed(2, 40)

    def mean(samples):
        return samples.mean(axis=1)

    def error(samples):
        return samples.std(axis=1, ddof=1) / np.sqrt(samples.shape[1])

    given_mean = bootstrap_intervals(
        x, methods=METHODS, statistic=mean, standard_error=error, n_resamples=3000
    )
    built_in = bootstrap_intervals(x, methods=METHODS, n_resamples=3000)
    np.testing.assert_allclose(given_mean.low, built_in.low, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(given_mean.high, built_in.high, rtol=1e-9, atol=1e-12)


def test_median_has_every_interval_but_the_studentised():
    with pytest.warns(UnreliableWarning, match="pass standard_error"):
        got = bootstrap_intervals(
            skewed(1, 31),
            methods=METHODS,
            statistic=lambda s: np.median(s, axis=1),
            n_resamples=2000,
        )
    studentised = METHODS.index("studentized")
    assert np.isnan(got.low[studentised, 0])
    others = [k for k in range(5) if k != studentised]
    assert np.isfinite(got.low[others]).all()
    assert (got.low[others] < got.high[others]).all()


def test_a_function_of_means_may_have_several_features():
    ratio = FunctionOfMeans(
        features=lambda x: np.stack([np.maximum(x, 0), np.maximum(-x, 0)]),
        combine=lambda means, n: means[0] / means[1],
    )
    x = skewed(1, 40)
    got = bootstrap_intervals(x, methods=["percentile"], statistic=ratio, n_resamples=2000)
    assert got.low[0, 0] < got.estimate[0] < got.high[0, 0]


def test_identical_systems_give_a_point_and_say_so():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = bootstrap_intervals(np.zeros((1, 20)), methods=METHODS)
    assert (got.low == 0).all()
    assert (got.high == 0).all()
    assert all("zero on every topic" in row[0] for row in got.note)


def test_constant_difference_gives_a_point_despite_rounding():
    x = np.array([[0.8 - 0.7, 0.5 - 0.4, 0.3 - 0.2, 0.9 - 0.8]])
    got = bootstrap_intervals(x, methods=METHODS)
    np.testing.assert_allclose(got.low, 0.1, rtol=1e-12)
    assert all("no width" in row[0] for row in got.note)


@pytest.mark.parametrize("x", [[[0.3]], [[np.nan, np.nan]], [[np.nan, 0.2]]])
def test_too_few_topics_are_said_not_computed(x):
    with pytest.warns(UnreliableWarning):
        got = bootstrap_intervals(np.array(x), methods=METHODS)
    assert np.isnan(got.low).all()
    assert all(row[0] for row in got.note)


def test_missing_cells_are_left_out_pairwise():
    x = skewed(3, 30)
    holed = x.copy()
    holed[1, :5] = np.nan
    got = bootstrap_intervals(holed, methods=METHODS, n_resamples=2000)
    alone = bootstrap_intervals(x[1:2, 5:], methods=METHODS, n_resamples=2000)
    complete = bootstrap_intervals(x, methods=METHODS, n_resamples=2000)
    assert got.n_topics.tolist() == [30, 25, 30]
    np.testing.assert_array_equal(got.low[:, 1], alone.low[:, 0])
    np.testing.assert_array_equal(got.low[:, [0, 2]], complete.low[:, [0, 2]])


def test_ties_that_leave_resamples_without_spread_are_said():
    x = np.zeros((1, 20))
    x[0, 0] = 1.0  # a third of the resamples miss the one topic that differs
    with pytest.warns(UnreliableWarning, match="no spread"):
        got = bootstrap_intervals(x, methods=["studentized"])
    assert not np.isfinite([got.low[0, 0], got.high[0, 0]]).all()
    assert got.note[0][0]


def test_too_few_resamples_for_the_confidence_are_said():
    with pytest.warns(UnreliableWarning, match="too few"):
        bootstrap_intervals(skewed(), confidence=0.9999, n_resamples=100)


@pytest.mark.parametrize(
    ("level", "want"), [(0.95, 20_000), (1 - 0.05 / 48, 192_000), (0.99999, 200_000)]
)
def test_default_resamples_grow_with_the_confidence(level, want):
    assert resamples_needed(level) == pytest.approx(want, abs=1)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"methods": ["wald"]},
        {"confidence": 1.0},
        {"confidence": 0.0},
        {"comparisons": 0},
        {"n_resamples": 0},
    ],
)
def test_bad_options_are_refused(kwargs):
    with pytest.raises(SurefootError):
        bootstrap_intervals(skewed(), **kwargs)


def test_infinite_scores_are_refused():
    with pytest.raises(SurefootError):
        bootstrap_intervals(np.array([[1.0, np.inf]]))
