"""Fits against long NUTS runs of the same models in PyMC, which share no code with ours.

tests/golden/bayes_references.json carries the command that made them; how long, how well they mixed
and how far all fits are from them is in docs/method/bayes_references.md.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.reference_bayes import (
    EFFECTIVE,
    ENDS,
    MEANS,
    RHAT,
    apart,
    fingerprint,
    fit,
    studies,
)

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "bayes_references.json"
TESTED = [study for study in studies() if study.tested]


@pytest.fixture(scope="module")
def references():
    return json.loads(GOLDEN.read_text())["studies"]


@pytest.mark.parametrize("study", TESTED, ids=lambda study: study.label)
def test_fit_matches_independent_nuts(study, references):
    table = study.table()
    if table is None:
        pytest.skip("the real collections (../shared/data) are not beside this checkout")
    reference = references[study.label]
    assert reference["table"] == fingerprint(table)
    assert reference["rhat"] < RHAT
    assert min(reference["bulk"], reference["tail"]) > EFFECTIVE
    posterior = fit(study, table)
    assert posterior.warnings == ()
    found = apart(posterior, reference["parameters"])
    # the aim, or the reference's own noise where that is larger
    allowed = np.maximum([MEANS, ENDS, ENDS, ENDS], 4 * found.of_reference)
    off = {found.names[i]: found.off[i] for i in np.argwhere(abs(found.off) > allowed)[:, 0]}
    assert off == {}
