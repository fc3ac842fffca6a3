import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.inference.bayes.summary import make_posterior
from surefoot.results.posterior import SUMMARY


def test_summary_has_the_contract_columns_and_names():
    rng = np.random.default_rng(1)
    scores = ScoreMatrix(("A", "B"), ("1", "2", "3"), rng.random((2, 3)))
    draws = {
        "b": rng.normal(3.0, 1.0, 4000),
        "sigma": rng.random(4000),
        "sd_system": rng.random(4000),
        "sd_topic": rng.random(4000),
        "system": rng.normal(size=(4000, 2)),
        "topic": rng.normal(size=(4000, 3)),
    }
    posterior = make_posterior("gaussian", scores, draws, method="test", ess={"b": 12.0})
    columns = posterior.columns()
    assert tuple(columns) == SUMMARY
    assert list(columns["parameter"]) == [
        *("b", "sigma", "sd_system", "sd_topic"),
        *("system[A]", "system[B]", "topic[1]", "topic[2]", "topic[3]"),
    ]
    first = next(posterior.rows())
    assert first["ess"] == 12.0
    assert abs(first["mean"] - 3.0) < 0.1
    assert first["q2.5"] < first["q50"] < first["q97.5"]
    assert posterior.n_draws == 4000
