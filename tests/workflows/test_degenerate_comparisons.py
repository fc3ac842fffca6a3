"""Identical systems, one topic, constant scores, missing cells, all-zero topics: never NaN without
a word, never a stray warning, never a traceback."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import surefoot as sf
from surefoot.errors import SurefootError, UnreliableWarning
from surefoot.inference.intervals import METHODS
from surefoot.workflows.compare import PAIRED, TESTS

NAN = float("nan")
SCORE = st.sampled_from([0.0, 0.0, 0.25, 0.5, 0.5, 1.0, 0.3, NAN])


@st.composite
def tables(draw, topics=(1, 6)):
    n = draw(st.integers(*topics))
    names = ("old", "new", "other")
    rows = {s: draw(st.lists(SCORE, min_size=n, max_size=n)) for s in names}
    if draw(st.booleans()):
        rows["new"] = rows["old"]
    elif draw(st.booleans()):
        rows["new"] = [v + 0.1 for v in rows["old"]]
    return {s: {f"q{j}": v for j, v in enumerate(row)} for s, row in rows.items()}


def said(row, *numbers):
    """Every number that is missing is explained in the note of its row."""
    missing = [k for k in numbers if row[k] is None or math.isnan(row[k])]
    return not missing or bool(row["note"])


def attempt(verb, *args, **options):
    """The rows, or none where one line says why there are none."""
    message = ""
    try:
        return verb(*args, **options).rows()
    except SurefootError as error:
        message = str(error)
    assert len(message.splitlines()) == 1
    return []


@given(tables())
def test_risk(table):
    numbers = ("u_risk", "se_parametric", "t_risk", "p_value", "z_risk", "geo_risk", "f_risk")
    for champion in ("old", "mean", "median", "max"):
        for row in attempt(sf.risk, table, champion=champion, alpha=[0, 5]):
            assert said(row, *numbers), row


@pytest.mark.filterwarnings("ignore::surefoot.errors.UnreliableWarning")
@given(tables(), st.sampled_from([0, 5]))
def test_intervals(table, alpha):
    options = {"champion": "old", "alpha": alpha, "method": METHODS, "resamples": 99}
    for row in attempt(sf.intervals, table, **options):
        assert said(row, "low", "high", "estimate"), row


@given(tables(), st.sampled_from(TESTS))
def test_tests(table, test):
    champion = None if test == "anova" else "old"
    for row in attempt(sf.test, table, champion=champion, test=test, resamples=99):
        if test != "anova":
            numbers = ("statistic", "p_value", "p_adjusted", "effect_size", "mean_difference")
            assert said(row, *numbers, "low", "high"), row


@given(tables())
def test_topics(table):
    for row in attempt(sf.topics, table, champion="old", system="new", alpha=1):
        if math.isnan(row["t_j"]):
            assert row["note"], row


TABLE = {
    "old": {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.0},
    "same": {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.0},
    "plus": {"a": 0.6, "b": 0.5, "c": 0.4, "d": 0.1},
    "none": {"a": NAN, "b": NAN, "c": NAN, "d": 0.1},
}


@pytest.mark.parametrize("test", PAIRED)
def test_what_the_documents_promise(test):
    rows = {r["system"]: r for r in sf.test(TABLE, champion="old", test=test).rows()}
    assert rows["same"]["p_value"] == 1
    assert rows["same"]["effect_size"] == 0
    assert "same on every topic" in rows["plus"]["note"]
    assert (rows["plus"]["low"], rows["plus"]["high"]) == pytest.approx((0.1, 0.1))
    if test == "t":
        assert rows["plus"]["p_value"] == 0
        assert rows["plus"]["statistic"] == math.inf
    assert rows["none"]["note"]


def test_max_t_of_a_constant_difference_is_infinite_not_the_rounding_of_it():
    rows = {r["system"]: r for r in sf.test(TABLE, champion="old", test="maxt").rows()}
    assert rows["plus"]["statistic"] == math.inf
    assert rows["same"]["statistic"] == 0


def test_intervals_of_a_constant_difference_are_a_point_without_alarm(recwarn):
    table = {s: TABLE[s] for s in ("old", "same", "plus")}
    found = sf.intervals(table, champion="old", method=METHODS)
    assert (found.low == found.high).all()
    assert not [w for w in recwarn if issubclass(w.category, UnreliableWarning)]


def test_risk_test_and_gate_agree_on_a_constant_difference():
    row = next(r for r in sf.risk(TABLE, champion="plus", alpha=0).rows() if r["system"] == "old")
    tested = next(r for r in sf.test(TABLE, champion="plus").rows() if r["system"] == "old")
    assert (row["t_risk"], row["p_value"]) == (tested["statistic"], tested["p_value"])
    assert (row["t_risk"], row["p_value"], row["verdict"]) == (-math.inf, 0.0, "risky")
    assert not sf.gate(TABLE, champion="plus", systems="old", fail_if="t_risk(alpha=0) < -2").passed


@pytest.mark.parametrize("test", [*PAIRED, "maxt"])
def test_no_topic_in_common_is_no_evidence(test):
    table = {
        "old": {"a": 0.5, "b": 0.4, "c": 0.2},
        "new": {"d": 0.5},
        "third": {"a": 0.1, "c": 0.3},
    }
    row = sf.test(table, champion="old", test=test, systems="new").rows()
    row = next(iter(row))
    assert math.isnan(row["p_value"])
    assert math.isnan(row["statistic"])
    assert row["note"]


@pytest.mark.parametrize("test", ["anova", "tukey", "maxt"])
def test_too_few_topics_that_all_have_are_counted(test):
    table = {"a": {"x": 0.1, "y": 0.2}, "b": {"x": 0.3}, "c": {"x": 0.3, "y": 0.2}}
    with pytest.raises(SurefootError, match=r"only 1 topic has a score of every system"):
        sf.test(table, test=test)


def test_a_table_without_differences_between_topics_has_no_f_for_them():
    flat = {s: dict.fromkeys("abcdef", v) for s, v in (("old", 0.5), ("new", 0.4), ("x", 0.3))}
    rows = {r["system"]: r for r in sf.test(flat, test="anova").rows()}
    assert rows["systems"]["statistic"] == math.inf
    assert rows["topics"]["sum_of_squares"] == 0
    assert math.isnan(rows["topics"]["statistic"])
    assert rows["topics"]["note"]


@given(tables(topics=(1, 12)))
def test_tables_of_many_systems_say_why_a_number_is_missing(table):
    for verb, numbers in (
        (sf.normality, ("w", "d", "skewness")),
        (sf.orders, ("kendall_tau",)),
        (sf.stability, ("error_rate", "swap_rate", "sure_difference")),
    ):
        options = {"trials": 5} if verb is sf.stability else {}
        for row in attempt(verb, table, **options):
            assert said(row, *numbers), row
    for row in attempt(sf.frontier, table, champion="old"):
        assert said(row, "risk", "reward", "percent_gain"), row


def test_an_effect_size_that_is_missing_says_why():
    table = {"flat": {"a": 0.5, "b": 0.5}, "new": {"a": 0.4, "b": 0.6}}
    result = sf.test(table, champion="flat", test="sign")
    assert np.isnan(result.hedges_g[0])
    assert np.isnan(result.glass_delta[0])
    assert "Hedges' g needs three topics" in result.note[0]
    assert "Glass's delta needs another system whose scores vary" in result.note[0]
