import numpy as np
import pytest

from surefoot.inference.bayes.data_doubts import gathered, without_noise

SYSTEMS = [f"s{i}" for i in range(8)]


def table(n_topics=50, seed=1, rate=0.05):
    rng = np.random.default_rng(seed)
    y = rng.beta(2, 3, (8, n_topics))
    y[rng.random(y.shape) < rate] = 0.0
    return y


def said_of(y, kind="system", value=0.0):
    index = np.indices(y.shape).reshape(2, -1)[0 if kind == "system" else 1]
    names = SYSTEMS if kind == "system" else [f"t{j}" for j in range(y.shape[1])]
    return gathered(kind, names, index, y.ravel(), value)


def test_zeros_by_chance_alarm_hardly_ever():
    alarms = sum(
        bool(said_of(table(seed=k, rate=rate), kind))
        for k in range(400)
        for rate in (0.02, 0.3)
        for kind in ("system", "topic")
    )
    assert alarms <= 4


def test_a_system_that_fails_on_every_third_query_is_named():
    y = table()
    y[3, ::3] = 0.0
    (said,) = said_of(y)
    assert said.startswith("scores of exactly 0 gather on system 's3' (18 of its 50), but this")
    assert "told too low" in said
    assert said_of(y, "topic") == ()
    assert said_of(y, value=1.0) == ()
    y[5, ::2] = 0.0
    assert "on system 's5' (25 of its 50) and 1 other system, but" in said_of(y)[0]


def test_a_topic_that_nobody_can_do_is_named():
    y = table()
    y[:, 4] = 0.0
    (said,) = said_of(y, "topic")
    assert said.startswith("scores of exactly 0 gather on topic 't4' (8 of its 8), but this")
    assert "takes hard topics for easier ones" in said
    y[:, 4] = 1.0
    assert "takes easy topics for harder ones" in said_of(y, "topic", 1.0)[0]


@pytest.mark.parametrize("y", [np.zeros((8, 5)), np.full((8, 5), 0.4)])
def test_all_or_none_do_not_gather(y):
    assert said_of(y) == ()


def test_scores_without_noise_are_seen():
    system, topic = np.indices((6, 9)).reshape(2, -1)
    additive = np.arange(6.0)[system] + np.sqrt(np.arange(9.0))[topic]
    assert without_noise(system, topic, additive)
    additive[7] += 1e-3
    assert not without_noise(system, topic, additive)
    # two effects explain three scores whatever they are
    assert not without_noise(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([0.1, 0.5, 0.3]))
