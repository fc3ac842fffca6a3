"""What every verb on a posterior asks of its arguments, and says about its model."""

from inspect import signature

import numpy as np
import pytest
from tests.inference.bayes.simulated import simulated_posterior

import surefoot as sf
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError, SurefootError, UnreliableWarning
from surefoot.workflows.posterior import joint_provenance, unscored

TABLE = simulated_posterior("gaussian", systems=4, topics=8).scores
FEW = {"family": "gaussian", "draws": 200}

# verb -> what it needs besides the scores
VERBS = {
    sf.ppd_risk: {"champion": "s0", **FEW},
    sf.forecast: {"champion": "s0", **FEW},
    sf.difficulty: FEW,
    sf.ranks: FEW,
    sf.pairs: {"champion": "s0", **FEW},
    sf.check: FEW,
    sf.brisk: {"champion": "s0", **FEW},
    sf.artifacts: {"champion": "s0", "challengers": ["s1"], "steps": [2], **FEW},
    sf.models: {"families": ("gaussian", "student"), "draws": 200},
    sf.fit: FEW,
    sf.paired: {"champion": "s0", "challenger": "s1", "draws": 200},
}

WRONG = [
    ({"draws": "5"}, "draws must be an integer not less than 100, but got '5'"),
    ({"draws": 250.5}, "draws must be an integer not less than 100, but got 250.5"),
    ({"draws": 99}, "draws must be an integer not less than 100, but got 99"),
    ({"threads": -2}, "threads must be an integer not less than 0, but got -2"),
    ({"priors": {"b": 3}}, "the prior of b must be a text"),
    ({"priors": "sigma=exponential(1)"}, "priors must be a list of texts or a mapping"),
    ({"champion": 3}, "name the champion: a system of the table, not 3"),
    ({"r": "x"}, "r must be a number not less than [01], but got 'x'"),
    ({"r": float("nan")}, "r must be a number not less than [01], but got nan"),
    ({"r": ()}, "give at least one r"),
    ({"interval": 95}, "interval must be between 0 and 1, such as 0.95, but got 95"),
    ({"interval": "wide"}, "interval must be between 0 and 1, such as 0.95, but got 'wide'"),
    ({"equivalence": float("nan")}, "equivalence must be a number not below 0, but got nan"),
    ({"replicates": 2.5}, "replicates must be an integer not less than 2, but got 2.5"),
    ({"one_above": "x"}, r"one_above (must be in \(0, 1\], got 'x'|is for family zoib)"),
    ({"steps": 1.5}, "a step must be an integer not less than 0, but got 1.5"),
    ({"orders": "random"}, "unknown order 'random'. Hint: one of best, worst"),
    ({"family": "zoib_ranks"}, "zoib_ranks"),
    ({"steps": [1.5]}, "a step must be an integer not less than 0, but got 1.5"),
]


@pytest.mark.parametrize(
    ("verb", "wrong", "message"),
    [
        pytest.param(verb, wrong, message, id=f"{verb.__name__}-{wrong}")
        for verb in VERBS
        for wrong, message in WRONG
        if set(wrong) <= set(signature(verb).parameters)
    ],
)
def test_bad_arguments_are_one_line(verb, wrong, message):
    with pytest.raises(SurefootError, match=message):
        verb(TABLE, **VERBS[verb] | wrong)


@pytest.mark.parametrize("asked", [{"draws": 500}, {"priors": ["b=normal(0,1)"]}, {"one_above": 1}])
def test_a_fit_is_not_fitted_again(asked):
    with pytest.raises(InputError, match=f"{next(iter(asked))} would need a new fit"):
        sf.ranks(simulated_posterior("zoib"), **asked)


def test_priors_reach_a_fit_and_its_settings():
    told = sf.ranks(TABLE, **FEW, priors=["sd_system=half_normal(0.0001)"])
    assert np.abs(told.mean).max() < 0.01 < np.abs(sf.ranks(TABLE, **FEW).mean).max()
    assert told.settings["priors"]["sd_system"] == "half_normal(0.0001)"


def test_draws_from_the_prior_are_no_finding():
    prior = sf.fit(TABLE, **FEW, engine="prior")
    with pytest.warns(UnreliableWarning, match="the scores were not used"):
        got = sf.ppd_risk(prior, champion="s0", r=1)
    assert got.headline[0].startswith("Prior predictive: the scores were not used")
    assert "prior predictive intervals of scores on these 8 queries" in got.headline[2]
    assert got.settings["warnings"] == ["the scores were not used: these are draws from the prior"]


def test_the_headline_of_a_fit_claims_nothing_of_the_prior():
    prior = sf.fit(TABLE, **FEW, engine="prior")
    assert prior.headline[0].endswith("200 draws from the prior. The scores were not used.")
    assert "differ more than" not in " ".join(prior.headline)
    found = sf.fit(TABLE, **FEW, criteria=False)
    assert "differ more than" in found.headline[1]
    assert found.to_dict()["settings"]["waic"] is found.to_dict()["settings"]["loo"] is None
    gap = TABLE.values.copy()
    gap[2] = np.nan
    with pytest.warns(UnreliableWarning, match="no score at all of system s2"):
        empty = sf.fit(ScoreMatrix(TABLE.systems, TABLE.topics, gap), **FEW)
    assert "there is no score at all of system s2" in empty.headline[0]


def test_a_fit_is_told_by_its_first_bytes(tmp_path):
    pytest.importorskip("h5py", reason="fit files need the extra bayes")
    from surefoot.io.fit_file import write_fit

    fitted = sf.fit(TABLE, **FEW)
    write_fit(fitted, tmp_path / "model")
    got, want = sf.ranks(tmp_path / "model"), sf.ranks(fitted)
    np.testing.assert_array_equal(got.mean, want.mean)


def test_systems_and_topics_without_a_score_are_named():
    values = np.full((3, 4), 0.5)
    values[1] = np.nan
    values[:, 2:] = np.nan
    found = unscored(ScoreMatrix(("a", "b", "c"), ("1", "2", "3", "4"), values))
    assert found == (
        "there is no score at all of system b: what is said of it follows from the other systems "
        "alone",
        "there is no score at all of topics 3, 4: what is said of them follows from the other "
        "topics alone",
    )
    assert unscored(TABLE) == ()


def test_several_fits_are_summed_up_by_the_worst():
    one, two = simulated_posterior("gaussian"), simulated_posterior("gaussian", draws=400)
    for posterior, khat, efficiency in ((one, 0.2, 0.9), (two, 0.5, np.nan)):
        object.__setattr__(posterior, "khat", khat)
        object.__setattr__(posterior, "efficiency", efficiency)
    object.__setattr__(two, "warnings", ("poor",))
    made = joint_provenance([one, two], [{"r": 1}, {"r": 2}])
    assert (made["draws"], made["method"]) == (400, "made up")
    assert (made["khat"], made["efficiency"]) == (0.5, 0.9)
    assert made["warnings"] == ["poor"]
    assert [fit["r"] for fit in made["fits"]] == [1, 2]


def test_one_system_has_nothing_to_rank():
    alone = simulated_posterior("gaussian", systems=1, effects=[0.0])
    got = sf.ranks(alone)
    assert got.headline[0] == "s0 is the only system of the table, so there is nothing to rank."
    with pytest.raises(InputError, match="a pair needs two systems"):
        sf.pairs(alone)
