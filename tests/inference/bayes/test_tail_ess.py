import numpy as np
import pytest

from surefoot.inference.bayes.diagnostics import ess, tail_ess


def autoregressive(rho, chains=16, length=2000, seed=1):
    rng = np.random.default_rng(seed)
    out = rng.standard_normal((chains, length))
    for t in range(1, length):
        out[:, t] = rho * out[:, t - 1] + np.sqrt(1 - rho**2) * out[:, t]
    return out


def test_independent_draws_are_worth_their_number():
    assert tail_ess(autoregressive(0.0)) == pytest.approx(32_000, rel=0.1)


@pytest.mark.parametrize("rho", [0.5, 0.9])
def test_tails_of_a_slow_chain_are_worth_what_repetition_shows(rho):
    ends, told = [], []
    for seed in range(120):
        chains = autoregressive(rho, chains=4, length=1500, seed=seed)
        ends.append((chains <= -1.6449).mean())
        told.append(tail_ess(chains))
    assert np.mean(told) == pytest.approx(0.05 * 0.95 / np.var(ends), rel=0.35)


def test_a_chain_that_visits_a_tail_late_is_found_by_the_tail_alone():
    chains = autoregressive(0.0, chains=4, length=1000)
    chains[:, 500:600] += 6.0
    assert tail_ess(chains) < 0.2 * ess(autoregressive(0.0, chains=4, length=1000))
