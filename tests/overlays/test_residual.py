"""Ranges over all completions of the judgments, against brute force."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.data.scores import ScoreMatrix
from surefoot.overlays.residual import certainty, t_range


def t_of(x):
    s = x.std(ddof=1)
    if s > 1e-12:
        return x.mean() / (s / math.sqrt(len(x)))
    return 0.0 if abs(x.mean()) < 1e-12 else math.copysign(math.inf, x.mean())


BOUNDS = st.lists(
    st.tuples(st.floats(-1, 1, width=16), st.sampled_from([0.0, 0.0, 0.125, 0.5])),
    min_size=2,
    max_size=5,
)


@given(BOUNDS)
def test_the_range_of_t_encloses_every_completion(bounds):
    low = np.array([b for b, _ in bounds])
    high = low + np.array([w for _, w in bounds])
    t_low, t_high = t_range(low, high)
    grid = [np.linspace(a, b, 5) if b > a else [a] for a, b in zip(low, high, strict=True)]
    found = [t_of(np.array(x)) for x in itertools.product(*grid)]
    for bound, value in ((-t_low, -min(found)), (t_high, max(found))):
        assert bound >= value or bound == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_range_of_t_is_attained_where_sums_of_both_signs_are_possible(seed):
    """Exact there: the maximum is at x_i = clip(lambda, low_i, high_i), found on a fine grid."""
    rng = np.random.default_rng(seed)
    low = rng.normal(0, 0.5, 8)
    high = low + rng.random(8)
    _, t_high = t_range(low, high)
    best = max(t_of(np.clip(point, low, high)) for point in np.linspace(0, 3, 20_001))
    assert t_high == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_the_range_of_t_is_tight_but_for_one_topic(seed):
    """With every sum negative the highest t is enclosed; a vertex comes close."""
    rng = np.random.default_rng(seed)
    low = -rng.random(12) - 0.5
    high = low + 0.3 * rng.random(12)
    _, t_high = t_range(low, high)
    vertices = max(
        t_of(np.where(np.array(v), low, high)) for v in itertools.product([0, 1], repeat=12)
    )
    assert vertices <= t_high + 1e-9
    assert t_high == pytest.approx(vertices, rel=0.05)


def test_exact_scores_have_no_range():
    x = np.array([0.1, -0.3, 0.2, 0.05])
    assert t_range(x, x) == pytest.approx((t_of(x), t_of(x)))


def test_certainty_counts():
    low = np.array([-0.4, 0.1, -0.1, 0.0, np.nan])
    high = np.array([-0.2, 0.3, 0.1, 0.0, 0.1])
    found = certainty(low, high)
    assert (found.losses, found.wins, found.ties, found.undecided) == (1, 1, 1, 1)


def bounded(width):
    rng = np.random.default_rng(11)
    old = 0.5 + 0.2 * rng.random(30)
    new = old - 0.06 + 0.1 * rng.normal(size=30)
    values = np.clip(np.stack([old, new]), 0, 1)
    room = np.zeros((2, 30))
    room[:, :5] = width
    return ScoreMatrix(
        ("old", "new"),
        tuple(f"q{j}" for j in range(30)),
        values,
        lower=np.clip(values - room, 0, 1),
        upper=np.clip(values + room, 0, 1),
    )


def test_a_narrow_residual_leaves_the_verdict():
    result = sf.risk(bounded(0.001), champion="old")
    known = result.residual
    assert result.verdict == ("risky",)
    assert known.verdict == ("risky",)
    assert known.u_low[0] < result.u_risk[0] < known.u_high[0]
    assert known.t_low[0] < result.t_risk[0] < known.t_high[0]
    assert "the verdict stands" in " ".join(result.headline)


def test_a_wide_residual_opens_it_and_names_the_topics_that_decide():
    matrix = bounded(0.4)
    result = sf.risk(matrix, champion="old")
    known = result.residual
    assert known.verdict == ("open",)
    named = known.deciding_topics[0].split()
    assert 0 < len(named) <= 5
    assert set(named) <= {f"q{j}" for j in range(5)}
    assert named[0] in " ".join(result.headline)
    # with these judged as they score now, nothing else can change the verdict
    lower, upper = matrix.lower.copy(), matrix.upper.copy()
    columns = [matrix.topics.index(t) for t in named]
    lower[:, columns] = upper[:, columns] = matrix.values[:, columns]
    settled = ScoreMatrix(matrix.systems, matrix.topics, matrix.values, lower=lower, upper=upper)
    assert sf.risk(settled, champion="old").residual.verdict == result.verdict


def test_the_minus_form_turns_the_range_round():
    plain = sf.risk(bounded(0.1), champion="old", alpha=1).residual
    minus = sf.risk(bounded(0.1), champion="old", r=2).residual
    np.testing.assert_allclose(minus.u_low, -plain.u_high)
    np.testing.assert_allclose(minus.t_high, -plain.t_low)
    assert minus.verdict == plain.verdict


def test_the_exact_range_of_u_risk():
    matrix = bounded(0.1)
    known = sf.risk(matrix, champion="old", alpha=2).residual
    low = matrix.lower[1] - matrix.upper[0]
    high = matrix.upper[1] - matrix.lower[0]
    assert known.u_low[0] == pytest.approx(np.where(low < 0, 3 * low, low).mean())
    assert known.u_high[0] == pytest.approx(np.where(high < 0, 3 * high, high).mean())


@pytest.mark.parametrize("correction", ["none", "bonferroni", "holm", "bh"])
@pytest.mark.parametrize("seed", range(8))
def test_without_doubt_the_verdict_over_all_completions_is_the_verdict(correction, seed):
    """Whatever the correction; a hair of doubt in one cell lets the table count as bounded."""
    rng = np.random.default_rng(seed)
    shift = np.array([0.0, -0.05, -0.02, 0.015, 0.03, -0.025])
    values = 0.5 + 0.2 * rng.random(25) + shift[:, None] + 0.05 * rng.normal(size=(6, 25))
    upper = values.copy()
    upper[0, 0] += 1e-12
    names = tuple(f"s{i}" for i in range(6))
    topics = tuple(f"q{j}" for j in range(25))
    matrix = ScoreMatrix(names, topics, values, lower=values, upper=upper)
    result = sf.risk(
        matrix,
        champion="s0",
        alpha=[0, 1],
        correction=correction,
        slices={"a": topics[:12], "b": topics[12:]},
    )
    assert result.residual.verdict == result.verdict


def test_a_challenger_that_hangs_on_the_judgments_opens_what_holm_makes_of_the_others():
    """b is significant only if c is: where c is open, so is b."""
    rng = np.random.default_rng(2)
    old = 0.5 + 0.1 * rng.random(40)
    noise = rng.normal(size=(2, 40))
    noise = (noise - noise.mean(axis=1, keepdims=True)) / noise.std(axis=1, ddof=1, keepdims=True)
    # t of -2.15 and -2.5: p of .038 and .017, on 39 degrees of freedom
    values = np.stack([old, *(old + 0.05 * (noise + np.array([[-2.15], [-2.5]]) / math.sqrt(40)))])
    topics = tuple(f"q{j}" for j in range(40))
    for width, expected in ((1e-9, ("risky", "risky")), (0.05, ("open", "open"))):
        upper = values.copy()
        upper[2, :10] += width
        matrix = ScoreMatrix(("old", "b", "c"), topics, values, lower=values, upper=upper)
        result = sf.risk(matrix, champion="old", alpha=0)
        assert result.verdict == ("risky", "risky")
        assert result.residual.verdict == expected
    # no query of b can settle it: its own scores are certain
    assert result.residual.deciding_topics[0] == ""
    assert result.residual.deciding_topics[1] != ""
