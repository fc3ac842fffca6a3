"""Posteriors of TREC-COVID round 1 against brms and against independent exact computations."""

import numpy as np
import pytest

from surefoot.workflows.fit import fit

# brms' own Monte Carlo error is about 0.03 posterior sd
CASES = [
    ("gaussian", "exact_covid_pooled_gaussian.csv", "auto", 538.1),
    ("gaussian", "brms_covid_pooled_gaussian.csv", "auto", 538.1),
    ("gaussian", "exact_covid_pooled_gaussian.csv", "laplace", 538.1),
    ("zoib", "is4096x18_covid_pooled_zoib.csv", "auto", -656.1),
    ("zoib", "brms_covid_pooled_zoib.csv", "auto", -656.1),
]


@pytest.mark.parametrize(("family", "file", "engine", "waic"), CASES)
def test_fit_matches_reference(covid_pooled, reference_posterior, family, file, engine, waic):
    assert covid_pooled.shape == (42, 30)
    assert int((covid_pooled.values == 0).sum()) == 39
    assert int((covid_pooled.values == 1).sum()) == 17
    posterior = fit(covid_pooled, family=family, engine=engine, draws=20_000)
    assert posterior.warnings == ()
    assert posterior.khat < 0.7
    assert posterior.efficiency > 0.5
    assert posterior.settings["waic"] == pytest.approx(waic, abs=1.5)
    assert posterior.settings["loo"] == pytest.approx(posterior.settings["waic"], abs=1.5)
    reference = reference_posterior(file)
    seen = 0
    for row in posterior.rows():
        mean, sd, *quantiles = reference[row["parameter"]]
        assert abs(row["mean"] - mean) < 0.1 * sd, row["parameter"]
        for name, want in zip(("q2.5", "q50", "q97.5"), quantiles, strict=True):
            assert abs(row[name] - want) < 0.15 * sd, (row["parameter"], name)
        seen += 1
    assert seen == 42 + 30 + (4 if family == "gaussian" else 6)


@pytest.mark.filterwarnings("ignore:scores of exactly 0 gather")
def test_same_seed_same_bytes_on_any_threads(covid_pooled):
    few = covid_pooled.select(systems=covid_pooled.systems[:8])
    one, two = (
        fit(few, family="zoib", draws=2000, seed=7, threads=threads, criteria=False)
        for threads in (1, 2)
    )
    for name, values in one.draws.items():
        assert values.tobytes() == two.draws[name].tobytes()
    other = fit(few, family="zoib", draws=2000, seed=8, criteria=False)
    assert not np.array_equal(one.draws["b"], other.draws["b"])
