"""Everything else that is computed from a posterior."""

import numpy as np
import pytest
from tests.inference.bayes.simulated import simulated_posterior

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import AlignmentError, ModelError
from surefoot.inference.bayes.artifact import nested_tables
from surefoot.inference.bayes.brisk import risk_adjusted, system_risk
from surefoot.inference.bayes.checks import STATISTICS, predictive_check
from surefoot.inference.bayes.difficulty import topic_difficulty
from surefoot.inference.bayes.expected import (
    expected_by_system,
    expected_by_topic,
    glass_delta,
    region_of_equivalence,
    score_sd,
)
from surefoot.inference.bayes.predictive import kernel_draws
from surefoot.inference.bayes.ranking import count_noise, rank_systems
from surefoot.kernels.replicate import FAMILIES, replicate_scores
from surefoot.results.posterior import RankGains
from surefoot.workflows.difficulty import difficulty
from surefoot.workflows.fit import fit
from surefoot.workflows.ranks import pairs, ranks

# -- BRisk ---------------------------------------------------------------------------------------


def test_equation_4_5_on_the_examples_of_the_thesis():
    scores = ScoreMatrix(("champion", "a"), ("1", "2"), np.array([[0.4, 0.2], [0.1, 0.6]]))
    got = risk_adjusted(scores, "champion", 3.0)
    np.testing.assert_allclose(got.values, [[0.4, 0.2], [-0.5, 0.6]])


def test_no_adjustment_at_r_1_and_none_of_the_champion():
    scores = simulated_posterior().scores
    np.testing.assert_array_equal(risk_adjusted(scores, "s2", 1.0).values, scores.values)
    np.testing.assert_array_equal(risk_adjusted(scores, "s2", 9.0).row("s2"), scores.row("s2"))


def test_topics_without_a_champion_score_are_dropped_and_other_gaps_stay():
    values = np.array([[0.5, np.nan, 0.5], [0.4, 0.4, np.nan]])
    got = risk_adjusted(ScoreMatrix(("c", "a"), ("1", "2", "3"), values), "c", 2.0)
    assert got.topics == ("1", "3")
    np.testing.assert_allclose(got.row("a"), [0.3, np.nan])
    with pytest.raises(ModelError, match="no score on any topic"):
        risk_adjusted(ScoreMatrix(("c", "a"), ("2",), values[:, 1:2]), "c", 2.0)


def test_system_risk_is_the_negated_effect_and_overlap_is_of_intervals():
    rng = np.random.default_rng(0)
    effects = np.array([0.0, 0.05, 1.0, -1.0]) + rng.normal(0, 0.1, (20_000, 4))
    got = system_risk(effects, 0)
    np.testing.assert_allclose(got.mean, [0, -0.05, -1, 1], atol=0.01)
    np.testing.assert_allclose(got.high - got.low, 4 * 0.098, atol=0.01)
    assert got.overlaps.tolist() == [True, True, False, False]
    np.testing.assert_allclose(got.p_riskier, [0.5, 0.362, 0, 1], atol=0.01)
    np.testing.assert_allclose(got.difference, got.mean - got.mean[0], atol=1e-12)


# -- ranks ---------------------------------------------------------------------------------------


def test_ranks_and_pairs():
    rng = np.random.default_rng(1)
    effects = np.array([0.0, 2.0, 0.1, -2.0]) + rng.normal(0, 0.2, (20_000, 4))
    got = rank_systems(effects)
    assert got.rank.tolist() == [3, 1, 2, 4] or got.rank.tolist() == [2, 1, 2, 4]
    assert got.p_best[1] == 1
    assert got.p_better[2, 0] == pytest.approx(0.638, abs=0.015)
    both = got.p_better + got.p_better.T
    np.testing.assert_allclose(both[~np.eye(4, dtype=bool)], 1)
    assert got.separated[1].tolist() == [True, False, True, True]
    assert not got.separated[2, 0]
    assert (got.distinct | ~got.separated).all()


def test_identical_draws_are_a_tie():
    got = rank_systems(np.zeros((100, 3)))
    assert got.p_better[0, 1] == 0.5
    assert not got.distinct.any()
    assert not got.separated.any()


def test_counts_come_with_their_monte_carlo_noise():
    rng = np.random.default_rng(2)
    centre = np.linspace(0, 2, 40)
    effects = centre + rng.normal(0, 0.2, (4_000, 40))
    few, many = count_noise(effects, 39, effective_draws=4_000)
    count = int(rank_systems(effects).separated[39].sum())
    exact = int((centre < 2 - 2 * 1.96 * 0.2).sum())
    assert few <= count <= many
    assert few <= exact <= many
    assert many - few <= 3


# -- topics --------------------------------------------------------------------------------------


def test_topics_are_hard_medium_or_easy():
    rng = np.random.default_rng(3)
    got = topic_difficulty(np.array([-1.0, 0.0, 1.0]) + rng.normal(0, 0.2, (5_000, 3)))
    assert got.level == ("hard", "medium", "easy")
    assert got.p_hard[1] == pytest.approx(0.5, abs=0.05)


# -- the scale of the scores ---------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_expected_scores_and_spreads_are_those_of_replicates(family):
    posterior = simulated_posterior(family, draws=20_000, spread=1e-9)
    scores = replicate_scores(family, *kernel_draws(posterior), np.arange(6), seed=1).astype(float)
    want = scores.mean(axis=(0, 2))
    np.testing.assert_allclose(expected_by_system(posterior)[0], want, atol=0.003)
    np.testing.assert_allclose(
        expected_by_topic(posterior)[0], scores.mean(axis=(0, 1)), atol=0.003
    )
    sd = score_sd(posterior, 2)[0]
    assert sd == pytest.approx(scores[:, 2].std(), rel=0.03)
    delta = glass_delta(posterior, 0, 2)
    assert delta[0] == pytest.approx((want[0] - want[2]) / sd, abs=0.02)


def test_expected_gains_of_ranks_are_averaged_over_ranks():
    rng = np.random.default_rng(5)
    system, topic, rank = (x.ravel() for x in np.indices((3, 4, 5)))
    score = np.where(rng.random(60) < 0.4, 0.0, rng.beta(2, 5, 60))
    gains = RankGains(
        tuple("abc"), tuple("wxyz"), system, topic, rank + 1.0, score,
    )  # fmt: skip
    posterior = fit(gains, family="zoib_rank", draws=500, criteria=False)
    draws = posterior.draws
    eta = (
        (draws["b"][:, None] + draws["system"])[:, :, None, None]
        + draws["topic"][:, None, :, None]
        + draws["k"][:, None, None, None] * (np.arange(5) - 2.0)
    )
    want = (1 - draws["zoi"])[:, None, None, None] / (1 + np.exp(-eta))
    np.testing.assert_allclose(expected_by_system(posterior), want.mean(axis=(2, 3)))
    np.testing.assert_allclose(expected_by_topic(posterior), want.mean(axis=(1, 3)))
    assert ranks(posterior).score.shape == (3,)
    assert difficulty(posterior).score.shape == (4,)
    compared = pairs(posterior, champion="a")
    assert np.isnan(compared.glass_delta).all()
    assert np.isfinite(compared.difference).all()
    with pytest.raises(ModelError, match="no spread of scores"):
        score_sd(posterior, 0)


def test_region_of_equivalence():
    got = region_of_equivalence(np.array([-0.2, -0.04, 0.0, 0.05, 0.3]), 0.05)
    assert (got.worse, got.equivalent, got.better) == pytest.approx((0.2, 0.6, 0.2))


# -- artifacts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "first"), [("best", "s1"), ("worst", "s5")])
def test_artifacts_come_best_first_or_worst_first(order, first):
    scores = simulated_posterior().scores
    tables = nested_tables(scores, ["s3", "s0"], order=order, steps=(1, 2, 4, 10))
    assert [m for m, _ in tables] == [1, 2, 4]
    assert tables[0][1].systems == ("s3", "s0", first)
    with pytest.raises(AlignmentError, match="nobody"):
        nested_tables(scores, ["nobody"], order=order)


# -- checks --------------------------------------------------------------------------------------


def test_checks_of_large_tables_are_made_part_by_part(monkeypatch):
    posterior = simulated_posterior("zoib", missing=3)
    whole = predictive_check(posterior, replicates=50, bins=20, seed=1)
    monkeypatch.setattr("surefoot.inference.bayes.checks.CELLS", 7 * posterior.scores.values.size)
    parts = predictive_check(posterior, replicates=50, bins=20, seed=1)
    np.testing.assert_allclose(parts.replicated, whole.replicated, rtol=1e-12)
    assert parts.histograms.shape == whole.histograms.shape
    assert parts.edges[-1] == pytest.approx(whole.edges[-1], abs=0.1)


@pytest.mark.parametrize("family", FAMILIES)
def test_predictive_checks_describe_replicates_and_leave_gaps_out(family):
    posterior = simulated_posterior(family, missing=3)
    got = predictive_check(posterior, replicates=50, bins=20, seed=1)
    assert got.replicated.shape == (50, len(STATISTICS))
    assert np.isfinite(got.replicated).all()
    assert (got.histogram * np.diff(got.edges)).sum() == pytest.approx(1, abs=0.02)
    outside = STATISTICS.index("share outside [0, 1]")
    if family == "zoib":
        assert (got.replicated[:, outside] == 0).all()
        assert (got.replicated[:, STATISTICS.index("share of zeros")] > 0).any()
    values = posterior.scores.values
    assert got.observed[0] == pytest.approx(np.nanmean(values))
