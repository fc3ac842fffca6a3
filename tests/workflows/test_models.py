"""Choosing between families."""

import numpy as np
import pytest
from scipy import stats

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError, ModelError
from surefoot.workflows.fit import fit
from surefoot.workflows.models import models


def table(values):
    n, m = values.shape
    return ScoreMatrix(tuple(f"s{i}" for i in range(n)), tuple(f"t{j}" for j in range(m)), values)


def effects(rng):
    return 0.5 + 0.05 * rng.normal(size=(8, 1)) + 0.1 * rng.normal(size=20)


def test_heavy_tails_choose_the_student(recwarn):
    rng = np.random.default_rng(2)
    values = effects(rng) + 0.02 * rng.standard_t(1.5, (8, 20))
    found = models(table(values), families=("gaussian", "student"), draws=4000)
    assert found.families == ("student", "gaussian")
    assert found.loo_difference[0] == 0
    assert found.loo_difference[1] == pytest.approx(found.loo[1] - found.loo[0])
    assert found.loo_difference[1] > 4 * found.loo_difference_se[1]
    assert "student predicts these scores best" in found.headline[0]
    assert len(found.headline) == 1


def test_normal_errors_are_a_tie():
    rng = np.random.default_rng(3)
    values = effects(rng) + 0.05 * rng.normal(size=(8, 20))
    found = models(table(values), families=("gaussian", "student"), draws=4000)
    assert abs(found.loo_difference[1]) < 8
    # the criterion of a normal model of known form, near its textbook value
    sd = found.loo[found.families.index("gaussian")]
    assert sd == pytest.approx(
        160 * -2 * stats.norm(0, 0.05).expect(lambda x: stats.norm(0, 0.05).logpdf(x), lb=-1, ub=1),
        rel=0.15,
    )


def test_fits_are_compared_as_they_are_and_must_be_of_one_table():
    rng = np.random.default_rng(4)
    values = np.clip(effects(rng), 0.01, 0.99)
    values = rng.beta(values * 5, (1 - values) * 5)
    values[0, 0] = 1.0
    one, two = (fit(table(values), family=f, draws=2000) for f in ("gaussian", "zoib"))
    found = models([one, two])
    assert set(found.families) == {"gaussian", "zoib"}
    best = one if found.families[0] == "gaussian" else two
    assert found.loo[0] == pytest.approx(best.settings["loo"])
    assert "1 score is exactly 0 or 1" in found.headline[1]
    other = fit(table(values[:4]), family="gaussian", draws=500)
    with pytest.raises(InputError, match="different tables"):
        models([one, other])


@pytest.mark.parametrize(
    ("families", "message"), [(("gaussian",), "at least two"), (("gaussian", "magic"), "unknown")]
)
def test_misuse_is_explained(families, message):
    with pytest.raises(InputError, match=message):
        models(table(np.arange(12.0).reshape(3, 4) ** 2), families=families)


def grid(kind):
    values = np.random.default_rng(6).random((5, 12))
    return {
        "0 or 1": (values > 0.5).astype(float),
        "0 to 100": 100 * values,
        "identical": np.tile(values[:1], (5, 1)),
        "constant": np.full((5, 12), 0.5),
    }[kind]


@pytest.mark.filterwarnings("ignore::surefoot.errors.UnreliableWarning")
@pytest.mark.parametrize(
    ("kind", "left", "reason"),
    [
        ("0 or 1", {"zoib"}, "no score lies strictly between 0 and 1"),
        ("0 to 100", {"zoib"}, "is not between 0 and 1"),
        ("identical", {"gaussian", "student"}, "without any noise"),
        ("constant", {"gaussian", "student"}, "no spread to model"),
    ],
)
def test_default_families_that_cannot_model_the_scores_are_left_out(kind, left, reason):
    found = models(table(grid(kind)), draws=500)
    assert set(found.settings["left_out"]) == left
    assert set(found.families) == {"gaussian", "student", "zoib"} - left
    said = [line for line in found.headline if line.startswith("Left out: ")]
    assert len(said) == 1
    assert reason in said[0]
    assert all(family in said[0] for family in left)
    with pytest.raises(ModelError, match=reason):
        models(table(grid(kind)), families=("gaussian", "student", "zoib"), draws=500)


def test_scores_that_no_default_family_can_model_are_an_error():
    with pytest.raises(ModelError, match=r"no default family can model these scores: all 60"):
        models(table(np.zeros((5, 12))), draws=500)


def test_priors_go_to_the_families_that_have_them():
    values = np.random.default_rng(7).random((5, 12))
    tight = models(table(values), draws=500, priors=["phi=gamma(1000,10)", "nu=gamma(200,10)"])
    usual = models(table(values), draws=500)
    moved = dict(zip(tight.families, tight.loo, strict=True))
    stayed = dict(zip(usual.families, usual.loo, strict=True))
    assert moved["gaussian"] == stayed["gaussian"]
    assert moved["zoib"] != stayed["zoib"]
    assert moved["student"] != stayed["student"]
    with pytest.raises(ModelError, match=r"none of the families .* has a parameter 'lambda'"):
        models(table(values), draws=500, priors=["lambda=normal(0,1)"])


def test_settings_say_how_each_was_fitted():
    values = np.random.default_rng(8).random((5, 12))
    settings = models(table(values), draws=500).settings
    assert settings["draws"] == 500
    assert [fit["family"] for fit in settings["fits"]] == settings["families"]
    assert {"method", "khat", "efficiency", "warnings"} <= set(settings["fits"][0])


def test_draws_from_the_prior_have_no_criteria():
    values = np.random.default_rng(9).random((5, 12))
    prior = fit(table(values), family="gaussian", engine="prior", draws=500)
    with pytest.raises(InputError, match="draws from the prior know no scores"):
        models([prior, prior])
    with pytest.raises(InputError, match="draws would need new fits"):
        models([fit(table(values), draws=500)] * 2, draws=900)
