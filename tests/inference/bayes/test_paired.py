import numpy as np
import pytest
from scipy import special

from surefoot.errors import ModelError
from surefoot.inference.bayes.paired import (
    MODELS,
    risk_differences,
    sample_paired,
    unpooled_glass_delta,
)


def pair(n=50, seed=1, shift=0.05, correlation=0.7):
    rng = np.random.default_rng(seed)
    base = rng.normal(0.4, 0.15, n)
    other = 0.4 + shift + correlation * (base - 0.4) + rng.normal(0, 0.1, n)
    return base, other


def test_risk_differences_have_urisk_as_their_mean():
    champion, challenger = np.array([0.5, 0.2, np.nan, 0.4]), np.array([0.4, 0.4, 0.1, 0.4])
    np.testing.assert_allclose(risk_differences(champion, challenger, 3.0), [0.3, -0.2, 0.0])


def test_gaussian_agrees_with_the_t_posterior():
    # the priors are wide on this scale, so b is a t with n - 2 or so degrees of freedom
    base, other = pair()
    got = sample_paired("gaussian", base, other, n_draws=40_000, rng=np.random.default_rng(0))
    x = risk_differences(base, other, 1.0)
    n = len(x)
    assert got.draws["b"].mean() == pytest.approx(x.mean(), abs=2e-3)
    want = np.sqrt(((x - x.mean()) ** 2).sum() / (n - 4) / n)  # flat prior on sigma
    assert got.draws["b"].std() == pytest.approx(want, rel=0.02)
    assert got.khat < 0.5
    assert got.warnings == ()


def test_bivariate_agrees_with_its_closed_forms():
    base, other = pair()
    got = sample_paired("bivariate", base, other, n_draws=40_000, rng=np.random.default_rng(0))
    d = got.draws
    assert d["mu_challenger"].mean() == pytest.approx(other.mean(), abs=2e-3)
    assert d["mu_champion"].mean() == pytest.approx(base.mean(), abs=2e-3)
    assert d["rho"].mean() == pytest.approx(np.corrcoef(base, other)[0, 1], abs=0.03)
    assert d["sigma_champion"].mean() == pytest.approx(base.std(ddof=3), rel=0.03)
    assert got.mean_risk.mean() == pytest.approx((base - other).mean(), abs=2e-3)
    assert got.mean_risk.std() == pytest.approx((base - other).std(ddof=3) / 50**0.5, rel=0.05)


@pytest.mark.parametrize("model", MODELS)
def test_posteriors_agree_with_brute_force_on_a_grid(model):
    base, other = pair(n=20, seed=4)
    got = sample_paired(model, base, other, r=3.0, n_draws=40_000, rng=np.random.default_rng(2))
    x = risk_differences(base, other, 3.0)
    if model == "bivariate":
        # the mean of the risk-adjusted differences does not depend on the coordinates
        assert got.mean_risk.mean() == pytest.approx(x.mean(), abs=0.01)
        return
    b = np.linspace(x.mean() - 8 * x.std() / 20**0.5, x.mean() + 8 * x.std() / 20**0.5, 61)
    sigma = np.exp(np.linspace(np.log(x.std()) - 1, np.log(x.std()) + 1.6, 61))
    shape = np.array([0.0]) if model == "gaussian" else np.linspace(-25, 25, 81)
    grid = np.stack(np.meshgrid(b, sigma, shape, indexing="ij"), axis=-1).reshape(-1, 3)
    delta = grid[:, 2] / np.sqrt(1 + grid[:, 2] ** 2)
    omega = grid[:, 1] / np.sqrt(1 - 2 * delta**2 / np.pi)
    z = (x - (grid[:, 0] - omega * delta * np.sqrt(2 / np.pi))[:, None]) / omega[:, None]
    log_p = -0.5 * (z**2).sum(1) - 20 * np.log(omega) + np.log(grid[:, 1])
    log_p += special.log_ndtr(grid[:, 2, None] * z).sum(1) - 0.5 * (grid[:, 2] / 4) ** 2
    scale, middle = 2.5, round(float(np.median(x)), 1)
    log_p -= 2 * np.log1p(((grid[:, 0] - middle) / scale) ** 2 / 3)
    log_p -= 2 * np.log1p((grid[:, 1] / scale) ** 2 / 3)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    for column, name in enumerate(("b", "sigma", "lambda")[: 2 if model == "gaussian" else 3]):
        mean = p @ grid[:, column]
        sd = np.sqrt(p @ (grid[:, column] - mean) ** 2)
        assert got.draws[name].mean() == pytest.approx(mean, abs=0.06 * sd)
        assert got.draws[name].std() == pytest.approx(sd, rel=0.06)


def test_the_skewed_model_sees_skewed_risk():
    # thesis Sect. 4.1.3: the shape grows with r
    base, other = pair(shift=0.02)
    shapes = [
        sample_paired("skew_normal", base, other, r=r, rng=np.random.default_rng(0))
        .draws["lambda"]
        .mean()
        for r in (1.0, 5.0)
    ]
    assert shapes[1] > shapes[0] + 1


@pytest.mark.parametrize("model", MODELS)
def test_the_same_seed_gives_the_same_bytes_and_gaps_are_left_out(model):
    base, other = pair()
    base[3] = other[7] = np.nan
    keep = ~np.isnan(base) & ~np.isnan(other)
    one = sample_paired(model, base, other, rng=np.random.default_rng(1))
    two = sample_paired(model, base[keep], other[keep], rng=np.random.default_rng(1))
    for name in one.draws:
        assert one.draws[name].tobytes() == two.draws[name].tobytes()


@pytest.mark.parametrize("model", MODELS)
def test_what_cannot_be_modelled_is_named(model):
    base, other = pair(n=6)
    rng = np.random.default_rng(0)
    with pytest.raises(ModelError, match="at least 3 topics"):
        sample_paired(model, base[:2], other[:2], rng=rng)
    with pytest.raises(ModelError, match="all differences are equal"):
        sample_paired(model, base, base, rng=rng)
    if model == "bivariate":
        with pytest.raises(ModelError, match="same score on every topic"):
            sample_paired(model, np.full(6, 0.5), other, rng=rng)
        with pytest.raises(ModelError, match="multiples"):
            sample_paired(model, base, 2 * base, rng=rng)


def test_unpooled_effect_size():
    base, other = pair()
    want = (other.mean() - base.mean()) / base.std(ddof=1)
    assert unpooled_glass_delta(other, base) == pytest.approx(want, rel=0.05)
    assert np.isnan(unpooled_glass_delta(base, base))
