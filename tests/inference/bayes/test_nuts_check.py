"""The cross-check by NUTS: against a stand-in everywhere, against nutpie where it is installed."""

import sys
import types
from dataclasses import replace

import numpy as np
import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import MissingExtraError, ModelError, UnreliableWarning
from surefoot.inference.bayes import engines
from surefoot.inference.bayes.coordinates import Coordinates, shrinkage_centring
from surefoot.inference.bayes.nuts_check import quantile_error
from surefoot.workflows.fit import fit


@pytest.fixture(scope="module")
def scores():
    rng = np.random.default_rng(3)
    values = 0.4 + 0.1 * rng.normal(size=(5, 1)) + 0.1 * rng.normal(size=8)
    values = values + 0.1 * rng.normal(size=(5, 8))
    return ScoreMatrix(tuple("abcde"), tuple(f"q{j}" for j in range(8)), values)


@pytest.fixture
def stand_in(monkeypatch):
    """A sampler that knows the answer: independent draws of the exact engine, as nutpie's trace.

    It calls the density and its gradient like nutpie does, and returns draws in its layout.
    """
    seen = {}

    def from_pyfunc(size, make_density, make_expand, dtypes, shapes, names):
        value, slope = make_density()(np.zeros(size))
        assert np.isfinite(value)
        assert slope.shape == (size,)
        seen["expanded"] = make_expand(1, 2, 0)(np.arange(float(size)))
        return size

    def sample(model, *, draws, tune, chains, cores, seed, save_warmup, progress_bar):
        q = seen["q"][: chains * draws].reshape(chains, draws, model)
        return types.SimpleNamespace(posterior={"q": types.SimpleNamespace(values=q)})

    package = types.ModuleType("nutpie")
    package.sample = sample
    inner = types.ModuleType("nutpie.compiled_pyfunc")
    inner.from_pyfunc = from_pyfunc
    monkeypatch.setitem(sys.modules, "nutpie", package)
    monkeypatch.setitem(sys.modules, "nutpie.compiled_pyfunc", inner)
    # what NUTS would draw: another seed of the exact engine, in NUTS' coordinates
    real = engines.draw_posterior

    def draw(problem, matrix, n, **options):
        out = real(problem, matrix, n, **options)
        other = real(problem, matrix, 4000, **(options | {"seed": 99}))
        seen["q"] = Coordinates(problem, shrinkage_centring(out.draws)).from_draws(other.draws)
        return replace(out, **seen.get("spoil", {}))

    monkeypatch.setattr("surefoot.workflows.fit.draw_posterior", draw)
    return seen


def test_agreement_is_reported(scores, stand_in, recwarn):
    posterior = fit(scores, family="gaussian", draws=4000, check="nuts", criteria=False)
    found = posterior.settings["check"]
    assert 0 < found["mean"] < 0.1
    assert found["noise"] == pytest.approx(np.sqrt(2 / 4000), rel=0.3)
    # ends of 95 % intervals of normal draws: sqrt(.025 .975) / phi(1.96) = 2.67 times as large
    assert 1.0 * found["noise"] < found["quantile_noise"] < 4.5 * found["noise"]
    assert f"sampling noise {found['quantile_noise']:.3f})" in posterior.headline[-1]
    assert found["rhat"] < 1.01
    assert found["mean_parameter"] in posterior.summary["parameter"]
    assert posterior.headline[-1].startswith("NUTS differs by at most 0.0")
    assert not recwarn
    np.testing.assert_array_equal(stand_in["expanded"]["q"], np.arange(float(3 + 1 + 4 + 7)))


@pytest.mark.parametrize(("p", "sd"), [(0.025, 2.671), (0.5, 1.2533), (0.975, 2.671)])
def test_the_error_of_a_quantile_is_that_of_normal_draws(p, sd):
    # sqrt(p (1 - p)) / phi(z_p), the textbook's asymptotic standard error times sqrt(n)
    draws = np.random.default_rng(4).normal(size=400_000)
    assert quantile_error(draws, p, 100.0) == pytest.approx(sd / 10, rel=0.04)


def test_disagreement_is_a_warning(scores, stand_in):
    wrong = fit(scores, family="gaussian", draws=4000, seed=1, criteria=False)
    draws = {name: values + 0.3 * values.std() for name, values in wrong.draws.items()}
    stand_in["spoil"] = {"draws": draws}
    with pytest.warns(UnreliableWarning, match="NUTS differs by at most"):
        posterior = fit(scores, family="gaussian", draws=4000, check="nuts", criteria=False)
    assert "Do not trust these draws" in posterior.headline[0]


def test_nutpie_agrees(scores):
    posterior = fit(scores, family="gaussian", check="nuts", criteria=False)
    assert posterior.settings["check"]["mean"] < 0.15


def test_a_missing_sampler_is_named_before_the_fit(scores, monkeypatch):
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(MissingExtraError, match=r"needs nutpie.*surefoot\[bayes-check\]"):
        fit(scores, family="gaussian", check="nuts")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"check": "jags"}, "Hint: nuts"), ({"check": "nuts", "engine": "prior"}, "need no check")],
)
def test_what_cannot_be_checked_is_said(scores, options, message):
    with pytest.raises(ModelError, match=message):
        fit(scores, **options)
