from dataclasses import replace
from functools import partial

import mpmath
import numpy as np
import pytest
from scipy import optimize

from surefoot.kernels import hierarchy as kernel
from surefoot.kernels.reference import hierarchy as reference

SHAPES = {
    "beta": [(0.05, 0.0), (1.47, 0.0), (30.0, 0.0), (2e4, 0.0)],
    "gaussian": [(0.3, 0.0), (20.0, 0.0)],
    "student": [(0.3, 1.2), (0.3, 40.0)],
    "skew_normal": [(0.3, -6.0), (0.3, 0.0), (2.0, 25.0)],
}
CASES = [(family, shape) for family, shapes in SHAPES.items() for shape in shapes]


def observations(family, n=203, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.beta(0.7, 0.9, n) if family == "beta" else rng.normal(0.4, 0.3, n)
    y[:4] = (1e-7, 0.999, 0.5, 1 - 1e-7)[:n]
    if family == "beta":
        return np.log(y) - np.log1p(-y), np.log1p(-y)
    return y, np.zeros(n)


def exact(family, shape, eta, first, second):
    """One log density in 50 digits."""
    mp = mpmath.mp
    eta, first, second = mp.mpf(eta), mp.mpf(first), mp.mpf(second)
    p, q = shape
    if family == "beta":
        a, b = p / (1 + mp.exp(-eta)), p / (1 + mp.exp(eta))
        const = mp.loggamma(p) - mp.loggamma(a) - mp.loggamma(b)
        return const + (a - 1) * (first + second) + (b - 1) * second
    r = first - eta
    if family == "gaussian":
        return -((r / p) ** 2) / 2 - mp.log(p * mp.sqrt(2 * mp.pi))
    if family == "student":
        const = mp.loggamma((q + 1) / 2) - mp.loggamma(q / 2) - mp.log(q * mp.pi) / 2
        return const - mp.log(p) - (q + 1) / 2 * mp.log(1 + (r / p) ** 2 / q)
    delta = q / mp.sqrt(1 + q * q)
    omega = p / mp.sqrt(1 - 2 * delta**2 / mp.pi)
    z = (r + omega * delta * mp.sqrt(2 / mp.pi)) / omega
    return mp.log(2 / omega) - z * z / 2 - mp.log(2 * mp.pi) / 2 + mp.log(mp.ncdf(q * z))


@pytest.mark.parametrize(("family", "shape"), CASES)
def test_terms_match_fifty_digits(family, shape):
    first, second = observations(family, n=12)
    eta = np.array([-30.0, -6.0, -2.0, -0.5, -0.01, 0.0, 0.2, 0.7, 1.5, 4.0, 9.0, 30.0])
    if family != "beta":
        eta = np.linspace(-1.0, 2.0, 12)
    got = kernel.likelihood_terms(family, np.array(shape), eta, first, second)
    with mpmath.workdps(50):
        p, q = mpmath.mpf(shape[0]), mpmath.mpf(shape[1])
        for n in range(len(eta)):

            def at(e, s=p, skew=q, n=n):
                return exact(family, (s, skew), e, first[n], second[n])

            e = mpmath.mpf(eta[n])
            expected = [at(e), mpmath.diff(at, e), -mpmath.diff(at, e, 2)]
            expected.append(mpmath.diff(partial(at, e), p))
            values = [got[0, n], got[1, n], got[2, n], got[4, n]]
            if family in ("student", "skew_normal"):
                expected.append(mpmath.diff(partial(at, e, p), q))
                values.append(got[5, n])
            scale = float(abs(expected[0])) + shape[0]
            for have, want in zip(values, expected, strict=True):
                assert have == pytest.approx(float(want), rel=2e-10, abs=2e-11 * scale)


@pytest.mark.parametrize(("family", "shape"), CASES)
def test_terms_match_the_reference(family, shape):
    first, second = observations(family)
    eta = np.random.default_rng(1).normal(0.3, 1.0, len(first))
    got = kernel.likelihood_terms(family, np.array(shape), eta, first, second)[0]
    want = reference.log_likelihood(family, np.array(shape), eta, first, second)
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-11 * max(1, shape[0]))


def crossed(family, n_systems, n_topics, *, covariate=False, seed=0):
    rng = np.random.default_rng(seed)
    present = rng.random((n_systems, n_topics)) < 0.85
    system, topic = np.nonzero(present)
    first, second = observations(family, n=len(system), seed=seed)
    return kernel.Observations(
        n_systems,
        n_topics,
        system.astype(np.int32),
        topic.astype(np.int32),
        first,
        second,
        rng.normal(size=len(system)) if covariate else None,
    )


@pytest.mark.parametrize("covariate", [False, True])
@pytest.mark.parametrize("family", list(SHAPES))
def test_gradient_matches_differences(family, covariate):
    data = crossed(family, 7, 5, covariate=covariate)
    x = np.random.default_rng(2).normal(0, 0.3, (1, data.size))
    shape = np.array([SHAPES[family][1]])
    value, slope = kernel.gradient(family, data, shape, x)
    total = kernel.pointwise(family, data, shape, x).sum()
    assert value[0] == pytest.approx(total, rel=1e-12)

    def at(full):
        return kernel.gradient(family, data, full[None, -2:], full[None, :-2])[0][0]

    full = np.concatenate([x[0], shape[0]])
    for c in range(len(full) - (0 if family in ("student", "skew_normal") else 1)):
        step = np.zeros(len(full))
        step[c] = 1e-5
        want = (at(full + step) - at(full - step)) / 2e-5
        assert slope[0, c] == pytest.approx(want, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize(("n_systems", "n_topics"), [(6, 9), (9, 6), (2, 1), (1, 3)])
@pytest.mark.parametrize("covariate", [False, True])
@pytest.mark.parametrize("family", list(SHAPES))
def test_laplace_finds_the_mode_and_its_curvature(family, covariate, n_systems, n_topics):
    data = crossed(family, n_systems, n_topics, covariate=covariate)
    shape = np.array([SHAPES[family][1]])
    prior = np.array([[0.2, 0.16, 0.3, 4.0, 2.0]])
    z = np.random.default_rng(3).normal(size=(3, data.size))
    leaning = around(shape, prior, [3], z)
    got = kernel.laplace(family, data, shape, prior, np.zeros((1, data.size)), leaning=leaning)
    assert got.status[0] in (0, 2)

    def loss(x):
        return -reference.log_posterior(family, data, shape[0], prior[0], x)

    found = optimize.minimize(loss, got.mode[0] + 0.01, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(got.mode[0], found.x, atol=2e-4)
    # the log ratio is the target over the density of the draw, whatever the draw
    eye = np.eye(data.size) * 1e-4
    hessian = np.empty((data.size, data.size))
    for i in range(data.size):
        for j in range(data.size):
            plus = loss(got.mode[0] + eye[i] + eye[j]) + loss(got.mode[0] - eye[i] - eye[j])
            cross = loss(got.mode[0] + eye[i] - eye[j]) + loss(got.mode[0] - eye[i] + eye[j])
            hessian[i, j] = (plus - cross) / 4e-8
    log_det = np.linalg.slogdet(hessian)[1]
    # a step that ends the search early is followed to second order
    early = kernel.laplace(family, data, shape, prior, found.x[None] + 0.003, tolerance=0.1)
    assert early.log_marginal[0] == pytest.approx(got.log_marginal[0], abs=0.05)
    off = got.draws - got.mode[0]
    constant = 0.5 * (np.log(prior[0, 1]) + n_systems * np.log(4.0) + n_topics * np.log(2.0))
    for k in range(3):
        if got.status[0] == 0:
            assert off[k] @ hessian @ off[k] == pytest.approx(z[k] @ z[k], rel=1e-3)
            density = -0.5 * off[k] @ hessian @ off[k] + 0.5 * log_det
            want = -loss(got.draws[k]) + constant - density
            assert got.log_ratio[k] == pytest.approx(want, abs=2e-3)


def test_answers_do_not_depend_on_threads():
    data = crossed("beta", 12, 9)
    rng = np.random.default_rng(4)
    shape = np.column_stack([rng.uniform(1, 3, 50), np.zeros(50)])
    prior = np.column_stack(
        [np.zeros(50), np.full(50, 0.16), np.zeros(50), *[np.full(50, 4.0)] * 2]
    )
    leaning = around(shape, prior, [4] * 50, rng.normal(size=(200, data.size)))
    one, two = (
        kernel.laplace(
            "beta", data, shape, prior, np.zeros((50, data.size)), leaning=leaning, threads=t
        )
        for t in (1, 2)
    )
    assert one.draws.tobytes() == two.draws.tobytes()
    assert one.log_ratio.tobytes() == two.log_ratio.tobytes()


def around(shape, prior, counts, z, shift=0.0):
    """Draws with the hyperparameters of what they lean on."""
    edges = np.concatenate([[0], np.cumsum(counts)])
    own = (np.repeat(rows, counts, axis=0) for rows in (shape, prior))
    return kernel.Leaning(edges, *own, np.full(z.shape, shift), z)


@pytest.mark.parametrize("phi", [0.01, 1.5, 40.0, 1e4])
@pytest.mark.parametrize("spread", [0.01, 0.5, 1.5, 20.0])
@pytest.mark.parametrize(
    ("family", "n_systems", "n_topics", "covariate"),
    [
        ("beta", 14, 11, False),
        ("beta", 30, 9, False),
        ("beta", 3, 90, False),
        ("beta", 12, 13, True),
        ("beta", 4, 5, False),
        ("student", 14, 11, False),
        ("skew_normal", 14, 11, False),
    ],
)
def test_log_ratios_of_leaning_draws_are_exact(family, n_systems, n_topics, covariate, phi, spread):
    """Whatever they lean on: many scores in a narrow range by interpolation, others in full."""
    data = crossed(family, n_systems, n_topics, covariate=covariate)
    rng = np.random.default_rng(5)
    shape, prior = np.array([[phi, 4.0]]), np.array([[0.2, 0.16, 0.3, 4.0, 2.0]])
    z = rng.normal(size=(20, data.size))
    draws = around(shape, prior, [20], z)
    draws = replace(
        draws,
        shape=draws.shape * rng.uniform(0.5, 2, (20, 1)),
        prior=draws.prior * rng.uniform(0.5, 2, (20, 5)),
        shift=rng.normal(0, spread, z.shape),
    )
    start = np.zeros((1, data.size))
    got = kernel.laplace(family, data, shape, prior, start, leaning=draws)
    assert got.status[0] < 3
    off = []
    for k in range(20):
        p = draws.prior[k]
        target = reference.log_posterior(family, data, draws.shape[k], p, got.draws[k])
        target += 0.5 * (np.log(p[1]) + n_systems * np.log(p[3]) + n_topics * np.log(p[4]))
        off.append(got.log_ratio[k] - target - 0.5 * z[k] @ z[k])
    # half the log determinant of what all lean on, up to the rounding of such sums
    p = prior[0]
    at_mode = reference.log_posterior(family, data, shape[0], p, got.mode[0])
    at_mode += 0.5 * (np.log(p[1]) + n_systems * np.log(p[3]) + n_topics * np.log(p[4]))
    size = np.abs(got.log_ratio).max()
    np.testing.assert_allclose(off, off[0], atol=2e-6 + 1e-12 * size)
    if got.status[0] == 0:  # a student likelihood with a tiny scale ends where it is not concave
        assert off[0] == pytest.approx(got.log_marginal[0] - at_mode, abs=1e-5 + 1e-12 * size)


def test_draws_lean_on_what_their_edges_say():
    data = crossed("beta", 12, 13)
    rng = np.random.default_rng(6)
    shape = np.array([[1.5, 0.0], [3.0, 0.0], [6.0, 0.0]])
    prior = np.tile([0.2, 0.16, 0.3, 4.0, 2.0], (3, 1))
    z, start = rng.normal(size=(19, data.size)), np.zeros((3, data.size))
    together = kernel.laplace(
        "beta", data, shape, prior, start, leaning=around(shape, prior, [1, 0, 18], z, 0.1)
    )
    assert (together.draws - z != 0).all()
    for row, part in ((0, slice(0, 1)), (2, slice(1, 19))):
        own, rows = z[part], slice(row, row + 1)
        leaning = around(shape[rows], prior[rows], [len(own)], own, 0.1)
        alone = kernel.laplace("beta", data, shape[rows], prior[rows], start[:1], leaning=leaning)
        np.testing.assert_array_equal(together.draws[part], alone.draws)
        np.testing.assert_array_equal(together.log_ratio[part], alone.log_ratio)
        np.testing.assert_array_equal(together.mode[rows], alone.mode)
    assert together.information == pytest.approx(
        [
            kernel.likelihood_terms(
                "beta", s, reference.linear_predictor(data, m), data.first, data.second
            )[2].sum()
            for s, m in zip(shape, together.mode, strict=True)
        ],
        rel=1e-4,
    )
