import numpy as np
import pytest

from surefoot.inference.bayes.psis import fit_generalized_pareto, psis_smooth, tail_length


def pareto(rng, k, size):
    return np.expm1(-k * np.log(rng.random(size))) / k


@pytest.mark.parametrize("k", [-0.3, 0.2, 0.5, 0.9])
def test_fit_recovers_shape_and_scale(k):
    x = np.sort(2.5 * pareto(np.random.default_rng(1), k, 20_000))
    shape, scale = fit_generalized_pareto(x)
    assert shape == pytest.approx(k, abs=0.03)
    assert scale == pytest.approx(2.5, rel=0.04)


def test_fit_in_batches_equals_one_by_one():
    x = np.sort(pareto(np.random.default_rng(2), 0.4, (7, 300)), axis=-1)
    shape, scale = fit_generalized_pareto(x)
    singly = [fit_generalized_pareto(row) for row in x]
    np.testing.assert_allclose(shape, [s for s, _ in singly], rtol=1e-13)
    np.testing.assert_allclose(scale, [s for _, s in singly], rtol=1e-13)


@pytest.mark.parametrize(("sd", "low", "high"), [(1.05, -10, 0.2), (0.8, 0.2, 0.65)])
def test_khat_tells_wide_from_narrow_proposals(sd, low, high):
    # target N(0, 1), proposal N(0, sd): the true tail index is 1 - sd^2 for sd < 1
    x = np.random.default_rng(3).normal(0, sd, 40_000)
    _, khat = psis_smooth(-0.5 * x**2 + 0.5 * (x / sd) ** 2)
    assert low < khat < high


def test_a_hopeless_proposal_is_named():
    x = np.random.default_rng(4).normal(0, 0.3, 20_000)
    _, khat = psis_smooth(-0.5 * x**2 + 0.5 * (x / 0.3) ** 2)
    assert khat > 0.7


def test_weights_are_normalised_keep_their_order_and_do_not_exceed_the_largest():
    raw = np.random.default_rng(5).standard_t(3, 5_000)
    smoothed, _ = psis_smooth(raw)
    assert np.exp(smoothed).sum() == pytest.approx(1.0)
    assert (np.diff(smoothed[np.argsort(raw)]) >= -1e-12).all()
    body = np.argsort(raw)[: -tail_length(5_000)]
    shift = smoothed[body] - raw[body]
    np.testing.assert_allclose(shift, shift[0], rtol=0, atol=1e-10)
    assert smoothed.max() - shift[0] <= raw.max() + 1e-10


def test_smoothing_improves_a_heavy_tailed_mean():
    rng = np.random.default_rng(6)
    plain, smooth = [], []
    for _ in range(200):
        x = rng.normal(0, 0.75, 1_000)
        log_w = -0.5 * x**2 + 0.5 * (x / 0.75) ** 2
        w = np.exp(log_w)
        plain.append((w * x**2).sum() / w.sum())
        smooth.append((np.exp(psis_smooth(log_w)[0]) * x**2).sum())
    assert np.mean((np.array(smooth) - 1) ** 2) < np.mean((np.array(plain) - 1) ** 2)


@pytest.mark.parametrize("size", [1, 3, 10, 20])
def test_too_few_draws_cannot_be_judged(size):
    smoothed, khat = psis_smooth(np.linspace(0, 1, size))
    assert khat == np.inf
    assert np.exp(smoothed).sum() == pytest.approx(1.0)


def test_equal_weights_stay_equal():
    smoothed, khat = psis_smooth(np.zeros(1_000))
    assert khat == -np.inf
    np.testing.assert_allclose(np.exp(smoothed), 1e-3)


def test_zero_weights_are_allowed():
    raw = np.random.default_rng(7).normal(size=4_000)
    raw[:3_900] = -np.inf
    smoothed, khat = psis_smooth(raw)
    assert np.isfinite(khat)
    assert np.exp(smoothed).sum() == pytest.approx(1.0)
    with pytest.raises(ValueError, match="finite maximum"):
        psis_smooth(np.full(10, -np.inf))
