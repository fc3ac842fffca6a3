"""What the headline says first."""

import numpy as np
import pytest

import surefoot as sf


def table(systems):
    rng = np.random.default_rng(1)
    old = rng.uniform(0.3, 0.6, 30)
    shifts = {"old": 0.0, "best": 0.3, "better": 0.2, "worst": -0.3, "worse": -0.2}
    shifts |= {f"same{k}": 0.0 for k in range(systems - len(shifts))}
    rows = {s: old + d + rng.normal(0, 0.05, 30) for s, d in shifts.items()}
    return {s: {f"q{j}": float(v) for j, v in enumerate(row)} for s, row in rows.items()}


@pytest.mark.parametrize("weight", [{"alpha": 1}, {"r": 2}])
def test_more_than_eight_challengers_are_told_in_three_lists(weight):
    assert sf.risk(table(12), champion="old", **weight).headline[:4] == (
        "2 of 11 comparisons not safe, 2 safe, 7 unclear, with losses counted twice.",
        "Not safe: worst, worse.",
        "Safe: best, better.",
        "Unclear: same0, same1, same2, same3, same4, same5, same6.",
    )


def test_topics_of_more_than_eight_challengers_point_to_the_table():
    said = sf.topics(table(12), champion="old").headline
    assert len(said) == 9
    assert said[-1] == "And 3 more challengers in the table; --system chooses some."
    assert len(sf.topics(table(9), champion="old").headline) == 8


def test_a_few_challengers_get_a_sentence_each():
    said = sf.risk(table(6), champion="old").headline
    assert [sentence.split()[0] for sentence in said] == [
        "2",
        "Not",
        "Not",
        "Unclear:",
        "Safe:",
        "Safe:",
    ]


def test_several_champions_are_told_apart_in_the_lists():
    said = sf.risk(table(8), champion=["old", "same0"]).headline
    assert "Not safe: worst against " in said[1]
