"""Choosing between families."""

import numpy as np
import pytest
from scipy import stats

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
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
    assert "1 scores are exactly 0 or 1" in found.headline[1]
    other = fit(table(values[:4]), family="gaussian", draws=500)
    with pytest.raises(InputError, match="different tables"):
        models([one, other])


@pytest.mark.parametrize(
    ("families", "message"), [(("gaussian",), "at least two"), (("gaussian", "magic"), "unknown")]
)
def test_misuse_is_explained(families, message):
    with pytest.raises(InputError, match=message):
        models(table(np.arange(12.0).reshape(3, 4) ** 2), families=families)
