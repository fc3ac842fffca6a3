import numpy as np
import pytest
from hypothesis import given
from tests.strategies import score_matrices

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import AlignmentError, InputError


def matrix(**options):
    defaults = {"systems": ("a", "b"), "topics": ("x", "y"), "values": [[0.1, 0.2], [0.3, np.nan]]}
    return ScoreMatrix(**{**defaults, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": ("a", "a")}, "system 'a' occurs more than once"),
        ({"topics": ("x", "x")}, "topic 'x' occurs more than once"),
        ({"values": [[0.1, 0.2]]}, r"values must have shape \(2, 2\)"),
        ({"values": [[0.1, np.inf], [0, 0]]}, "system 'a' on topic 'y' is infinite"),
        ({"lower": [[0, 0], [0, 0]]}, "must be given together"),
        (
            {"lower": [[0.2, 0], [0, 0]], "upper": [[1, 1], [1, 1]]},
            "do not enclose its score",
        ),
    ],
)
def test_a_malformed_matrix_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        matrix(**options)


def test_values_are_copied_and_read_only():
    values = np.array([[0.1, 0.2], [0.3, 0.4]])
    scores = matrix(values=values)
    values[0, 0] = 9.0
    assert scores.values[0, 0] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0] = 1.0


def test_rows_are_aligned_by_topic_whatever_their_order():
    scores = ScoreMatrix.from_long(
        ["a", "a", "b", "b"], ["x", "y", "y", "x"], [1.0, 2.0, 20.0, 10.0]
    )
    assert scores.values.tolist() == [[1.0, 2.0], [10.0, 20.0]]


def test_a_missing_cell_is_missing_and_not_zero():
    scores = ScoreMatrix.from_dict({"a": {"x": 1.0, "y": 0.0}, "b": {"x": 0.5}})
    assert scores.missing.tolist() == [[False, False], [False, True]]
    assert scores.means().tolist() == [0.5, 0.5]


def test_a_system_that_scores_a_topic_twice_is_refused():
    with pytest.raises(InputError, match="'a' has more than one score on topic 'x'"):
        ScoreMatrix.from_long(["a", "a"], ["x", "x"], [1.0, 2.0])


@pytest.mark.parametrize("by", ["systems", "topics"])
def test_an_unknown_name_gets_the_nearest_known_one(by):
    names = ("challenger1", "other")
    scores = ScoreMatrix(names, names, np.zeros((2, 2)))
    with pytest.raises(AlignmentError, match="did you mean 'challenger1'"):
        scores.select(**{by: ["chalenger1"]})


@given(score_matrices(missing=True))
def test_long_form_round_trips(scores):
    rows = list(scores.long())
    if not rows:
        return
    again = ScoreMatrix.from_long(*(list(c) for c in zip(*rows, strict=True)))
    for system, topic, value in rows:
        j = again.topics.index(topic)
        assert again.row(system)[j] == value
