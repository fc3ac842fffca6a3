import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InputError

ONE = {"q1": {"a": 3.0, "b": 2.0, "c": 2.0}, "q2": {"d": 1.0}}
OTHER = {"q1": {"b": 0.9, "e": 0.1}, "q3": {"f": 5.0}}


def test_runs_become_ranked_rows_in_trec_order():
    found = sf.active.pool({"new": ONE, "old": OTHER})
    rows = list(zip(*(found.table[k] for k in ("topic", "ranking", "rank", "doc")), strict=True))
    assert rows == [
        ("q1", "new", 1, "a"),
        # equal scores: the larger document id first, as trec_eval
        ("q1", "new", 2, "c"),
        ("q1", "new", 3, "b"),
        ("q1", "old", 1, "b"),
        ("q1", "old", 2, "e"),
        ("q2", "new", 1, "d"),
        ("q3", "old", 1, "f"),
    ]
    assert found.headline == (
        "3 queries, 2 rankings (new, old).",
        "2 queries are not in every run; a ranking shows nothing for those that it lacks.",
    )
    # standardised within query and ranking; nothing to standardise in a list of one
    np.testing.assert_allclose(found.table["score"][3:], [1, -1, 0, 0])
    assert sum(found.table["score"][:3]) == pytest.approx(0, abs=1e-5)


def test_a_pool_of_runs_is_planned_as_it_is(tmp_path):
    rng = np.random.default_rng(1)
    runs = {
        name: {f"q{q}": {f"d{q}-{d}": rng.normal() for d in range(8)} for q in range(30)}
        for name in "AB"
    }
    joined = sf.active.pool(runs, depth=5)
    assert max(joined.table["rank"]) == 5
    planned = sf.active.plan(
        joined.columns(), tmp_path / "s.db", measure="ERR@5", compare=True, grades=3, budget=10
    )
    assert planned.topics == 30
    assert planned.rankings == ("A", "B")


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        ([], {}, "there is no run to make a pool of"),
        ([ONE, OTHER], {}, "two runs have the name 'run'. Hint: rename a file"),
        ({"a": ONE}, {"depth": 0}, "depth must be at least 1, got 0"),
    ],
)
def test_what_is_no_pool_is_refused(runs, options, message):
    with pytest.raises(InputError, match=message):
        sf.active.pool(runs, **options)
