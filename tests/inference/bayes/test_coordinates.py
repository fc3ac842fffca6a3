import numpy as np
import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.inference.bayes.coordinates import Coordinates, contrasts
from surefoot.inference.bayes.families import pose
from surefoot.inference.bayes.priors import choose_priors
from surefoot.results.posterior import RankGains


def problem_of(family, n_systems=5, n_topics=4, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.beta(2, 2, (n_systems, n_topics))
    values[1, 2] = np.nan
    names = tuple(f"s{i}" for i in range(n_systems)), tuple(f"t{j}" for j in range(n_topics))
    gains = None
    if family == "zoib_rank":
        i, j, r = (a.ravel() for a in np.indices((n_systems, n_topics, 3)))
        score = np.where(rng.random(i.size) < 0.2, 0.0, rng.beta(2, 6, i.size))
        gains = RankGains(*names, i, j, r + 1.0, score)
        scores = gains.means()
    else:
        scores = ScoreMatrix(*names, values)
    return pose(family, scores, choose_priors(family, scores.values), gains=gains)


FAMILIES = ["gaussian", "student", "skew_normal", "zoib", "zoib_rank"]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_contrasts_are_an_orthonormal_basis(n):
    basis = contrasts(n)
    np.testing.assert_allclose(basis.T @ basis, np.eye(n - 1), atol=1e-14)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-14)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("centring", [(1.0, 1.0), (0.0, 0.3)])
def test_gradient_matches_differences(family, centring):
    space = Coordinates(problem_of(family), centring)
    q = np.random.default_rng(1).normal(0, 0.4, (2, space.size))
    _, slope = space.log_density(q)
    for c in range(space.size):
        step = np.zeros(space.size)
        step[c] = 1e-5
        high, low = space.log_density(q + step)[0], space.log_density(q - step)[0]
        np.testing.assert_allclose(slope[:, c], (high - low) / 2e-5, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_draws_and_coordinates_are_inverse(family):
    space = Coordinates(problem_of(family), (0.4, 0.9))
    rng = np.random.default_rng(2)
    q = rng.normal(0, 0.4, (6, space.size))
    np.testing.assert_allclose(space.from_draws(space.to_draws(q, rng)), q, atol=1e-10)
