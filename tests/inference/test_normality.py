import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import surefoot as sf
from surefoot.inference.normality import kolmogorov_p, lilliefors_p, measure_normality
from surefoot.overlays.value import THESIS_SMOOTH

# thesis Table 2.9, losses not weighted
DELTA = [0.3, 0.4, -0.6, -0.6, -0.4, -0.4, -0.7, 0.1, 0.0, -0.8, -0.2, 0.0, -0.1, -0.1, -0.7]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(3, 400),
    st.sampled_from(["normal", "gamma", "uniform", "ties"]),
    st.integers(0, 10_000),
)
def test_every_measure_matches_scipy(n, kind, seed):
    rng = np.random.default_rng(seed)
    x = {
        "normal": lambda: rng.normal(size=n),
        "gamma": lambda: rng.gamma(1, size=n),
        "uniform": lambda: rng.random(n),
        "ties": lambda: np.concatenate([[0.0, 9.0], rng.integers(0, 5, size=n - 2)]),
    }[kind]()
    got = measure_normality(x)
    want = stats.shapiro(x)
    assert got.w[0] == pytest.approx(want.statistic, abs=1e-6)
    assert got.w_p[0] == pytest.approx(want.pvalue, abs=2e-5)
    ks = stats.kstest(x, "norm", args=(x.mean(), x.std(ddof=1)), method="exact")
    assert got.d[0] == pytest.approx(ks.statistic, abs=1e-9)
    # beyond 140 values scipy's "exact" is Pelz and Good's approximation, good to five digits
    assert got.d_naive_p[0] == pytest.approx(ks.pvalue, abs=1e-9 if n <= 140 else 1e-5)
    assert got.skewness[0] == pytest.approx(stats.skew(x), abs=1e-9)
    assert got.excess_kurtosis[0] == pytest.approx(stats.kurtosis(x), abs=1e-9)


def test_naive_p_is_far_too_large():
    # errata thesis-20: .83 by the naive formula, .43 by Lilliefors'
    got = measure_normality(np.round(DELTA, 10))
    assert got.d_naive_p[0] == pytest.approx(0.83, abs=0.02)
    assert got.d_lilliefors_p[0] == pytest.approx(0.43, abs=0.04)


@pytest.mark.parametrize("n", [10, 30, 100, 250])
def test_lilliefors_p_is_uniform_under_the_null(n):
    rng = np.random.default_rng(n)
    d = measure_normality(rng.normal(size=(2000, n))).d
    for level in (0.01, 0.05, 0.1):
        share = np.mean([lilliefors_p(v, n) <= level for v in d])
        assert share == pytest.approx(level, abs=4 * np.sqrt(level / 2000))


@pytest.mark.parametrize(
    ("d", "n", "exact"),
    [
        # Durbin's matrix in mpmath at 60 digits; scipy 1.16 gives .8635943626 for the first
        (0.04634333961285825, 161, 0.863592286969024),
        (0.1, 161, 0.0745374672561487),
        (0.05, 1000, 0.0130120713099669),
        (0.15, 50, 0.190263665182481),
    ],
)
def test_naive_p_is_exact(d, n, exact):
    assert kolmogorov_p(d, n) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(("d", "n"), [(0.4, 1000), (0.6, 100), (0.3, 250), (0.99, 5), (1.0, 7)])
def test_far_tails_are_not_rounded_away(d, n):
    assert kolmogorov_p(d, n) == pytest.approx(stats.kstwo.sf(d, n), rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("n", [1001, 4000, 100_000])
def test_large_samples_use_the_corrected_limit(n):
    for z in (0.4, 0.7, 1.0, 1.5, 1.9):
        exact = stats.kstwo.sf(z / np.sqrt(n), n)
        assert kolmogorov_p(z / np.sqrt(n), n) == pytest.approx(exact, abs=2e-5, rel=2e-4)


@pytest.mark.parametrize("x", [[0.0] * 10, [1.0, 2.0], [np.nan] * 5])
def test_series_without_spread_have_no_measures(x):
    got = measure_normality(np.array(x))
    assert np.isnan(got.w[0])
    assert np.isnan(got.d[0])


def test_thesis_shapiro_w(shared_data):
    """Section 3.2.1: ICTNET12ADR3 against indriCASP, plain, times two, and smooth."""
    web = shared_data / "web2012"
    with (web / "run_names.csv").open() as file:
        rows = list(csv.DictReader(file))
    key = next(k for k in rows[0] if any(r[k] == "ICTNET12ADR3" for r in rows))
    column = next(k for k in rows[0] if any(r[k].startswith("run") for r in rows) and k != key)
    run = next(r[column] for r in rows if r[key] == "ICTNET12ADR3")
    with (web / "indriCASP_per_topic.csv").open() as file:
        base = np.array([float(r["err20"]) for r in csv.DictReader(file)])
    delta = sf.read_scores(web / "web2012_err20.csv").row(run) - base
    values = [delta, np.where(delta < 0, 2 * delta, delta), THESIS_SMOOTH(delta)]
    w = measure_normality(np.array(values)).w
    np.testing.assert_allclose(w, [0.79262, 0.73736, 0.46019], atol=1e-5)
