import warnings

import numpy as np
import pytest
from tests.inference.bayes.test_engines import assert_same, beta_scores, quick, with_holes

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import ModelError
from surefoot.inference.bayes.coordinates import Coordinates
from surefoot.inference.bayes.families import pose
from surefoot.inference.bayes.links import Link
from surefoot.inference.bayes.paired import sample_paired
from surefoot.inference.bayes.priors import Prior, choose_priors, parse_prior

LINKS = [Link(), Link(low=1.0), Link(low=-np.inf), Link(low=0.2, high=0.5)]


@pytest.mark.parametrize("link", LINKS)
def test_links_and_their_derivatives(link):
    u = np.linspace(-4, 4, 9)
    np.testing.assert_allclose(link.inverse(link.value(u)), u, atol=1e-9)
    step = 1e-5
    slope = (link.value(u + step) - link.value(u - step)) / (2 * step)
    np.testing.assert_allclose(link.slope(u), slope, rtol=1e-7)
    np.testing.assert_allclose(np.exp(link.log_slope(u)), slope, rtol=1e-7)
    score = (link.log_slope(u + step) - link.log_slope(u - step)) / (2 * step)
    np.testing.assert_allclose(link.score(u), score, atol=1e-7)
    far = link.value(np.array([-1e9, 1e9]) if link.kind != "identity" else u)
    assert np.isfinite(far).all()


def test_the_support_of_a_uniform_prior_decides():
    assert Link.of("sigma", Prior("uniform", (0.1, 2.0))) == Link(0.1, 2.0)
    assert Link.of("nu", Prior("uniform", (0.0, 5.0))) == Link(1.0, 5.0)
    assert Link.of("lambda", Prior("normal", (0.0, 4.0))).kind == "identity"
    with pytest.raises(ModelError, match=r"prior 'nu=uniform\(0, 0.5\)': nu is above 1"):
        Link.of("nu", Prior("uniform", (0.0, 0.5)))


@pytest.mark.parametrize("family", ["gaussian", "student", "skew_normal", "zoib"])
def test_gradient_in_intervals_matches_differences(family):
    values = with_holes(beta_scores(4, 5))
    own = {"sd_system": "uniform(0, 0.4)", "sd_topic": "uniform(0.1, 3)"}
    own |= {"zoib": {"phi": "uniform(0.5, 60)"}}.get(family, {"sigma": "uniform(0.01, 0.9)"})
    scores = ScoreMatrix(tuple("abcd"), tuple("vwxyz"), values)
    space = Coordinates(pose(family, scores, choose_priors(family, values, own)), (0.7, 0.2), 1)
    q = np.random.default_rng(1).normal(0, 0.4, (1, space.size))
    value, slope = space.log_density(q)
    for c in range(space.size):
        step = np.zeros(space.size)
        step[c] = 1e-5
        up, down = (space.log_density(q + s)[0][0] for s in (step, -step))
        assert slope[0, c] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-4)
    assert np.isfinite(value).all()


@pytest.mark.parametrize(
    ("family", "priors"),
    [
        ("gaussian", {"sd_topic": "uniform(0, 0.05)"}),
        ("gaussian", {"sigma": "uniform(5, 9)"}),
        ("student", {"nu": "uniform(0, 4)", "sd_system": "uniform(0, 0.1)"}),
        ("skew_normal", {"sigma": "uniform(0.3, 0.4)"}),
        ("zoib", {"sd_system": "uniform(0, 0.2)"}),
        ("zoib", {"sd_system": "uniform(0.5, 3)"}),
        ("zoib", {"phi": "uniform(0.1, 0.2)"}),
    ],
)
def test_draws_stay_in_the_support_wherever_it_lies(family, priors):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        posterior = quick(beta_scores(6, 12), family, priors=priors, draws=4000)
    for name, text in priors.items():
        low, high = parse_prior(f"{name}={text}")[1].numbers
        assert low < posterior.draws[name].min() < posterior.draws[name].max() < high


@pytest.mark.parametrize("family", ["gaussian", "zoib"])
def test_engines_agree_inside_an_interval(family):
    values = beta_scores(6, 12)
    own = {"sd_system": "uniform(0, 0.2)", "sd_topic": "uniform(0, 1)"}
    one = quick(values, family, priors=own, draws=20_000)
    assert "HMC" not in one.method
    two = quick(values, family, priors=own, engine="hmc", draws=20_000)
    assert max(two.rhat.values()) < 1.05
    assert_same(one, two)


def test_an_upper_end_far_away_changes_nothing():
    values = beta_scores(8, 10)
    half = {"sigma": "half_normal(1000)"}
    one = quick(values, "gaussian", priors=half, draws=40_000)
    two = quick(values, "gaussian", priors={"sigma": "uniform(0, 100)"}, draws=40_000)
    assert_same(one, two)


@pytest.mark.parametrize("model", ["gaussian", "skew_normal"])
def test_a_pair_has_intervals_too(model):
    rng = np.random.default_rng(2)
    champion, challenger = rng.random((2, 30))
    found = sample_paired(
        model, champion, challenger, priors={"sigma": "uniform(5, 9)"}, rng=rng, n_draws=2000
    )
    assert 5 < found.draws["sigma"].min() < found.draws["sigma"].max() < 9


def test_a_prior_without_mass_where_it_may_be_is_refused():
    with pytest.raises(ModelError, match=r"nu is above 1"):
        quick(beta_scores(4, 5), "student", engine="prior", priors={"nu": "uniform(0, 0.5)"})
    with pytest.raises(ModelError, match=r"nu is above 1, where it has no mass"):
        quick(beta_scores(4, 5), "student", engine="prior", priors={"nu": "exponential(900)"})
