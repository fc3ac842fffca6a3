import numpy as np
import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.inference.bayes.criteria import criteria, difference, loo, waic
from surefoot.inference.bayes.likelihood import log_likelihood_chunks, posterior_criteria
from surefoot.inference.bayes.psis import psis_smooth
from surefoot.results.posterior import RankGains
from surefoot.workflows.fit import fit


def normal_log_likelihood(n=40, draws=6_000, seed=1, shift=0.0):
    """Known-variance normal mean: everything about it has a closed form."""
    rng = np.random.default_rng(seed)
    y = np.random.default_rng(99).normal(0.3, 1, n)
    mu = rng.normal(y.mean() + shift, 1 / np.sqrt(n), draws)
    return y, -0.5 * (y - mu[:, None]) ** 2 - 0.5 * np.log(2 * np.pi)


def test_waic_and_loo_meet_the_exact_leave_one_out_density():
    y, ll = normal_log_likelihood(draws=20_000)
    n = len(y)
    rest = (y.sum() - y) / (n - 1)
    exact = -0.5 * (y - rest) ** 2 / (1 + 1 / (n - 1)) - 0.5 * np.log(2 * np.pi * (1 + 1 / (n - 1)))
    w, el = criteria([ll], n_draws=len(ll))
    np.testing.assert_allclose(el.pointwise, exact, atol=0.01)
    assert el.value == pytest.approx(-2 * exact.sum(), abs=0.1)
    assert w.value == pytest.approx(el.value, abs=0.3)
    assert el.effective_parameters == pytest.approx(y.var(), abs=0.05)
    assert w.effective_parameters == pytest.approx(y.var(), abs=0.05)
    assert el.khat.max() < 0.5
    assert el.unreliable == 0


def test_loo_equals_psis_smooth_on_each_observation():
    _, ll = normal_log_likelihood(n=8, draws=2_000)
    got = loo([ll], n_draws=2_000)
    for i in range(8):
        log_w, khat = psis_smooth(-ll[:, i])
        assert got.pointwise[i] == pytest.approx(np.log((np.exp(log_w + ll[:, i])).sum()), abs=1e-9)
        assert got.khat[i] == pytest.approx(khat, abs=1e-9)


@pytest.mark.parametrize("sizes", [[2_000], [1, 1_999], [700, 700, 600], [1] * 10 + [1_990]])
def test_chunking_does_not_change_the_answer(sizes):
    _, ll = normal_log_likelihood(n=5, draws=2_000)
    whole = criteria([ll], n_draws=2_000)
    parts = criteria(np.split(ll, np.cumsum(sizes)[:-1]), n_draws=2_000)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a.pointwise, b.pointwise, rtol=1e-11)
        assert a.se == pytest.approx(b.se)


def test_difference_is_paired():
    _, good = normal_log_likelihood()
    _, bad = normal_log_likelihood(shift=1.0)
    d = difference(waic([good]), waic([bad]))
    assert d.difference < -10
    assert d.se < waic([bad]).se
    same = difference(waic([good]), waic([good]))
    assert same.difference == 0
    assert same.se == 0


def test_resampled_draws_with_many_ties_are_handled():
    _, ll = normal_log_likelihood(n=6, draws=500)
    again = ll[np.random.default_rng(0).integers(0, 500, 4_000)]
    got = loo([again], n_draws=4_000)
    assert np.isfinite(got.khat).all()
    np.testing.assert_allclose(got.pointwise, loo([ll], n_draws=500).pointwise, atol=0.05)


def test_wrong_counts_are_named():
    _, ll = normal_log_likelihood(n=3, draws=100)
    with pytest.raises(ValueError, match="held 100 draws"):
        loo([ll], n_draws=200)
    with pytest.raises(ValueError, match="at least 2"):
        waic([ll[:1]])


@pytest.mark.parametrize("family", ["zoib", "student", "zoib_rank"])
def test_criteria_by_blocks_of_observations_are_those_of_all(family, monkeypatch):
    if family == "zoib_rank":
        rng = np.random.default_rng(1)
        index = np.indices((4, 6, 3)).reshape(3, -1)
        gain = np.where(rng.random(72) < 0.2, 0.0, rng.beta(2, 3, 72))
        scores = RankGains(tuple("abcd"), tuple("uvwxyz"), index[0], index[1], index[2] + 1.0, gain)
    else:
        values = np.clip(np.random.default_rng(2).beta(2, 3, (5, 9)), 0, 0.9)
        values[0, :3], values[2, 4], values[3, 1] = 0.0, 1.0, np.nan
        scores = ScoreMatrix(tuple("abcde"), tuple(f"t{j}" for j in range(9)), values)
    posterior = fit(scores, family=family, draws=900, criteria=False)
    whole = criteria(log_likelihood_chunks(posterior, draws=800), n_draws=800)
    monkeypatch.setattr("surefoot.inference.bayes.likelihood.BLOCK", 7)
    monkeypatch.setattr("surefoot.inference.bayes.likelihood.MOST_DRAWS", 800)
    for one, two in zip(whole, posterior_criteria(posterior), strict=True):
        assert two.name == one.name
        assert two.value == pytest.approx(one.value, rel=1e-12)
        assert two.se == pytest.approx(one.se, rel=1e-12)
        assert two.effective_parameters == pytest.approx(one.effective_parameters, rel=1e-9)
        np.testing.assert_allclose(two.pointwise, one.pointwise, rtol=1e-12)
        if one.khat is not None:
            np.testing.assert_allclose(two.khat, one.khat, rtol=1e-9)
