"""Identical systems, one topic, constant scores, missing cells, all-zero topics: never NaN without
a word, never a stray warning, never a traceback."""

import math

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
