"""Agreement of orders, frontiers and stability."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.overlays.frontier import dominator, efficient, r_loss
from surefoot.overlays.kendall import kendall_tau
from surefoot.overlays.rbo import rbo
from surefoot.overlays.stability import stability


def overlap_to(first, second, depth, p):
    """The definition, cut off: (1 - p) sum of p^(d-1) |overlap at d| / d."""
    return (1 - p) * sum(
        p ** (d - 1) * len(set(first[:d]) & set(second[:d])) / d for d in range(1, depth + 1)
    )


@given(st.permutations(range(8)), st.permutations(range(8)), st.sampled_from([0.5, 0.8, 0.9]))
def test_rbo_encloses_every_continuation(first, second, p):
    found = rbo(first[:5], second[:5], p=p)
    rest_first = [x for x in range(8) if x not in first[:5]]
    rest_second = [x for x in range(8) if x not in second[:5]]
    tail = list(range(100, 400))
    for end_first, end_second in (
        (rest_first + tail, rest_second + tail),
        ([-x - 1 for x in range(300)], [-x - 1000 for x in range(300)]),
    ):
        value = overlap_to(first[:5] + end_first, second[:5] + end_second, 300, p)
        assert found.low - 1e-9 <= value <= found.high + 1e-9


def test_rbo_bounds_are_attained():
    same = rbo("abc", "abc", p=0.9)
    assert same.high == pytest.approx(1.0)
    apart = rbo("abc", "xyz", p=0.9)
    assert apart.low == 0.0
    # at best the next three ranks bring exactly the items of the other list
    best = overlap_to(
        list("abcxyz") + list(range(500)), list("xyzabc") + list(range(500)), 500, 0.9
    )
    assert apart.high == pytest.approx(best, abs=1e-9)
    with pytest.raises(InputError, match="equally long"):
        rbo("ab", "a")
    with pytest.raises(InputError, match="twice"):
        rbo("aa", "ab")


def test_kendall_tau_b_counts_ties():
    assert kendall_tau(np.array([1.0, 2, 3]), np.array([1.0, 2, 3])) == 1
    assert kendall_tau(np.array([1.0, 2, 3]), np.array([3.0, 2, 1])) == -1
    # scipy.stats.kendalltau([1, 2, 2, 4, 5], [2, 1, 3, 3, 4]).statistic
    value = kendall_tau(np.array([1.0, 2, 2, 4, 5]), np.array([2.0, 1, 3, 3, 4]))
    assert value == pytest.approx(0.6666666666666666)
    assert math.isnan(kendall_tau(np.ones(3), np.arange(3.0)))


@pytest.fixture(scope="module")
def web2012(shared_data):
    runs = sf.read_scores(shared_data / "web2012" / "web2012_err20.csv")
    champion = sf.read_scores(shared_data / "web2012" / "indriCASP_per_topic.csv")
    values = np.vstack([runs.values, champion.row("err20")])
    return ScoreMatrix((*runs.systems, "indriCASP"), champion.topics, values)


@pytest.mark.parametrize(
    ("champion", "overlay", "printed"),
    [("indriCASP", "u_risk", 0.903), ("mean", "z_risk", 0.316), ("mean", "geo_risk", 0.8757)],
)
def test_figure_3_5_of_the_thesis(web2012, champion, overlay, printed):
    """GeoRisk is printed as .937, which has the sign slip of Table 3.3; Eq. 3.5 gives .8757."""
    found = sf.orders(
        web2012, champion=champion, overlays=[overlay], values=["linear", "smooth"], alpha=1
    )
    assert found.systems == (48 if champion == "indriCASP" else 49)
    assert found.rbo_low[0] == pytest.approx(printed, abs=5.1e-4 if printed != 0.8757 else 5.1e-5)


def test_the_frontier_has_what_nothing_beats():
    risk = np.array([0.1, 0.2, 0.2, 0.3, 0.05, 0.3, np.nan])
    reward = np.array([0.2, 0.3, 0.25, 0.3, 0.1, 0.5, 1.0])
    assert efficient(risk, reward).tolist() == [True, True, False, False, True, True, False]
    assert dominator(risk, reward, 3) == 5
    assert dominator(risk, reward, 0) is None


points = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)


@given(points)
def test_a_setting_is_efficient_exactly_when_nothing_beats_it(pairs):
    risk, reward = (np.array(v, dtype=float) for v in zip(*pairs, strict=True))
    found = efficient(risk, reward)
    for i in range(len(pairs)):
        assert found[i] == (dominator(risk, reward, i) is None)


def test_r_loss_counts_the_documents_lost():
    relevant = np.array([[3.0, 1.0, 5.0], [4.0, 4.0, 4.0]])
    champion = np.array([4.0, 4.0, 4.0])
    assert r_loss(relevant, champion).tolist() == [4.0, 0.0]
    assert r_loss(relevant, champion, net=True).tolist() == [3.0, 0.0]


def test_the_frontier_verb():
    scores = {
        "old": {"a": 0.4, "b": 0.4},
        "bold": {"a": 0.9, "b": 0.2},
        "meek": {"a": 0.5, "b": 0.4},
        "poor": {"a": 0.4, "b": 0.1},
    }
    found = sf.frontier(scores, champion="old", families={"bold": "x", "poor": "x", "meek": "y"})
    by_name = {r["system"]: r for r in found.rows()}
    assert [by_name[s]["efficient_overall"] for s in ("bold", "meek", "poor")] == [1, 1, 0]
    assert by_name["poor"]["beaten_by"] == "bold"
    counts = {s: {"a": 5, "b": 5 - k} for k, s in enumerate(scores)}
    lost = sf.frontier(scores, champion="old", risk="r_loss", relevant=counts)
    assert {r["system"]: r["risk"] for r in lost.rows()} == {"bold": 1, "meek": 2, "poor": 3}
    with pytest.raises(InputError, match="relevant documents"):
        sf.frontier(scores, champion="old", risk="r_loss")


def test_stability_of_a_measure_that_never_errs_and_of_noise():
    clear = np.arange(4.0)[:, None] + np.zeros((4, 40))
    sure = stability(lambda c: clear[:, c].mean(axis=1), 40, topics=10)
    assert (sure.error_rate, sure.swap_rate, sure.tie_rate) == (0.0, 0.0, 0.0)
    noise = np.random.default_rng(0).random((6, 40))
    noisy = stability(lambda c: noise[:, c].mean(axis=1), 40, topics=10, fuzziness=0.0)
    assert noisy.error_rate > 0.1
    assert noisy.swap_rate > 0.3
    again = stability(lambda c: noise[:, c].mean(axis=1), 40, topics=10, fuzziness=0.0)
    assert noisy == again


def test_the_mean_is_steadier_on_more_topics(web2012):
    found = sf.stability(web2012, overlays=["mean", "geo_risk"], topics=[10, 25], trials=60)
    assert found.error_rate[1] < found.error_rate[0]
    assert found.swap_rate[1] < found.swap_rate[0]
    assert not math.isnan(found.sure_difference[1])
