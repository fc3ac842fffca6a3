"""Tables that models choke on: each gives a finite answer, or one line that says why not."""

import warnings

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import UnreliableWarning

FAMILIES = ("gaussian", "zoib")


def table(values):
    values = np.asarray(values, dtype=float)
    return sf.ScoreMatrix(
        tuple(f"s{i}" for i in range(values.shape[0])),
        tuple(f"t{j}" for j in range(values.shape[1])),
        values,
    )


def random(shape, seed=0):
    return np.random.default_rng(seed).beta(2, 2, shape)


def risk(values, family, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)  # small tables may be doubted, in words
        return sf.ppd_risk(table(values), champion="s0", r=5, family=family, draws=2_000, **options)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shape", [(2, 2), (2, 12), (3, 1), (8, 1), (2, 40)])
def test_few_systems_or_topics_give_finite_intervals_that_hold_the_median(family, shape):
    for row in risk(random(shape), family).rows():
        assert row["low"] < row["median"] < row["high"]
        assert 0 < row["p_risky"] < 1


@pytest.mark.parametrize("family", FAMILIES)
def test_missing_cells_widen_but_do_not_break(family):
    values = random((6, 20))
    holes = values.copy()
    holes[np.random.default_rng(1).random(values.shape) < 0.4] = np.nan
    full, partial = risk(values, family), risk(holes, family)
    assert np.isfinite(partial.median).all()
    width = (partial.high - partial.low).mean() / (full.high - full.low).mean()
    assert 0.9 < width < 3


def test_forecasts_cover_topics_that_were_not_observed():
    values = random((6, 20))
    values[3, 5] = np.nan
    got = sf.forecast(table(values), champion="s0", systems=["s3"], draws=2_000)
    assert np.isnan(got.observed_delta[0, 5])
    assert np.isfinite(got.p_worse).all()


def test_identical_systems_are_exchangeable():
    values = np.repeat(random((2, 15)), [3, 1], axis=0) + 0.0
    got = risk(values, "zoib")
    # s0, s1 and s2 have the same scores: neither is riskier as seen from the other
    assert abs(got.median[0, 0] - got.median[1, 0]) < 0.03
    ranks = sf.ranks(table(values), family="zoib", draws=4_000)
    same = [ranks.systems.index(f"s{i}") for i in range(3)]
    for i in same:
        for j in same:
            if i != j:
                assert ranks.p_better[i, j] == pytest.approx(0.5, abs=0.05)
                assert not ranks.distinct[i, j]


@pytest.mark.parametrize(
    ("values", "family", "message"),
    [
        (np.full((3, 12), 0.5), "gaussian", "no spread to model"),
        (np.tile(random(12), (3, 1)), "gaussian", "without any noise"),
        (np.zeros((3, 12)), "zoib", "strictly between 0 and 1"),
        (random((2, 1)), "gaussian", "at least 3 scores"),
        (random((1, 12)), "gaussian", "no system but the champion"),
        (5 * random((3, 12)), "zoib", "gaussian"),
    ],
)
def test_what_cannot_be_modelled_is_one_clear_line(values, family, message):
    with pytest.raises(sf.SurefootError, match=message) as caught:
        risk(values, family)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("topics", [1, 30])
def test_an_all_zero_topic_is_hard(topics):
    values = random((6, topics + 1))
    values[:, 0] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        got = sf.difficulty(table(values), family="gaussian", draws=2_000)
    assert got.topics[0] == "t0"


def test_scores_on_0_to_100_scale_the_risk():
    values = random((5, 25))
    small, large = risk(values, "gaussian"), risk(100 * values, "gaussian")
    # the default priors follow the scores only roughly, so the scale is not exact
    np.testing.assert_allclose(large.median / 100, small.median, atol=0.03)
