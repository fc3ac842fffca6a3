"""The compiled lambdas against every pair written out, and their own promises."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from surefoot.kernels.lambdas import PairRisk, RiskKind, rank_documents, sigmoid_table
from surefoot.kernels.reference import lambdas as reference
from surefoot.learn.measures import LearningMeasure
from surefoot.learn.objectives import Objective, RankingGradient

MEASURES: dict[str, Callable[[np.ndarray], reference.Measure]] = {
    "nDCG@5": lambda gain: reference.ndcg(gain, 5),
    "nDCG": lambda gain: reference.ndcg(gain, gain.size),
    "AP": lambda gain: reference.average_precision(gain.size),
    "AP@4": lambda gain: reference.average_precision(4),
    "ERR@6": lambda gain: reference.expected_reciprocal_rank(6),
    "ERR": lambda gain: reference.expected_reciprocal_rank(gain.size),
    "RBP(p=0.8)": lambda gain: reference.rank_biased_precision(0.8, gain.size),
    "RBP(p=0.5)@3": lambda gain: reference.rank_biased_precision(0.5, 3),
    "INST(T=1)": lambda gain: reference.inst(1.0),
    "INST(T=3)": lambda gain: reference.inst(3.0),
    "INST(T=2.5)": lambda gain: reference.inst(2.5),
}


def collection(seed: int, queries: int = 12, longest: int = 14):
    """Queries of several lengths, one without any relevant document, with tied scores."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, queries)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    labels = rng.integers(0, 5, offsets[-1]).astype(np.float32)
    labels[offsets[2] : offsets[3]] = 0
    labels[0] = 4
    scores = np.round(rng.normal(size=offsets[-1]), 1)
    return offsets, labels, scores, rng


def by_query(offsets: np.ndarray) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(offsets.tolist())]


@pytest.mark.parametrize("name", MEASURES)
def test_measure_equals_its_definition(name: str) -> None:
    offsets, labels, scores, _ = collection(1)
    gradient = RankingGradient(Objective(name="ndcg", measure=name), offsets, labels)
    gain = LearningMeasure.parse(name, max_label=4).gains(labels)
    expected = [
        MEASURES[name](gain[q])(gain[q][np.argsort(-scores[q], kind="stable")])
        for q in by_query(offsets)
    ]
    np.testing.assert_allclose(gradient.effectiveness(scores), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("normalise", ["off", "risk-free", "weighted"])
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("risk", ["ndcg", "u-cro", "saro", "faro"])
def test_gradients_equal_every_pair_written_out(name: str, risk: str, normalise: str) -> None:
    offsets, labels, scores, rng = collection(7)
    champion = rng.uniform(0, 1, offsets.size - 1)
    objective = Objective(
        name=risk,
        alpha=5.0,
        measure=name,
        truncation_level=6,
        sigmoid=1.3,
        normalize=normalise,
        pair_weight="measure",
    )
    fit = RankingGradient(objective, offsets, labels, champions=champion)
    fit.iteration = 1
    gradient, hessian = fit.gradients(scores, double=True)
    now = fit.effectiveness(scores)
    part = fit.risk(now)
    gain = LearningMeasure.parse(name, max_label=4).gains(labels)
    for q, rows in enumerate(by_query(offsets)):
        alpha = 0.0 if part.alpha is None else float(part.alpha[q])

        def change(before: float, after: float, q: int = q, alpha: float = alpha) -> float:
            if part.kind == RiskKind.NONE:
                return abs(after - before)
            if part.kind == RiskKind.SCALE:
                return abs(after - before) * alpha
            return abs(
                reference.u_risk_term(after, champion[q], alpha)
                - reference.u_risk_term(before, champion[q], alpha)
            )

        expected = reference.query_lambdas(
            scores[rows],
            labels[rows],
            gain[rows],
            MEASURES[name](gain[rows]),
            change,
            truncation=6,
            sigmoid=1.3,
            normalise=normalise != "off",
            risk_free_sum=normalise == "risk-free",
        )
        np.testing.assert_allclose(gradient[rows], expected[0], rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(hessian[rows], expected[1], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("mode", ["refresh", "exact"])
@pytest.mark.parametrize("alpha", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("name", ["nDCG@5", "AP", "ERR", "RBP(p=0.8)", "INST(T=1)"])
def test_georisk_change_equals_recomputation(name: str, alpha: float, mode: str) -> None:
    offsets, labels, scores, rng = collection(3)
    champions = rng.uniform(0, 1, (3, offsets.size - 1))
    champions[:, 2] = 0.0  # an all-zero topic: z is 0 (errata ZRisk-6)
    objective = Objective(
        name="georisk",
        alpha=alpha,
        measure=name,
        truncation_level=30,
        normalize="off",
        pair_weight="measure",
        georisk=mode,
    )
    fit = RankingGradient(objective, offsets, labels, champions=champions)
    gradient, _ = fit.gradients(scores, double=True)
    now = fit.effectiveness(scores)
    gain = LearningMeasure.parse(name, max_label=4).gains(labels)
    topics = now.size
    base = reference.geo_risk(now, champions, alpha)
    for q, rows in enumerate(by_query(offsets)):

        def change(before: float, after: float, q: int = q) -> float:
            step = after - before
            if mode == "refresh":
                new = reference.geo_risk_refreshed(now, champions, alpha, q, step)
            else:
                moved = now.copy()
                moved[q] += step
                new = reference.geo_risk(moved, champions, alpha)
            # a swap that helps the query but not GeoRisk is worth nothing, not less
            return max(topics * (new - base) * np.sign(step), 0.0)

        expected, _ = reference.query_lambdas(
            scores[rows],
            labels[rows],
            gain[rows],
            MEASURES[name](gain[rows]),
            change,
            truncation=30,
        )
        np.testing.assert_allclose(gradient[rows], expected, rtol=1e-7, atol=1e-10)


def test_booster_weight_times_rate_equals_measure_where_both_see_all() -> None:
    """With cut-off and truncation beyond the lists, the two pair weights are one formula."""
    offsets, labels, scores, rng = collection(5)
    champion = rng.uniform(0, 1, offsets.size - 1)
    for name in ("u-cro", "georisk"):
        found = []
        for weight in ("booster", "measure"):
            objective = Objective(
                name=name, alpha=3.0, measure="nDCG", truncation_level=50, pair_weight=weight
            )
            fit = RankingGradient(objective, offsets, labels, champions=champion)
            found.append(fit.gradients(scores, double=True)[0])
        np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-12)


def test_u_cro_swap_across_the_champion_is_the_erratum() -> None:
    """errata ZRisk-5: M = .3, M_b = .35, dM = .1, alpha 5 is worth .35 (printed .1; other .6)."""
    before = reference.u_risk_term(0.3, 0.35, 5.0)
    after = reference.u_risk_term(0.4, 0.35, 5.0)
    assert after - before == pytest.approx(0.35)
    # the kernel: RBP at p = .5 moves one document of gain .4 from rank 2 (.1) to rank 1 (.2)
    offsets, labels = np.array([0, 2]), np.array([0.0, 2.0], dtype=np.float32)
    objective = Objective(
        name="u-cro",
        alpha=5.0,
        measure="RBP(p=0.5)",
        normalize="off",
        pair_weight="measure",
        max_label=5,
    )
    fit = RankingGradient(objective, offsets, labels, champions=[0.15])
    gradient, _ = fit.gradients([1.0, 1.0], double=True)
    # M = .1, M_b = .15, dM = .1: 6 x .05 + .05 = .35, times sigmoid(0) = 1/2
    np.testing.assert_allclose(gradient, [0.175, -0.175], rtol=1e-12)


@pytest.mark.parametrize("name", ["ndcg", "u-cro", "saro", "faro", "georisk"])
def test_threads_do_not_change_a_bit(name: str) -> None:
    offsets, labels, scores, rng = collection(11, queries=150, longest=40)
    champions = rng.uniform(0, 1, (2, offsets.size - 1))
    found = []
    for threads in (1, 2, 5):
        fit = RankingGradient(
            Objective(name=name, alpha=2.0), offsets, labels, champions=champions, threads=threads
        )
        fit(scores[::-1])
        found.append(fit(scores))
    for gradient, hessian in found[1:]:
        assert (gradient == found[0][0]).all()
        assert (hessian == found[0][1]).all()


def test_consistency_no_improving_swap_is_worth_less_than_nothing() -> None:
    """With per-topic refresh GeoRisk rises with every improving swap (errata ZRisk-3)."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        now, champions = rng.uniform(0, 1, 5), rng.uniform(0, 1, (3, 5))
        alpha, topic = rng.choice([0, 1, 5, 10]), rng.integers(5)
        step = rng.uniform(0, 1 - now[topic])
        risen = reference.geo_risk_refreshed(now, champions, alpha, topic, step)
        assert risen >= reference.geo_risk(now, champions, alpha) - 1e-15


def test_order_is_stable_and_best_first() -> None:
    order = rank_documents(np.array([0, 4, 6]), np.array([1.0, 2.0, 2.0, 0.0, 5.0, 5.0]))
    assert order.tolist() == [1, 2, 0, 3, 0, 1]


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 120, 384, 385, 1000])
def test_order_equals_a_stable_sort(n: int) -> None:
    rng = np.random.default_rng(n)
    score = rng.integers(-n // 4 - 2, n // 4 + 2, n).astype(float)  # many ties
    score[rng.random(n) < 0.05] = np.nan  # comes last, as -inf does
    score[rng.random(n) < 0.05] = -np.inf
    expected = np.argsort(-np.nan_to_num(score, nan=-np.inf, neginf=-np.inf), kind="stable")
    order = rank_documents(np.array([0, n]), score)
    assert order.tolist() == expected.tolist()


def test_sigmoid_table_is_the_logistic() -> None:
    table = sigmoid_table(2.0)
    x = -12.5 + np.arange(table.size) * 25.0 / table.size
    np.testing.assert_allclose(table, 1 / (1 + np.exp(2.0 * x)), rtol=1e-12)


def test_no_risk_is_the_default() -> None:
    assert PairRisk().kind == RiskKind.NONE
