"""Engines agree with each other, and every way in which one breaks shows."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import ModelError, UnreliableWarning
from surefoot.inference.bayes import engines, hmc, laplace_is
from surefoot.results.posterior import RankGains
from surefoot.workflows.fit import fit


def matrix(values):
    names = (tuple(f"{k}{i}" for i in range(n)) for k, n in zip("st", values.shape, strict=True))
    return ScoreMatrix(*names, values)


def beta_scores(n_systems, n_topics, *, phi=3.0, level=0.0, sd=(0.5, 0.8), seed=0):
    rng = np.random.default_rng(seed)
    eta = level + sd[0] * rng.normal(size=(n_systems, 1)) + sd[1] * rng.normal(size=n_topics)
    mu = 1 / (1 + np.exp(-eta))
    return np.clip(rng.beta(mu * phi, (1 - mu) * phi), 1e-5, 1 - 1e-5)


def with_holes(values, share=0.3, seed=1):
    out = values.copy()
    out[np.random.default_rng(seed).random(values.shape) < share] = np.nan
    return out


def quick(values, family, **options):
    return fit(matrix(values), family=family, **({"draws": 4000, "criteria": False} | options))


def assert_same(one, two, *, means=0.15, quantiles=0.4):
    rows = {row["parameter"]: row for row in two.rows()}
    for row in one.rows():
        other = rows[row["parameter"]]
        if row["parameter"] == "nu":
            continue  # its tail is long: compared through its logarithm elsewhere
        sd = max(row["sd"], other["sd"])
        assert abs(row["mean"] - other["mean"]) < means * sd, row["parameter"]
        for name in ("q2.5", "q50", "q97.5"):
            assert abs(row[name] - other[name]) < quantiles * sd, (row["parameter"], name)


@pytest.mark.parametrize(
    ("family", "engine", "values"),
    [
        ("gaussian", "exact", beta_scores(12, 9)),
        ("gaussian", "exact", with_holes(beta_scores(9, 12))),
        ("gaussian", "laplace", with_holes(beta_scores(12, 9))),
        ("student", "laplace", beta_scores(12, 9)),
        ("zoib", "laplace", with_holes(beta_scores(12, 9))),
    ],
)
def test_importance_sampling_agrees_with_chains(family, engine, values):
    one = quick(values, family, engine=engine)
    two = quick(values, family, engine="hmc", draws=16_000)
    assert max(two.rhat.values()) < 1.05
    assert_same(one, two)


HARD = {
    "two systems": beta_scores(2, 50),
    "two by two": beta_scores(2, 2),
    "ten systems": beta_scores(10, 5),
    "one topic": beta_scores(10, 1),
    "one system": beta_scores(1, 12),
    "hugging zero": beta_scores(20, 30, phi=1.0, level=-3.0, sd=(0.5, 2.0)),
    "hugging one": beta_scores(20, 30, phi=1.0, level=3.0, sd=(0.5, 2.0)),
    "large topic sd": beta_scores(20, 30, phi=1.2, sd=(1.0, 4.0)),
    "equal systems": np.repeat(beta_scores(1, 30), 8, axis=0),
    "all-zero topic": np.hstack([beta_scores(10, 20), np.zeros((10, 1))]),
    "missing cells": with_holes(beta_scores(10, 20)),
    "an empty topic": np.hstack([beta_scores(6, 10), np.full((6, 1), np.nan)]),
    "constant scores": np.full((4, 6), 0.4),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_tables_fit_or_say_so(case, recwarn):
    posterior = quick(HARD[case], "zoib", draws=2000)
    assert all(np.isfinite(v).all() for v in posterior.draws.values())
    if posterior.method == laplace_is.METHOD:
        assert posterior.khat <= 0.7
        assert posterior.efficiency >= 0.2
        assert list(posterior.warnings) == posterior.settings["notes"]
    else:
        assert posterior.method.startswith("batched HMC (fallback: ")
    assert len(recwarn) == len(posterior.warnings)


def test_a_system_that_crashed_hands_over_to_chains():
    # most scores of the first of three systems round to 0, so few draws of its effect fit
    rng = np.random.default_rng(0)
    eta = np.array([[-8.0], [-1.0], [-1.0]]) + 0.3 * rng.normal(size=(3, 1)) + rng.normal(size=50)
    mu = 1 / (1 + np.exp(-eta))
    values = np.round(rng.beta(10 * mu, 10 * (1 - mu)), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        doubtful = quick(values, "zoib", engine="laplace", draws=40_000)
        posterior = quick(values, "zoib")
    assert re.search(r"only .*% of the weighted draws are effective", doubtful.warnings[-1])
    assert "Do not trust these draws" in doubtful.headline[0]
    assert posterior.method.startswith("batched HMC (fallback: only ")
    gathered = "scores of exactly 0 gather on system 's0' (47 of its 50), but"
    assert [said.split(" this")[0] for said in posterior.warnings] == [gathered]
    assert "All diagnostics are good. Mind that scores of exactly 0" in posterior.headline[0]
    assert max(posterior.rhat.values()) < 1.05
    assert_same(doubtful, posterior)


def test_failed_diagnostics_hand_over_to_chains(monkeypatch):
    real = laplace_is.finish_weighted

    def doubtful(*arguments):
        return replace(real(*arguments), khat=0.9, warnings=("k-hat is 0.90",))

    values = beta_scores(6, 8)
    good = quick(values, "zoib")
    monkeypatch.setattr(laplace_is, "finish_weighted", doubtful)
    posterior = quick(values, "zoib")
    assert posterior.method == "batched HMC (fallback: k-hat is 0.90)"
    assert np.isnan(posterior.khat)
    assert_same(good, posterior)


def test_failed_laplace_hands_over_to_chains(monkeypatch):
    def fail(*arguments, **options):
        raise laplace_is.ApproximationError("Laplace failed")

    values = beta_scores(6, 8)
    good = quick(values, "zoib")
    monkeypatch.setattr(engines, "sample_laplace", fail)
    posterior = quick(values, "zoib")
    assert posterior.method == "batched HMC (fallback: Laplace failed)"
    assert_same(good, posterior)


def test_skew_normal_recovers_a_skewed_error():
    rng = np.random.default_rng(8)
    delta = 0.95
    noise = delta * np.abs(rng.normal(size=(15, 25))) + np.sqrt(1 - delta**2) * rng.normal(
        size=(15, 25)
    )
    values = 0.3 + 0.1 * noise + 0.05 * rng.normal(size=(15, 1)) + 0.05 * rng.normal(size=25)
    posterior = quick(values, "skew_normal")
    assert posterior.method == laplace_is.METHOD
    low, high = np.quantile(posterior.draws["lambda"], (0.01, 0.99))
    assert low < delta / np.sqrt(1 - delta**2) < high


def skewed_scores(n_systems, n_topics, skew, seed=3):
    rng = np.random.default_rng(seed)
    delta = skew / np.hypot(1, skew)
    noise = delta * np.abs(rng.normal(size=(n_systems, n_topics)))
    noise += np.sqrt(1 - delta**2) * rng.normal(size=(n_systems, n_topics))
    eta = 0.4 + 0.1 * rng.normal(size=(n_systems, 1)) + 0.2 * rng.normal(size=n_topics)
    return eta + 0.15 * noise


@pytest.mark.parametrize(("shape", "skew"), [((20, 30), 2.0), ((12, 25), 0.0), ((15, 40), -1.5)])
def test_a_mild_skew_normal_needs_no_chains(shape, skew):
    values = skewed_scores(*shape, skew)
    one = quick(values, "skew_normal", draws=20_000)
    assert one.method == laplace_is.METHOD
    two = quick(values, "skew_normal", engine="hmc", draws=20_000)
    assert max(two.rhat.values()) < 1.05
    assert_same(one, two)


def test_both_signs_of_a_skewness_that_few_scores_leave_open_are_found():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        posterior = quick(skewed_scores(4, 6, 0.0), "skew_normal", engine="laplace", draws=10_000)
    assert 0.05 < (posterior.draws["lambda"] > 1).mean() < 0.95
    assert 0.05 < (posterior.draws["lambda"] < -1).mean() < 0.95


@pytest.mark.slow
def test_degenerate_skew_normal_is_said(covid_pooled):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fit(covid_pooled, family="skew_normal", draws=2000, criteria=False)
    assert any("pile up at an edge" in str(w.message) for w in said)
    assert all(w.category is UnreliableWarning for w in said)


@pytest.mark.parametrize("family", ["gaussian", "student", "skew_normal"])
def test_scores_without_noise_are_refused(family):
    with pytest.raises(ModelError, match="without any noise"):
        quick(HARD["equal systems"], family)
    with pytest.raises(ModelError, match="no spread"):
        quick(HARD["constant scores"], family)


def test_scale_of_scores_is_said():
    with pytest.warns(UnreliableWarning, match="scores go beyond 1"):
        posterior = quick(100 * beta_scores(8, 9), "gaussian")
    assert float(posterior.settings["priors"]["sigma"].split(",")[2].rstrip(")")) > 2.5


def test_scores_of_zero_and_one_alone_are_refused():
    with pytest.raises(ModelError, match="strictly between"):
        quick(np.array([[0.0, 1.0], [1.0, 0.0]]), "zoib")


@pytest.mark.parametrize(("case", "what"), [("one topic", "systems"), ("one system", "topics")])
@pytest.mark.parametrize("family", ["gaussian", "zoib"])
def test_a_spread_that_only_the_prior_decides_is_said(case, what, family):
    with pytest.warns(UnreliableWarning, match=f"differences between {what} cannot be told"):
        quick(HARD[case], family, draws=500)


def test_users_priors_of_another_scale_need_no_warning(recwarn):
    names = ("sigma", "sd_system", "sd_topic")
    own = {"b": "normal(50, 20)"} | dict.fromkeys(names, "half_t(3, 0, 25)")
    posterior = quick(100 * beta_scores(8, 9), "gaussian", priors=own)
    assert posterior.warnings == ()
    assert not recwarn


def test_good_chains_go_on_until_interval_ends_are_known(monkeypatch):
    values = beta_scores(4, 5)
    monkeypatch.setattr(hmc, "LEAST_LENGTH", 40)
    monkeypatch.setattr(hmc, "LEAST_EFFECTIVE", 10)
    monkeypatch.setattr(hmc, "MOST_RHAT", 2.0)
    short = quick(values, "gaussian", engine="hmc", draws=2500)
    monkeypatch.setattr(hmc, "ENOUGH_EFFECTIVE", 10)
    shorter = quick(values, "gaussian", engine="hmc", draws=2500)
    assert short.warnings == shorter.warnings == ()
    assert shorter.effective_draws < 500
    assert short.effective_draws > 1.5 * shorter.effective_draws


def test_chains_that_fail_go_on_for_longer(monkeypatch):
    values = beta_scores(4, 5)
    lengths = []
    real = hmc._run

    def noted(state, step, length, *rest):
        lengths.append(length)
        return real(state, step, length, *rest)

    monkeypatch.setattr(hmc, "_run", noted)
    monkeypatch.setattr(hmc, "LEAST_LENGTH", 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        posterior = quick(values, "gaussian", engine="hmc", draws=500)
    assert lengths == [20, 60]
    assert any("independent draws" in said for said in posterior.warnings) or (
        min(posterior.ess.values()) >= 400
    )


PRIOR_OF = {
    "gaussian": {"b": "normal(0.4, 0.1)", "sigma": "half_normal(0.2)"},
    "student": {"b": "normal(0.4, 0.1)", "nu": "gamma(2, 0.5)"},
    "skew_normal": {"b": "normal(0.4, 0.1)", "lambda": "normal(0, 2)"},
    "zoib": {"b": "normal(0, 0.5)", "phi": "gamma(2, 0.5)", "zoi": "beta(2, 18)"},
}


@pytest.mark.parametrize("family", list(PRIOR_OF))
def test_prior_draws_follow_the_priors_and_not_the_scores(family):
    priors = PRIOR_OF[family] | {"sd_system": "exponential(4)", "sd_topic": "uniform(0, 1)"}
    values = beta_scores(4, 6)
    posterior = quick(values, family, engine="prior", priors=priors, draws=20_000)
    other = quick(values[::-1].copy(), family, engine="prior", priors=priors, draws=20_000)
    assert posterior.method == "prior draws"
    assert "The scores were not used" in posterior.headline[0]
    for name, draws in posterior.draws.items():
        np.testing.assert_array_equal(draws, other.draws[name])
    assert posterior.draws["sd_system"].mean() == pytest.approx(0.25, abs=0.01)
    assert posterior.draws["topic"].var() == pytest.approx(1 / 3, abs=0.02)
    if family == "student":
        assert posterior.draws["nu"].min() > 1
    if family == "zoib":
        assert posterior.draws["zoi"].mean() == pytest.approx(0.1, abs=0.005)


def test_a_flat_prior_cannot_be_drawn_from():
    gains = RankGains(
        ("a", "b"), ("x", "y"), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.arange(1.0, 5.0),
        np.array([0.2, 0.3, 0.1, 0.0]),
    )  # fmt: skip
    with pytest.raises(ModelError, match=r"prior of k is flat.*--prior 'k=normal\(0,1\)'"):
        fit(gains, family="zoib_rank", engine="prior", draws=100)


def test_engines_refuse_what_they_cannot_do():
    with pytest.raises(ModelError, match="engine exact"):
        quick(beta_scores(4, 5), "zoib", engine="exact")
    with pytest.raises(ModelError, match="unknown engine"):
        quick(beta_scores(4, 5), "zoib", engine="magic")
