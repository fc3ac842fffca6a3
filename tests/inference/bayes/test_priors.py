"""Priors as users write them: what is taken, and one line on what is not."""

import re
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import ModelError
from surefoot.inference.bayes.priors import (
    ALLOWED,
    DISTRIBUTIONS,
    Prior,
    choose_priors,
    given_priors,
)

TEXT = "sd_system=half_t(3,0,1)"


@pytest.mark.parametrize(
    "given",
    [
        [TEXT],
        (TEXT,),
        {"sd_system": "half_t(3, 0, 1)"},
        {"sd_system": Prior("half_t", (3, 0, 1))},
        ["sd_system = half_student_t(3, 0, 1)"],
    ],
)
def test_a_prior_may_be_written_in_several_ways(given):
    assert given_priors(given) == {"sd_system": Prior("half_t", (3, 0, 1))}
    assert choose_priors("gaussian", np.zeros(3), given)["sd_system"].numbers == (3, 0, 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (TEXT, r"must be a list of texts .* Hint: priors=\['sd_system=half_t\(3,0,1\)'\]"),
        (3, "must be a list of texts or a mapping, but got 3"),
        ([3], "a prior must be a text such as .*, but got 3"),
        ({"b": 3}, "the prior of b must be a text such as .*, but got 3"),
        ({"b": Prior("normal", ("0", "1"))}, "the numbers of the prior of b must be numbers"),
        ([TEXT, TEXT], "the prior of sd_system is given twice"),
        (["b=normal(0,nan)"], "sd must be a finite number, got nan"),
        (["b=t(3,inf,1)"], "location must be a finite number, got inf"),
        (["b=normal(0)"], r"normal takes \(mean, sd\), not 1 numbers"),
        (["b=normal(0,,1)"], "the arguments must be numbers"),
        (["b=cauchy(0,1)"], "unknown distribution 'cauchy'"),
    ],
)
def test_what_is_no_prior_is_said(given, message):
    with pytest.raises(ModelError, match=message):
        choose_priors("gaussian", np.zeros(3), given)


def test_the_page_lists_what_each_parameter_takes():
    page = Path(__file__).parents[3] / "docs/method/bayes.md"
    told = {}
    table = page.read_text(encoding="utf-8").partition("| parameter | distributions |")[2]
    for line in table.partition("\n\n")[0].splitlines()[2:]:
        parameters, taken = line.strip("| ").split(" | ")
        for parameter in parameters.split(", "):
            told[parameter] = dict(re.findall(r"`(\w+)\(([^)]*)\)`", taken))
    assert told == {
        name: {kind: ", ".join(DISTRIBUTIONS[kind]) for kind in kinds}
        for name, kinds in ALLOWED.items()
    }
