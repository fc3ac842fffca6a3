import numpy as np
import pytest
from scipy import special

from surefoot import _kernels
from surefoot.kernels.random import philox_block
from surefoot.kernels.reference import replicate as reference
from surefoot.kernels.replicate import FAMILIES, replicate_scores, replicate_sums

PARAMETERS = {
    "gaussian": [0.3],
    "student": [0.3, 3.5],
    "skew_normal": [0.3, -4.0],
    "zoib": [1.5, 0.06, 0.3],
}


def posterior(family, draws=40, systems=5, topics=7, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(0.3, 0.5, (draws, systems)),
        rng.normal(0, 0.6, (draws, topics)),
        np.tile(PARAMETERS[family], (draws, 1)),
    )


def beta_draws(a, b, n, seed=1):
    """n beta(a, b) replicates, as one system on one topic under the inflated beta."""
    phi = a + b
    system = np.full((n, 1), np.log(a / b))
    parameters = np.tile([phi, 0.0, 0.0], (n, 1))
    return replicate_scores(
        "zoib", system, np.zeros((n, 1)), parameters, np.array([0]), seed=seed
    ).ravel()


def kolmogorov(uniforms):
    """Largest distance to the uniform distribution, times sqrt(n); 1.95 is the 0.1% point."""
    u = np.sort(uniforms)
    n = len(u)
    grid = np.arange(n)
    return np.sqrt(n) * max((u - grid / n).max(), ((grid + 1) / n - u).max())


def test_reference_words_are_philox():
    words = reference.philox([5, 9], 3, 2**40 + 7, 12345)
    for row, cell in zip(words, [5, 9], strict=True):
        assert row.tolist() == philox_block(12345, 2**40 + 7, cell + (3 << 32)).tolist()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [0, 2**63 + 12345])
def test_kernel_equals_the_reference(family, seed):
    system, topic, parameters = posterior(family)
    selected = np.array([3, 0, 4])
    args = (family, system, topic, parameters, selected)
    got = replicate_scores(*args, seed=seed, first_draw=17)
    want = reference.replicate_scores(*args, seed=seed, first_draw=17)
    # single precision may decide a borderline rejection otherwise: at most a handful of cells
    close = np.isclose(got, want, rtol=2e-4, atol=2e-5)
    assert close.mean() > 0.998


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1.0, 1.0), (0.7, 0.6), (0.05, 0.08), (2.5, 0.4), (0.3, 9.0), (30.0, 12.0),
        (400.0, 900.0), (1e-3, 1.0), (5e4, 5e4),
    ],
)  # fmt: skip
def test_beta_variates_follow_the_distribution(a, b):
    x = beta_draws(a, b, 40_000).astype(np.float64)
    assert np.isfinite(x).all()
    assert ((x >= 0) & (x <= 1)).all()
    inside = (x > 0) & (x < 1)  # tiny shapes underflow in single precision, as they may
    u = special.betainc(a, b, x)
    assert u.mean() == pytest.approx(0.5, abs=0.012) or not inside.all()
    if inside.all():
        # a jitter below single precision keeps rounded values from looking discrete
        assert kolmogorov(u) < 1.95
    assert x.mean() == pytest.approx(a / (a + b), abs=5 * np.sqrt(0.25 / 40_000))


@pytest.mark.parametrize("phi", [1e-20, 1e-12, 1e-4, 1e8])
@pytest.mark.parametrize("eta", [-60.0, -5.0, 0.0, 60.0])
def test_extreme_shapes_neither_fail_nor_leave_the_interval(phi, eta):
    n = 2_000
    x = replicate_scores(
        "zoib",
        np.full((n, 1), eta),
        np.zeros((n, 1)),
        np.tile([phi, 0.0, 0.0], (n, 1)),
        np.array([0]),
        seed=3,
    )
    assert np.isfinite(x).all()
    assert ((x >= 0) & (x <= 1)).all()
    mu = special.expit(eta)
    assert x.mean() == pytest.approx(mu, abs=5 * np.sqrt(mu * (1 - mu) / n) + 1e-6)


def test_normals_follow_the_distribution():
    n = 4_000
    z = replicate_scores(
        "gaussian", np.zeros((n, 3)), np.zeros((n, 8)), np.ones((n, 1)), np.arange(3), seed=5
    )
    assert kolmogorov(special.ndtr(z.ravel().astype(np.float64))) < 1.95
    flat = z.reshape(n, -1)
    correlation = np.corrcoef(flat.T)
    assert np.abs(correlation - np.eye(24)).max() < 5 / np.sqrt(n)


@pytest.mark.parametrize("nu", [1.2, 4.0, 60.0])
def test_student_follows_the_distribution(nu):
    n = 20_000
    parameters = np.tile([2.0, nu], (n, 1))
    y = replicate_scores(
        "student", np.ones((n, 1)), np.zeros((n, 2)), parameters, np.array([0]), seed=6
    )
    assert kolmogorov(special.stdtr(nu, (y.ravel().astype(np.float64) - 1) / 2)) < 1.95


@pytest.mark.parametrize("skew", [-30.0, -2.0, 0.0, 5.0])
def test_skew_normal_follows_the_distribution(skew):
    n = 20_000
    parameters = np.tile([1.5, skew], (n, 1))
    y = replicate_scores(
        "skew_normal", np.full((n, 1), 0.2), np.zeros((n, 2)), parameters, np.array([0]), seed=7
    )
    delta = skew / np.sqrt(1 + skew**2)
    omega = 1.5 / np.sqrt(1 - 2 * delta**2 / np.pi)
    z = (y.ravel().astype(np.float64) - (0.2 - omega * delta * np.sqrt(2 / np.pi))) / omega
    assert kolmogorov(special.ndtr(z) - 2 * special.owens_t(z, skew)) < 1.95
    assert y.mean() == pytest.approx(0.2, abs=0.04)
    assert y.std() == pytest.approx(1.5, rel=0.03)


def test_zeros_and_ones_have_their_probabilities():
    n = 20_000
    y = replicate_scores(
        "zoib",
        np.zeros((n, 1)),
        np.zeros((n, 5)),
        np.tile([2.0, 0.10, 0.25], (n, 1)),
        np.array([0]),
        seed=8,
    )
    assert (y == 0).mean() == pytest.approx(0.075, abs=0.004)
    assert (y == 1).mean() == pytest.approx(0.025, abs=0.003)


@pytest.mark.parametrize(("zoi", "coi", "value"), [(1.0, 1.0, 1.0), (1.0, 0.0, 0.0)])
def test_certain_masses(zoi, coi, value):
    system, topic, parameters = posterior("zoib")
    parameters[:, 1:] = zoi, coi
    y = replicate_scores("zoib", system, topic, parameters, np.arange(5), seed=1)
    assert (y == value).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_sums_are_those_of_the_scores(family):
    system, topic, parameters = posterior(family, draws=150)
    selected = np.array([2, 4, 0])
    args = (family, system, topic, parameters, selected)
    y = replicate_scores(*args, seed=9).astype(np.float64)
    sums = replicate_sums(*args, seed=9)
    delta = y[:, 1:] - y[:, :1]
    np.testing.assert_allclose(sums.gains, np.maximum(delta, 0).sum(-1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(sums.losses, np.minimum(delta, 0).sum(-1), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(sums.wins, (delta > 0).sum(-1))
    np.testing.assert_array_equal(sums.worse, (delta < 0).sum(-1))


@pytest.mark.parametrize("family", FAMILIES)
def test_threads_chunks_and_subsets_do_not_change_a_byte(family):
    system, topic, parameters = posterior(family, draws=300, systems=19, topics=11)
    everyone = np.arange(19)
    args = (family, system, topic, parameters, everyone)
    whole = replicate_sums(*args, seed=4, threads=1)
    for threads in (2, 3, 8):
        again = replicate_sums(*args, seed=4, threads=threads)
        for a, b in zip(whole, again, strict=True):
            assert a.tobytes() == b.tobytes()
    parts = [
        replicate_sums(
            family, system[s], topic[s], parameters[s], everyone, seed=4, first_draw=s.start
        )
        for s in (slice(0, 100), slice(100, 101), slice(101, 300))
    ]
    assert np.concatenate([p.gains for p in parts]).tobytes() == whole.gains.tobytes()
    few = replicate_sums(family, system, topic, parameters, np.array([0, 7]), seed=4)
    assert few.losses[:, 0].tobytes() == np.ascontiguousarray(whole.losses[:, 6]).tobytes()
    scores = replicate_scores(*args, seed=4, threads=1)
    subset = replicate_scores(
        family, system, topic, parameters, np.array([7, 2]), seed=4, threads=2
    )
    assert subset.tobytes() == np.ascontiguousarray(scores[:, [7, 2]]).tobytes()


def test_seeds_and_draws_differ():
    system, topic, parameters = posterior("gaussian", draws=4)
    args = ("gaussian", np.zeros_like(system), np.zeros_like(topic), parameters, np.arange(5))
    y = replicate_scores(*args, seed=1)
    assert len(np.unique(y)) == y.size
    assert not np.array_equal(y, replicate_scores(*args, seed=2))


def test_only_a_champion_has_no_challengers():
    args = posterior("zoib")
    sums = replicate_sums("zoib", *args, np.array([1]), seed=1)
    assert sums.gains.shape == (40, 0)


def test_wrong_shapes_are_refused():
    system, topic, parameters = posterior("gaussian")
    with pytest.raises(ValueError, match="do not match"):
        replicate_sums("gaussian", system, topic[:-1], parameters, np.arange(5), seed=1)
    with pytest.raises(ValueError, match="out of range"):
        replicate_sums("gaussian", system, topic, parameters, np.array([5]), seed=1)
    with pytest.raises(ValueError, match="unknown family"):
        _kernels.replicate_sums(7, system, topic, parameters, np.arange(5), 1, 0, 1)
