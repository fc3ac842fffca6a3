import numpy as np
import pytest
from scipy import stats

from surefoot.errors import SurefootError
from surefoot.inference.noncentral_t import noncentral_t_sf
from surefoot.inference.population import COPULAS, MARGINS, fit_population
from surefoot.inference.power_formulas import (
    nagata_power,
    nagata_topics,
    smallest,
    t_power,
    t_topics,
    webber_power,
    webber_topics,
    within_system_sd,
)
from surefoot.inference.power_simulation import REJECTS, simulated_power


def test_an_effect_of_one_half_needs_34_topics():
    # errata thesis-17: 33.3 -> 34, as the exact noncentral t; 6.9 with Eq. 2.26 as printed
    assert nagata_topics(0.5) == 34
    assert t_topics(0.5) == 34
    assert webber_topics(0.5) == 32


@pytest.mark.parametrize("effect", [-1.5, -0.3, 0.05, 0.2, 0.5, 0.8, 2.0])
@pytest.mark.parametrize("level", [0.05, 0.001])
@pytest.mark.parametrize("target", [0.5, 0.8, 0.95])
def test_topics_are_the_first_to_reach_the_power(effect, level, target):
    n = t_topics(effect, power=target, level=level)
    assert t_power(n, effect, level=level) >= target
    assert n == 2 or t_power(n - 1, effect, level=level) < target
    assert webber_power(webber_topics(effect, power=target, level=level), effect, level=level) >= (
        target - 1e-9
    )
    nagata = nagata_topics(effect, power=target, level=level)
    assert nagata_power(nagata, effect, level=level) >= target - 1e-9
    assert abs(nagata - n) <= max(2, 0.02 * n)


def test_exact_power_matches_scipy():
    for n, effect in ((10, 0.5), (50, 0.3), (250, 0.1), (1000, 0.12)):
        nct = stats.nct(n - 1, effect * np.sqrt(n))
        critical = stats.t.isf(0.025, n - 1)
        want = nct.sf(critical) + nct.cdf(-critical)
        assert t_power(n, effect) == pytest.approx(want, abs=1e-9)


@pytest.mark.parametrize("df", [1, 2, 3, 9, 49, 2000])
@pytest.mark.parametrize("shift", [-2.0, 0.0, 1.0, 5.0])
def test_noncentral_t_matches_scipy(df, shift):
    t = np.array([-3.0, 0.0, 0.5, 2.0, 6.0])
    want = stats.nct.sf(t, df, shift)
    # scipy's own tails are good to about 1e-9
    np.testing.assert_allclose(
        noncentral_t_sf(t, np.full(5, df), np.full(5, shift)), want, atol=1e-5 if df < 3 else 1e-8
    )


def test_power_of_no_effect_is_the_level():
    assert t_power(20, 0.0, level=0.05) == pytest.approx(0.05)
    assert t_power(20, 50.0) == 1.0


@pytest.mark.parametrize(
    "kwargs", [{"effect": 0.0}, {"effect": np.nan}, {"effect": 0.5, "power": 1.0}]
)
def test_impossible_wishes_are_refused(kwargs):
    with pytest.raises(SurefootError):
        t_topics(**kwargs)


def test_hopeless_effects_are_refused():
    with pytest.raises(SurefootError, match="too small"):
        t_topics(1e-6)


def test_smallest_searches_from_two():
    assert smallest(lambda n: n >= 2) == 2
    assert smallest(lambda n: n >= 777, start=100) == 777
    assert smallest(lambda n: n >= 7, start=100) == 7


def test_within_system_sd_is_eq_2_28():
    x = np.array([[0.1, 0.3, 0.5], [0.2, 0.2, 0.8]])
    want = np.sqrt(((x - x.mean(axis=1, keepdims=True)) ** 2).sum() / (2 * 2))
    assert within_system_sd(x) == pytest.approx(want)
    assert within_system_sd(np.array([[0.1, np.nan, 0.3]])) == pytest.approx(np.sqrt(0.02))


def observed():
    rng = np.random.default_rng(1)
    base = rng.beta(1, 2, size=60)
    other = np.clip(base + rng.normal(0.05, 0.1, size=60), 0, 1)
    base[:8] = other[:6] = 0
    return np.array([base, other])


@pytest.mark.parametrize("margins", MARGINS)
@pytest.mark.parametrize("copula", COPULAS)
def test_population_keeps_means_spread_order_and_atoms(margins, copula):
    x = observed()
    drawn = fit_population(x, margins=margins, copula=copula).draw(
        200, 500, np.random.default_rng(0)
    )
    assert drawn.shape == (2, 500, 200)
    np.testing.assert_allclose(drawn.mean(axis=(1, 2)), x.mean(axis=1), atol=0.01)
    np.testing.assert_allclose(drawn.std(axis=(1, 2)), x.std(axis=1), rtol=0.08)
    zeros = (x == 0).mean(axis=1)
    np.testing.assert_allclose((drawn == 0).mean(axis=(1, 2)), zeros, atol=0.02)
    seen = np.corrcoef(x)[0, 1]
    assert np.corrcoef(drawn.reshape(2, -1))[0, 1] == pytest.approx(seen, abs=0.08)
    assert drawn.min() >= 0
    assert drawn.max() <= 1


@pytest.mark.parametrize(
    ("x", "kwargs"),
    [
        (np.zeros((2, 3)), {}),
        (observed(), {"margins": "cubic"}),
        (observed(), {"copula": "clayton"}),
        (observed() * 7, {"margins": "beta"}),
    ],
)
def test_populations_that_cannot_be_fitted_are_refused(x, kwargs):
    with pytest.raises(SurefootError):
        fit_population(x, **kwargs)


def normal(effect):
    return lambda n, sets, rng: rng.normal(effect, 1, size=(sets, n))


@pytest.mark.parametrize("test", REJECTS)
def test_simulated_level_under_the_null(test):
    share, error = simulated_power(normal(0.0), 30, test=test, n_sets=1000, n_resamples=500)
    assert 0.02 < share < 0.11
    assert 0 < error < 0.02


def test_simulated_power_matches_the_exact_one():
    share, error = simulated_power(normal(0.5), 34, n_sets=4000)
    assert share == pytest.approx(t_power(34, 0.5), abs=4 * error)


def test_simulated_power_does_not_depend_on_threads():
    one = simulated_power(normal(0.3), 20, test="bca", n_sets=200, n_resamples=300, threads=1)
    many = simulated_power(normal(0.3), 20, test="bca", n_sets=200, n_resamples=300, threads=3)
    assert one == many
