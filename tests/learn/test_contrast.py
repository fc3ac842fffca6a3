"""Rankers compared in effectiveness and risk: definitions, pairing, seeds, and brute force."""

import warnings

import numpy as np
import pytest

from surefoot.errors import AlignmentError, UnreliableWarning
from surefoot.learn.contrast import CONTRASTS, contrast, risk_features
from surefoot.learn.profile import risk_profile

RNG = np.random.default_rng(7)
CHAMPION = RNG.uniform(0.1, 0.9, 200)
PLAIN = np.clip(CHAMPION + RNG.normal(0.1, 0.2, (3, 200)), 0, 1)
CAREFUL = np.clip(PLAIN + RNG.normal(0.01, 0.05, (3, 200)), 0, 1)


def test_values_are_the_profiles_of_one_repetition() -> None:
    found = contrast(
        risk_features(CAREFUL[0], CHAMPION), risk_features(PLAIN[0], CHAMPION), resamples=999
    )
    assert list(found) == list(CONTRASTS)
    ours, plain = (risk_profile(v, CHAMPION, alpha=1.0) for v in (CAREFUL[0], PLAIN[0]))
    for name, value, control in (
        ("mean", ours.mean, plain.mean),
        ("risk_reward", ours.risk_reward, plain.risk_reward),
        ("win_loss", ours.wins / ours.losses, plain.wins / plain.losses),
        ("losses", ours.losses / 200, plain.losses / 200),
        ("loss_over_20", ours.loss_over_20 / 200, plain.loss_over_20 / 200),
    ):
        assert found[name].value == pytest.approx(value, rel=1e-12)
        assert found[name].control == pytest.approx(control, rel=1e-12)
        change = value - control if name == "mean" else value / control - 1
        assert found[name].change == pytest.approx(change, rel=1e-9, abs=1e-12)
        assert found[name].low <= found[name].change <= found[name].high


def test_seeds_are_averaged_within_the_query() -> None:
    """Copies of one model are no further evidence: the interval stays as it was."""
    once = contrast(
        risk_features(CAREFUL[:1], CHAMPION), risk_features(PLAIN[:1], CHAMPION), resamples=999
    )
    copied = contrast(
        risk_features(np.repeat(CAREFUL[:1], 5, axis=0), CHAMPION),
        risk_features(np.repeat(PLAIN[:1], 5, axis=0), CHAMPION),
        resamples=999,
    )
    for name in CONTRASTS:
        assert copied[name].low == pytest.approx(once[name].low, abs=1e-12)
        assert copied[name].high == pytest.approx(once[name].high, abs=1e-12)


def test_several_champions_are_a_macro_average() -> None:
    champions = np.stack([CHAMPION, np.roll(CHAMPION, 1)])
    both = risk_features(PLAIN[:, None], champions[None])
    apart = np.mean([risk_features(PLAIN, b) for b in champions], axis=0)
    np.testing.assert_allclose(both, apart, rtol=1e-12)


@pytest.mark.parametrize("name", ["mean", "risk_reward", "loss_over_20"])
def test_interval_agrees_with_resampled_queries(name: str) -> None:
    """Percentile limits of plain resampling, within what BCa moves them."""
    ours, plain = risk_features(CAREFUL, CHAMPION), risk_features(PLAIN, CHAMPION)
    found = contrast(ours, plain, resamples=20_000)[name]
    chosen = np.random.default_rng(1).integers(0, 200, (20_000, 200))
    statistic = {
        "mean": lambda r: r[0][chosen].mean(axis=1),
        "risk_reward": lambda r: r[1][chosen].sum(axis=1) / r[2][chosen].sum(axis=1),
        "loss_over_20": lambda r: r[5][chosen].mean(axis=1),
    }[name]
    a, b = statistic(ours), statistic(plain)
    low, high = np.quantile(a - b if name == "mean" else a / b - 1, [0.025, 0.975])
    width = high - low
    assert found.low == pytest.approx(low, abs=0.12 * width)
    assert found.high == pytest.approx(high, abs=0.12 * width)


def test_same_ranker_differs_by_nothing() -> None:
    same = risk_features(PLAIN, CHAMPION)
    assert all(c.change == c.low == c.high == 0.0 for c in contrast(same, same).values())


def test_without_a_loss_on_either_side_no_risk_has_changed() -> None:
    winner = risk_features(CHAMPION + 0.1, CHAMPION)
    found = contrast(risk_features(CHAMPION + 0.2, CHAMPION), winner, resamples=999)
    for name in ("risk_reward", "win_loss", "losses", "loss_over_20"):
        assert (found[name].change, found[name].low, found[name].high) == (0.0, 0.0, 0.0)
    assert found["mean"].change == pytest.approx(0.1)


def test_rare_losses_never_fall_by_more_than_all() -> None:
    """Many resamples hold no losing query at all: the ratio's ends stay at or above -100 %."""
    for losing in (1, 2, 3):
        delta = np.full(60, 0.1)
        delta[:losing] = -0.2
        plain = risk_features(0.5 + delta, np.full(60, 0.5))
        delta[0] = -0.05
        delta[10] = -0.01
        ours = risk_features(0.5 + delta, np.full(60, 0.5))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreliableWarning)
            found = contrast(ours, plain, resamples=2000)
        for name in ("risk_reward", "losses", "loss_over_20"):
            assert found[name].change >= -1.0
            assert not found[name].low < -1.0
        assert np.isnan(found["risk_reward"].low) == (losing == 1)


def test_other_queries_are_refused() -> None:
    with pytest.raises(AlignmentError, match="200 queries of the ranker, 3"):
        risk_features(PLAIN, CHAMPION[:3])
