"""JAX does what the compiled kernels do; on its CPU backend here, which computes as a GPU does."""

import subprocess
import sys

import numpy as np
import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import ModelError
from surefoot.inference.bayes.engines import draw_many, use_device
from surefoot.inference.bayes.families import pose
from surefoot.inference.bayes.priors import choose_priors
from surefoot.kernels.hierarchy import Leaning, laplace
from surefoot.kernels.replicate import replicate_sums
from surefoot.results.posterior import RankGains
from surefoot.workflows.fit import fit
from surefoot.workflows.ppd_risk import ppd_risk


def table(family, shape, seed=1, missing=True):
    rng = np.random.default_rng(seed)
    eta = rng.normal(0, 0.5, (shape[0], 1)) + rng.normal(0, 0.7, shape[1])
    if family == "zoib":
        mu = 1 / (1 + np.exp(-eta))
        values = np.clip(rng.beta(4 * mu, 4 - 4 * mu), 1e-6, 1 - 1e-6)
        values[0, 0] = 0.0
    else:
        values = eta + rng.normal(0, 0.3, shape)
    if missing:
        values[1, 2] = np.nan
    names = (tuple(f"{k}{i}" for i in range(n)) for k, n in zip("st", shape, strict=True))
    return ScoreMatrix(*names, values)


def near(shapes, prior, size, rng):
    """No draw, one, or several that lean on each approximation, a little way off."""
    counts = np.arange(len(shapes)) % 4
    n, edges = counts.sum(), np.concatenate([[0], np.cumsum(counts)])
    own = np.repeat(prior, counts, axis=0)
    own[:, 3:] *= rng.uniform(0.8, 1.25, (n, 2))
    scaled = np.repeat(shapes, counts, axis=0) * rng.uniform(0.9, 1.1, (n, 1))
    return Leaning(edges, scaled, own, *rng.normal(0, [[[0.05]], [[1.0]]], (2, n, size)))


@pytest.fixture(scope="module")
def jax_cpu():
    return use_device("jax-cpu")


@pytest.mark.parametrize(
    ("family", "shape"),
    [("zoib", (6, 9)), ("zoib", (7, 5)), ("gaussian", (5, 4)), ("skew_normal", (6, 9))],
)
def test_laplace_equals_the_compiled_kernel(jax_cpu, family, shape):
    scores = table(family, shape)
    problem = pose(family, scores, choose_priors(family, scores.values))
    rng = np.random.default_rng(2)
    theta = rng.normal(0, 0.5, (16, problem.dimension))
    shapes, sd_system, sd_topic = problem.unpack(theta)
    columns = [np.zeros(16), np.full(16, 0.2), np.zeros(16), sd_system**-2, sd_topic**-2]
    prior, start = np.column_stack(columns), np.zeros((16, problem.data.size))
    arguments = (problem.family.kernel, problem.data, shapes, prior, start)
    leaning = near(shapes, prior, problem.data.size, rng)
    for steps in (50, 0):
        options = {"leaning": leaning, "max_steps": steps, "tolerance": 1e-3}
        ours, theirs = laplace(*arguments, **options), jax_cpu.laplace(*arguments, **options)
        for name in ("mode", "log_marginal", "status", "information", "draws", "log_ratio"):
            np.testing.assert_allclose(
                getattr(theirs, name), getattr(ours, name), rtol=1e-9, atol=1e-9, err_msg=name
            )


def test_slopes_and_fisher_scoring_equal_the_compiled_kernel(jax_cpu):
    """Gains by rank have a covariate; a student likelihood is not concave everywhere."""
    rng = np.random.default_rng(3)
    index = np.indices((4, 5, 3)).reshape(3, -1)
    gains = RankGains(
        tuple("abcd"), tuple("vwxyz"), index[0], index[1], index[2] + 1.0, rng.beta(2, 3, 60)
    )
    ranked = pose("zoib_rank", gains.means(), choose_priors("zoib_rank", np.zeros(1)), gains=gains)
    heavy = table("student", (6, 9))
    student = pose("student", heavy, choose_priors("student", heavy.values))
    for problem in (ranked, student):
        theta = rng.normal(-1, 1, (16, problem.dimension))
        shapes, sd_system, sd_topic = problem.unpack(theta)
        columns = [np.zeros(16), np.full(16, 0.2), np.full(16, 0.1), sd_system**-2, sd_topic**-2]
        start = rng.normal(0, 1, (16, problem.data.size))
        prior = np.column_stack(columns)
        leaning = near(shapes, prior, problem.data.size, rng)
        arguments = (problem.family.kernel, problem.data, shapes, prior, start)
        ours, theirs = (f(*arguments, leaning=leaning) for f in (laplace, jax_cpu.laplace))
        np.testing.assert_array_equal(theirs.status, ours.status)
        good = np.repeat(ours.status < 3, np.diff(leaning.edges))
        np.testing.assert_allclose(theirs.log_ratio[good], ours.log_ratio[good], atol=1e-7)


@pytest.mark.parametrize(
    ("family", "parameters"),
    [
        ("gaussian", [0.2]),
        ("student", [0.2, 4.0]),
        ("skew_normal", [0.2, -3.0]),
        ("zoib", [1.2, 0.1, 0.4]),
    ],
)
def test_replicates_are_those_of_the_compiled_kernel(jax_cpu, family, parameters):
    rng = np.random.default_rng(4)
    system, topic = rng.normal(0, 0.5, (256, 7)), rng.normal(0, 0.5, (256, 11))
    arguments = (family, system, topic, np.tile(parameters, (256, 1)), np.array([2, 0, 5, 6]))
    options = {"seed": 2**40 + 7, "first_draw": 5}
    ours = replicate_sums(*arguments, **options)
    theirs = jax_cpu.replicate_sums(*arguments, **options)
    for one, other in zip(ours, theirs, strict=True):
        # a candidate at the very edge of acceptance may fall on the other side
        off = np.abs(one - other) > 1e-4
        assert off.mean() < 1e-3


def test_a_fit_on_the_device_draws_the_same_and_names_it():
    scores = table("zoib", (6, 9))
    options = {"family": "zoib", "draws": 1000, "criteria": False}
    ours, theirs = fit(scores, **options), fit(scores, **options, device="jax-cpu")
    assert theirs.method == "Laplace importance sampling on CPU, JAX"
    assert theirs.settings["device"] == "jax-cpu"
    for name, values in ours.draws.items():
        np.testing.assert_allclose(theirs.draws[name], values, rtol=1e-6, atol=1e-6)
    one = ppd_risk(ours, champion="s0", r=2)
    two = ppd_risk(ours, champion="s0", r=2, device="jax-cpu")
    assert two.settings["device"] == "CPU, JAX"
    np.testing.assert_allclose(two.low, one.low, atol=0.01)
    np.testing.assert_allclose(two.median, one.median, atol=0.01)


@pytest.mark.slow
def test_chains_on_the_device_agree(monkeypatch):
    monkeypatch.setattr("surefoot.inference.bayes.hmc.N_CHAINS", 16)
    scores = table("skew_normal", (4, 6), missing=False)
    options = {"family": "skew_normal", "engine": "hmc", "draws": 4000, "criteria": False}
    ours, theirs = fit(scores, **options), fit(scores, **options, device="jax-cpu")
    assert theirs.method == "batched HMC on CPU, JAX"
    for one, two in zip(ours.rows(), theirs.rows(), strict=True):
        error = one["sd"] * np.hypot(one["ess"] ** -0.5, two["ess"] ** -0.5)
        assert abs(one["mean"] - two["mean"]) < 5 * error, one["parameter"]


@pytest.mark.slow
def test_many_tables_in_step_have_the_posteriors_of_each():
    tables = [table("zoib", (5, 8), seed=k, missing=k % 2 == 0) for k in range(4)]
    priors = choose_priors("zoib", tables[0].values)
    found = draw_many([pose("zoib", t, priors) for t in tables], 4000, device="jax-cpu")
    for scores, sample in zip(tables, found, strict=True):
        alone = fit(scores, family="zoib", draws=4000, criteria=False)
        assert sample.method == "Laplace importance sampling on CPU, JAX"
        assert not sample.warnings
        for name, values in alone.draws.items():
            off = sample.draws[name].mean(axis=0) - values.mean(axis=0)
            assert np.all(np.abs(off) < 0.15 * values.std(axis=0)), name


def test_devices_are_named_and_never_silent():
    with pytest.raises(ModelError, match=r"unknown device 'tpu'\. Hint: one of cpu, gpu, jax-cpu"):
        use_device("tpu")
    with pytest.raises(ModelError, match="many tables in step need an accelerator"):
        draw_many([], 100, device="cpu")


def test_without_jax_the_extra_is_named():
    code = (
        "import sys; sys.modules['jax'] = None\n"
        "from surefoot.inference.bayes.engines import use_device\n"
        "use_device('gpu')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in done.stderr
    assert "pip install 'surefoot[gpu]'" in done.stderr


def test_a_machine_without_a_gpu_is_told():
    import jax

    if jax.default_backend() != "cpu":
        pytest.skip("this machine has an accelerator")
    with pytest.raises(ModelError, match="sees no GPU, only cpu"):
        use_device("gpu")


def test_an_exact_fit_says_that_the_device_has_nothing_to_do():
    scores = table("gaussian", (5, 6), missing=False)
    found = fit(scores, family="gaussian", draws=200, device="jax-cpu", criteria=False)
    assert found.method == "exact marginal sampling (on the CPU: it takes milliseconds)"
