import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InputError


def matrix(n_topics=40, shift=0.06):
    rng = np.random.default_rng(0)
    old = rng.beta(2, 3, size=n_topics)
    new = np.clip(old + rng.normal(shift, 0.12, size=n_topics), 0, 1)
    return sf.ScoreMatrix(
        ("old", "new", "twin"),
        tuple(f"q{j}" for j in range(n_topics)),
        np.array([old, new, old]),
    )


def test_formulas_need_no_scores():
    result = sf.power(effect=0.5)
    assert result.method == ("webber", "nagata", "noncentral_t")
    assert result.topics == (32, 34, 34)
    assert sf.power(delta=0.05, sd=0.1).topics == result.topics
    assert "34 topics are needed" in result.headline[0]


def test_power_at_given_numbers_of_topics():
    result = sf.power(effect=0.5, topics=[20, 34])
    assert result.topics == (20, 34) * 3
    assert result.power[-1] == pytest.approx(0.8078, abs=1e-4)


def test_simulation_is_near_the_formula_for_the_t_test():
    result = sf.power(matrix(), champion="old", system="new")
    assert result.method == ("webber", "nagata", "noncentral_t", "simulation")
    exact, simulated = result.topics[2:]
    assert abs(simulated - exact) <= max(3, 0.2 * exact)
    assert result.power[3] >= 0.8
    assert 0 < result.power_error[3] < 0.02


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "randomization", "bca"])
def test_any_test_is_simulated(test):
    result = sf.power(
        matrix(), champion="old", system="new", test=test, simulations=400, resamples=300
    )
    assert result.method == ("simulation",)
    assert 10 < result.topics[0] < 120


def test_losses_that_count_more_need_other_numbers_of_topics():
    plain = sf.power(matrix(), champion="old", system="new")
    risk = sf.power(matrix(), champion="old", system="new", test="t_risk")
    assert risk.alpha == 1
    assert risk.topics[-1] > plain.topics[-1]


def test_no_number_of_topics_finds_nothing():
    result = sf.power(matrix(), champion="old", system="twin")
    assert result.topics == (None,)
    assert "same on every topic" in result.note[0]


def test_more_comparisons_need_more_topics():
    assert sf.power(effect=0.5, comparisons=10).topics[2] > 34


def test_same_seed_same_answer():
    kwargs = {"champion": "old", "system": "new", "topics": [30], "seed": 3}
    assert sf.power(matrix(), **kwargs).power[-1] == sf.power(matrix(), **kwargs).power[-1]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({}, "or an effect"),
        ({"effect": 0.5, "delta": 1.0}, "not both"),
        ({"delta": 0.5, "sd": 0.0}, "above zero"),
        ({"effect": 0.5, "test": "wilcoxon"}, "no formula"),
        ({"effect": 0.5, "test": "magic"}, "unknown test"),
        ({"effect": 0.5, "topics": 1.5}, "integer"),
        ({"effect": 0.0}, "other than zero"),
        ({"effect": 0.5, "comparisons": 0}, "at least 1"),
        ({"scores": matrix()}, "champion"),
        ({"scores": matrix(), "champion": "old", "effect": 1.0}, "have their own"),
        ({"scores": matrix(), "champion": "mean"}, "a system of the table"),
    ],
)
def test_bad_options_are_one_line(kwargs, message):
    with pytest.raises(sf.SurefootError, match=message):
        sf.power(**kwargs)


@pytest.mark.parametrize(
    ("name", "alpha"), [("t_risk", 1), ("u_risk", 1), ("t_gain", 0), ("u_gain", 0)]
)
def test_overlays_with_a_t_distribution_are_that_test(name, alpha):
    table = scores_of_overlays()
    options = {"champion": "old", "topics": 40, "simulations": 100}
    by_name = sf.power(table, test=name, **options)
    by_test = sf.power(table, test="t", alpha=alpha, **options)
    assert by_name.power.tolist() == by_test.power.tolist()


def test_a_gain_takes_no_alpha():
    with pytest.raises(InputError, match="counts losses as they are"):
        sf.power(scores_of_overlays(), champion="old", test="u_gain", alpha=1)


def scores_of_overlays():
    rng = np.random.default_rng(3)
    old = rng.random(30)
    new = np.clip(old + rng.normal(0.05, 0.1, 30), 0, 1)
    return {
        n: {f"q{j}": float(v) for j, v in enumerate(x)} for n, x in (("old", old), ("new", new))
    }
