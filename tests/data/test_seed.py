import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InputError

TABLE = {s: {"q1": 0.1, "q2": 0.5, "q3": 0.4} for s in ("old", "new", "other")}
VERBS = {
    "intervals": {"champion": "old"},
    "test": {"champion": "old"},
    "power": {"champion": "old"},
    "normality": {"champion": "old"},
    "gate": {"champion": "old", "fail_if": "losses > 1"},
    "stability": {},
    "fit": {},
    "models": {},
    "ppd_risk": {"champion": "old"},
    "brisk": {"champion": "old"},
    "forecast": {"champion": "old"},
    "ranks": {},
    "pairs": {"champion": "old"},
    "difficulty": {},
    "paired": {"champion": "old", "challenger": "new"},
    "artifacts": {"champion": "old", "challengers": ["new"]},
    "check": {},
    "train": {"objective": None},
    "cross_validate": {"work": "work"},
}


def test_the_table_holds_every_verb_with_a_seed():
    seeded = {
        name
        for name in sf.__all__
        if "seed" in getattr(getattr(sf, name), "__annotations__", {}) and name.islower()
    }
    assert seeded == set(VERBS)


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, "1", None])
@pytest.mark.parametrize("verb", VERBS)
def test_a_seed_that_no_generator_takes_is_refused(tmp_path, monkeypatch, verb, seed):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="the seed must be an integer from 0 to below 2"):
        getattr(sf, verb)(TABLE, seed=seed, **VERBS[verb])


@pytest.mark.parametrize("seed", [0, 2**63 - 1, np.uint32(7)])
def test_any_word_is_a_seed(seed):
    assert len(sf.intervals(TABLE, champion="old", seed=seed)) == 2
