from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from tests.inference.bayes.simulated import simulated_posterior

from surefoot.errors import ModelError
from surefoot.inference.bayes.predictive import (
    RiskReplicates,
    kernel_draws,
    predicted_risk,
    risk_replicates,
    topic_forecasts,
)
from surefoot.kernels.replicate import FAMILIES, replicate_scores


def test_the_worked_example_of_the_thesis():
    # thesis Sect. 5.2.1 and errata thesis-44: gains .10, scaled losses -1.65 over four topics: .39
    replicates = RiskReplicates(
        4, np.array([[0.10]]), np.array([[-0.33]]), np.array([[1]]), np.array([[3]])
    )
    assert replicates.risk(5.0)[0, 0] == pytest.approx(0.3875)


@pytest.mark.parametrize("family", FAMILIES)
def test_risk_at_any_r_is_that_of_the_replicates(family):
    posterior = simulated_posterior(family, draws=5_000)
    scores = replicate_scores(family, *kernel_draws(posterior), np.array([2, 0, 4]), seed=3)
    delta = scores[:, 1:].astype(float) - scores[:, :1]
    replicates = risk_replicates(posterior, 2, [0, 4], seed=3)
    for r in (0.0, 1.0, 2.5, 10.0):
        want = -np.where(delta < 0, r * delta, delta).mean(axis=2)
        np.testing.assert_allclose(replicates.risk(r), want, rtol=1e-5, atol=1e-6)
        got = predicted_risk(replicates, r)
        np.testing.assert_allclose(got.median, np.median(want, axis=0), atol=1e-6)
        low, high = np.quantile(want, (0.025, 0.975), axis=0)
        np.testing.assert_allclose(got.low, low, atol=1e-6)
        np.testing.assert_allclose(got.high, high, atol=1e-6)
        np.testing.assert_allclose(got.p_risky, (want > 0).mean(axis=0), atol=2e-3)
        assert (got.significant == ((low > 0) | (high < 0))).all()


def test_gaussian_replicates_have_the_exact_expectation():
    # difference of two replicates is N(s_a - s_c, 2 sigma^2) on every topic
    posterior = simulated_posterior("gaussian", draws=40_000, spread=1e-9)
    replicates = risk_replicates(posterior, 3, [0, 5], seed=1)
    for column, row in enumerate((0, 5)):
        shift = posterior.draws["system"][0, row] - posterior.draws["system"][0, 3]
        sd = 0.2 * np.sqrt(2)
        z = shift / sd
        gain = shift * special.ndtr(z) + sd * np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
        assert replicates.gains[:, column].mean() / 12 == pytest.approx(gain, abs=1e-3)
        assert replicates.losses[:, column].mean() / 12 == pytest.approx(shift - gain, abs=1e-3)
        assert replicates.worse[:, column].mean() / 12 == pytest.approx(special.ndtr(-z), abs=2e-3)


def test_bytes_do_not_depend_on_threads_or_on_who_is_asked_for():
    posterior = simulated_posterior("zoib", draws=9_000)
    one = risk_replicates(posterior, 0, [1, 2, 3, 4, 5], seed=8, threads=1)
    two = risk_replicates(posterior, 0, [1, 2, 3, 4, 5], seed=8, threads=2)
    few = risk_replicates(posterior, 0, [4], seed=8, threads=3)
    assert one.gains.tobytes() == two.gains.tobytes()
    assert one.losses.tobytes() == two.losses.tobytes()
    assert few.losses.tobytes() == np.ascontiguousarray(one.losses[:, 3:4]).tobytes()


def test_progress_reaches_the_end():
    seen = []
    risk_replicates(
        simulated_posterior(draws=5_000), 0, [1], update=lambda done, total: seen.append(done)
    )
    assert seen == [4_096, 5_000]


@pytest.mark.parametrize("family", FAMILIES)
def test_forecasts_add_up_to_the_risk(family):
    posterior = simulated_posterior(family, draws=5_000)
    other, forecast = topic_forecasts(posterior, 1, [0, 4], seed=2)
    alone = next(topic_forecasts(posterior, 1, [4], seed=2))
    np.testing.assert_array_equal(forecast.low, alone.low)
    assert (other.expected != forecast.expected).any()
    replicates = risk_replicates(posterior, 1, [4], seed=2)
    assert forecast.p_worse.sum() == pytest.approx(replicates.worse.mean(), abs=1e-9)
    assert forecast.p_better.sum() == pytest.approx(replicates.wins.mean(), abs=1e-9)
    assert forecast.expected_loss.sum() == pytest.approx(replicates.losses.mean(), rel=1e-4)
    total = (replicates.gains + replicates.losses).mean()
    assert forecast.expected.sum() == pytest.approx(total, abs=1e-4)
    assert (forecast.low <= forecast.median).all()
    assert (forecast.median <= forecast.high).all()


def test_rank_gains_cannot_be_replicated_as_scores():
    posterior = simulated_posterior()
    object.__setattr__(posterior, "family", "zoib_rank")
    with pytest.raises(ModelError, match="single ranks"):
        kernel_draws(posterior)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("systems", "topics"), [(2, 1), (2, 12), (6, 1)])
def test_small_tables(family, systems, topics):
    posterior = simulated_posterior(family, systems=systems, topics=topics, draws=500)
    risk = predicted_risk(risk_replicates(posterior, 0, list(range(1, systems))), 5.0)
    assert np.isfinite([risk.low, risk.median, risk.high]).all()


def test_identical_systems_without_noise_carry_no_risk():
    posterior = simulated_posterior("gaussian", effects=np.zeros(6), spread=0.0, draws=500)
    posterior = replace(posterior, draws=posterior.draws | {"sigma": np.zeros(500)})
    risk = predicted_risk(risk_replicates(posterior, 0, [1, 2]), 5.0)
    np.testing.assert_array_equal(risk.median, 0.0)
    np.testing.assert_array_equal(risk.p_risky, 0.0)
    assert not risk.significant.any()
