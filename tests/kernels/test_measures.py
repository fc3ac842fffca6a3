"""The compiled measures against the formulas as printed, over all orders of tied documents."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import polygamma
from tests.strategies import judged_rankings

from surefoot.data.rankings import coded
from surefoot.kernels.measures import inst_user
from surefoot.kernels.reference import measures as printed
from surefoot.metrics.grammar import parse_measure
from surefoot.metrics.measure import TIES, Conditions

LEVEL = 1.0


def by_the_book(name, grades, judged, top, default, T_depth=4000):
    """Score of one ranking, from the reference formulas."""
    top = top or 1.0

    def binary(g):
        return 1.0 if g >= LEVEL else 0.0

    def linear(g):
        return max(g, 0.0)

    def unit(g):
        return max(g, 0.0) / top

    def exponential(g):
        return 2.0 ** max(g, 0.0) - 1

    full = {"unit": 1.0, "linear": top, "exp": 2.0**top - 1}
    relevant = [g for g in judged if g >= LEVEL]
    R = len(relevant)
    r = printed.filled(grades, binary, default)
    k = int(name.split("@")[1]) if "@" in name else 10**6
    match name.split("@")[0]:
        case "P":
            return printed.precision(r, k)
        case "R":
            return printed.recall(r, k, R)
        case "RR":
            return printed.reciprocal_rank(r[:k])
        case "AP":
            return printed.average_precision(r[:k], R)
        case "Rprec":
            return printed.r_precision(r, R)
        case "bpref":
            return printed.bpref(grades, judged, LEVEL)
        case "Success":
            return printed.success(r, k, 1)
        case "kcall(k=2)":
            return printed.success(r, k, 2)
        case "CG":
            return sum(printed.filled(grades, linear, default * full["linear"])[:k])
        case "DCG":
            return printed.dcg(printed.filled(grades, linear, default * full["linear"]), k)
        case "DCG(gain='exp',discount='letor')":
            gains = printed.filled(grades, exponential, default * full["exp"])
            return printed.dcg(gains, k, "letor")
        case "nDCG":
            return printed.ndcg(printed.filled(grades, linear, 0.0), [linear(g) for g in judged], k)
        case "nDCG(gain={1.0:3.0,2.0:0.5})":
            gain = {1: 3.0, 2: 0.5}
            return printed.ndcg(
                printed.filled(grades, lambda g: gain.get(g, linear(g)), 0.0),
                [gain.get(g, linear(g)) for g in judged],
                k,
            )
        case "RBP(p=0.8)":
            g = printed.filled(grades, unit, default)[:k]
            return printed.rbp_upper(g, 0.8) if default else printed.rbp(g, 0.8)
        case "ERR":
            stop = 2.0**top
            g = printed.filled(
                grades, lambda x: (2 ** max(x, 0.0) - 1) / stop, default * (stop - 1) / stop
            )
            return printed.err(g[:k])
        case "ERR(variant='thesis')":
            g = printed.filled(grades, lambda x: (2 ** unit(x) - 1) / 2, default / 2)
            return printed.err(g[:k])
        case "INST(T=1.5)":
            g = printed.filled(grades, unit, default)
            return printed.inst(g, 1.5, default, T_depth)[0]
    raise AssertionError(name)


EXACT = ["R@3", "AP", "AP@3", "Rprec", "bpref", "nDCG", "nDCG@3", "nDCG(gain={1.0:3.0,2.0:0.5})@4"]
BOUNDED = [
    *("P@3", "RR", "RR@2", "Success@2", "kcall(k=2)@3", "CG@3", "DCG@4", "RBP(p=0.8)"),
    *("DCG(gain='exp',discount='letor')@4", "RBP(p=0.8)@3", "ERR@5", "ERR(variant='thesis')"),
]


def orders(grades, scores):
    """Every ranking that the scores allow."""
    groups = []
    for _, group in itertools.groupby(zip(scores, grades, strict=True), key=lambda x: x[0]):
        groups.append(list(itertools.permutations([g for _, g in group])))
    return [[g for part in parts for g in part] for parts in itertools.product(*groups)]


def topics_of(judged):
    for i in range(len(judged.topics)):
        rows = slice(judged.offsets[i], judged.offsets[i + 1])
        grades = [None if math.isnan(g) else g for g in judged.grade[rows]]
        rest = slice(judged.qrel_offsets[i], judged.qrel_offsets[i + 1])
        yield grades, judged.score[rows].tolist(), judged.qrel_grade[rest].tolist()


@pytest.mark.parametrize("name", [*EXACT, *BOUNDED])
@settings(max_examples=60)
@given(judged=judged_rankings())
def test_compiled_equals_the_formulas_as_printed(name, judged):
    scores = parse_measure(name).score(judged, Conditions())
    for i, (grades, _, all_grades) in enumerate(topics_of(judged)):
        expected = by_the_book(name, grades, all_grades, judged.max_grade, 0.0)
        assert scores.value[i] == pytest.approx(expected, abs=1e-12)
        assert scores.lower[i] == scores.value[i]
        if name in BOUNDED:
            most = by_the_book(name, grades, all_grades, judged.max_grade, 1.0)
            assert scores.upper[i] == pytest.approx(most, abs=1e-12)
        else:
            assert scores.upper[i] == scores.value[i]


@pytest.mark.parametrize("name", [*EXACT, *BOUNDED])
@settings(max_examples=25)
@given(judged=judged_rankings(topics=(1, 2), length=(0, 5)))
def test_ties_equal_all_orders_enumerated(name, judged):
    measure = parse_measure(name)
    settled = {t: measure.score(judged, Conditions(ties=t)) for t in ("expected", "best", "worst")}
    for i, (grades, ranks, all_grades) in enumerate(topics_of(judged)):
        for bound, default in (("value", 0.0), ("upper", 1.0)):
            if bound == "upper" and name in EXACT:
                continue
            all_orders = [
                by_the_book(name, g, all_grades, judged.max_grade, default)
                for g in orders(grades, ranks)
            ]
            expected = {
                "expected": np.mean(all_orders),
                "best": max(all_orders),
                "worst": min(all_orders),
            }
            for ties, scores in settled.items():
                assert getattr(scores, bound)[i] == pytest.approx(expected[ties], abs=1e-9)


@settings(max_examples=60)
@given(judged=judged_rankings(), T=st.floats(0.5, 12))
def test_inst_equals_the_algorithm_run_deep(judged, T):
    depth = 60_000
    from surefoot.metrics.inst import Inst

    table = Inst(T=T).table(judged, Conditions(), T)
    top = judged.max_grade or 1.0
    for i, (grades, _, _) in enumerate(topics_of(judged)):
        if i:
            break  # deep loops in plain Python: one topic is enough
        for column, default in ((0, 0.0), (1, 1.0)):
            gains = printed.filled(grades, lambda g: max(g, 0.0) / top, default)
            score, total = printed.inst(gains, T, default, depth if default == 0 else 5000)
            # the truncated sum misses about 1/depth of the weight
            assert table[i, column] == pytest.approx(score, rel=1e-3, abs=1e-9)
            assert table[i, column + 2] == pytest.approx(total, rel=1e-3)
        assert table[i, 1] >= table[i, 0] - 1e-12


@pytest.mark.parametrize("T", [0.5, 1.0, 2.5, 10.0, 300.0])
def test_tail_of_zero_gains_is_a_trigamma(T):
    # an empty ranking: E(W) = (2T)^2 psi_1(2T)
    w, _, _ = inst_user(np.zeros(1), T, tail_gain=0.0)
    assert 1 / w[0] == pytest.approx((2 * T) ** 2 * polygamma(1, 2 * T), rel=1e-12)


@pytest.mark.parametrize("name", [*EXACT, *BOUNDED, "INST(T=3)"])
@given(judged=judged_rankings(topics=(1, 60), length=(0, 4)))
@settings(max_examples=5)
def test_threads_change_nothing(name, judged):
    measure = parse_measure(name)
    one, many = (measure.score(judged, Conditions(threads=n)) for n in (1, 3))
    assert one.value.tobytes() == many.value.tobytes()
    assert one.upper.tobytes() == many.upper.tobytes()


@pytest.mark.parametrize("ties", [t for t in TIES if t != "expected"])
@settings(max_examples=40)
@given(judged=judged_rankings(length=(0, 12)), T=st.floats(0.5, 10))
def test_bounds_enclose_every_way_to_judge_the_rest(ties, judged, T):
    measures = [parse_measure(n) for n in ("ERR@10", "RBP(p=0.9)", "P@5", f"INST(T={T!r})")]
    rng = np.random.default_rng(0)
    completed = judged.grade.copy()
    unknown = np.isnan(completed)
    completed[unknown] = rng.integers(0, int(judged.max_grade) + 1, unknown.sum())
    code, levels = coded(completed)
    for measure in measures:
        scores = measure.score(judged, Conditions(ties=ties))
        then = measure.score(replace(judged, code=code, levels=levels), Conditions(ties=ties))
        assert (then.value >= scores.lower - 1e-12).all()
        assert (then.value <= scores.upper + 1e-12).all()


@pytest.mark.parametrize("ties", TIES)
@settings(max_examples=10)
@given(judged=judged_rankings(length=(0, 12)))
def test_the_width_of_codes_changes_nothing(ties, judged):
    wide = replace(judged, code=judged.code.astype(np.uint32))
    for name in ("AP", "nDCG", "RR", "P@5", "bpref", "ERR@10", "RBP(p=0.9)", "Success@3", "Rprec"):
        measure = parse_measure(name)
        for column in ("value", "lower", "upper"):
            ours, theirs = (
                getattr(measure.score(j, Conditions(ties=ties)), column) for j in (judged, wide)
            )
            np.testing.assert_array_equal(ours, theirs)
