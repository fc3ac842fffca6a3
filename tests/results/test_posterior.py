import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.results.posterior import Posterior


@pytest.fixture
def raw():
    rng = np.random.default_rng(0)
    draws = {name: rng.random(7) for name in ("b", "sigma", "sd_system", "sd_topic")}
    return draws | {"system": rng.random((7, 2)), "topic": rng.random((7, 3))}


@pytest.fixture
def posterior(raw):
    scores = ScoreMatrix(("A", "B"), ("1", "2", "3"), np.arange(6.0).reshape(2, 3))
    names = {"systems": scores.systems, "topics": scores.topics}
    return Posterior(family="gaussian", draws=raw, scores=scores, method="by hand", **names)


COPIES = {
    "itself": lambda p: p,
    "pickle": lambda p: pickle.loads(pickle.dumps(p)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "replace": lambda p: replace(p, method="again"),
}


@pytest.mark.parametrize("way", COPIES)
def test_draws_cannot_be_changed_in_any_copy(posterior, raw, way):
    made = COPIES[way](posterior)
    with pytest.raises(ValueError, match="read-only"):
        made.draws["b"][0] = 9
    with pytest.raises(TypeError):
        made.draws["b"] = np.ones(7)
    for name, values in raw.items():
        np.testing.assert_array_equal(made.draws[name], values)
    assert made.systems == posterior.systems
    assert repr(made) == repr(posterior)


def test_draws_are_not_copied_and_the_arrays_given_stay_writable(posterior, raw):
    assert all(np.shares_memory(posterior.draws[name], raw[name]) for name in raw)
    assert np.shares_memory(copy.copy(posterior).draws["topic"], raw["topic"])
    raw["b"][0] = 9.0
