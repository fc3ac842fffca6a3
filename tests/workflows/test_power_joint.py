"""Power of tests of all systems at once, and of overlays that a population defines."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import SurefootError
from surefoot.inference.population import fit_population
from surefoot.inference.tukey import tukey
from surefoot.overlays.geo_risk import geo_risk
from surefoot.overlays.z_risk import deviations, z_risk


@pytest.fixture(scope="module")
def four():
    rng = np.random.default_rng(4)
    topic = rng.beta(2, 3, size=60)
    return {
        s: dict(
            zip(map(str, range(60)), np.clip(topic + rng.normal(m, 0.12, 60), 0, 1), strict=True)
        )
        for s, m in (("old", 0.0), ("a", 0.06), ("b", -0.03), ("c", 0.0))
    }


def test_joint_tests_of_two_systems_have_the_power_of_the_paired_ones(four):
    two = {s: four[s] for s in ("old", "a")}
    options = {"champion": "old", "topics": 30, "simulations": 500, "resamples": 500}
    plain = {t: sf.power(two, test=t, **options) for t in ("t", "tukey", "anova", "maxt")}
    t = plain["t"].power[-1]
    for kind in ("tukey", "anova", "maxt"):
        found = plain[kind]
        assert found.method == ("simulation",)
        assert found.power[0] == pytest.approx(t, abs=4 * np.hypot(0.022, 0.022))


def test_tukey_power_agrees_with_brute_force(four):
    """Share of simulated tables in which `tukey` itself rejects, drawn here another way."""
    found = sf.power(four, champion="old", test="tukey", topics=40, simulations=400)
    values = np.array([list(v.values()) for v in four.values()])
    population = fit_population(values)
    drawn = population.draw(40, 120, np.random.default_rng(99)).transpose(1, 0, 2)
    brute = np.mean([tukey(x).p_adjusted[:3] <= 0.05 for x in drawn], axis=0)
    np.testing.assert_allclose(found.power, brute, atol=0.18)


@pytest.mark.parametrize("overlay", ["z_risk", "geo_risk"])
def test_power_of_an_overlay_is_the_chance_of_the_right_order(four, overlay):
    found = sf.power(four, champion="old", test=overlay, topics=[10, 40], simulations=300)
    assert found.alpha == 1  # as in `risk`
    few, many = found.power[:3], found.power[3:]
    assert (many >= few - 0.1).all()
    observed = sf.risk(four, champion="old")
    own = {s: getattr(observed, overlay)[i] for i, s in enumerate(observed.system)}
    champion = sf.risk(four, champion="mean", systems=["old"])
    gap = np.array([own[s] - getattr(champion, overlay)[0] for s in found.system[:3]])
    np.testing.assert_allclose(found.effect[:3], gap, rtol=1e-9)
    values = np.array([list(v.values()) for v in four.values()])
    drawn = fit_population(values).draw(40, 300, np.random.default_rng(7)).transpose(1, 0, 2)
    score = {"z_risk": z_risk, "geo_risk": geo_risk}[overlay]
    orders = [np.sign((s := score(deviations(x), 1.0))[1:] - s[0]) for x in drawn]
    brute = np.mean([o == np.sign(gap) for o in orders], axis=0)
    np.testing.assert_allclose(many, brute, atol=0.13)


def test_power_with_a_value_function_and_what_it_refuses(four):
    smooth = sf.power(four, champion="old", system="a", value="smooth", topics=40, simulations=200)
    own = sf.power(four, champion="old", system="a", value=lambda d: d, topics=40, simulations=200)
    plain = sf.power(four, champion="old", system="a", topics=40, simulations=200)
    assert np.isnan(smooth.alpha)
    assert own.power[-1] == plain.power[-1]
    assert smooth.power[-1] != plain.power[-1]
    for bad in ({"test": "tukey", "alpha": 1}, {"test": "maxt", "delta": 0.1}):
        with pytest.raises(SurefootError):
            sf.power(four, champion="old", **bad)
    short = {s: dict(list(v.items())[:4]) for s, v in four.items()}
    with pytest.raises(SurefootError, match="five are needed"):
        sf.power(short, champion="old", test="maxt")


def test_joint_power_finds_the_topics_needed(four):
    found = sf.power(four, champion="old", system="a", test="maxt", simulations=200, resamples=200)
    plain = sf.power(four, champion="old", system="a", test="t", simulations=200)
    exact = plain.topics[plain.method.index("noncentral_t")]
    assert found.topics[0] == pytest.approx(exact, rel=0.35)
    assert found.power[0] >= 0.8
    hopeless = sf.power(
        {"old": four["old"], "same": four["old"]}, champion="old", test="geo_risk", simulations=100
    )
    assert hopeless.topics == (None,)
    assert "too small" in hopeless.note[0]
