"""Figures that other evaluators print, recomputed; the page is docs/conformance.md."""

import pytest
from benchmarks import conformance

# how many figures must agree; the rest is explained on the page
AGREEMENT = {
    "trec_eval_quicktest": (932, 935),
    "rbp_eval_specs": (663, 756),
    "trec_covid_leaderboard": (843, 850),
    "trec_covid_per_topic": (4620, 4620),
    "thesis_scores": (25673, 25673),
    "gdeval": (816, 816),
    "letor": (525, 525),
}


@pytest.mark.parametrize("compare", conformance.STORED, ids=lambda f: f.__name__)
def test_equals_what_others_print(compare, shared_data):
    checks = list(compare(shared_data))
    unexplained = [c for c in checks if c.differing and not c.why]
    assert not unexplained, [c.differing[:5] for c in unexplained]
    assert (sum(c.agree for c in checks), sum(c.figures for c in checks)) == AGREEMENT[
        compare.__name__
    ]


def test_official_means_of_all_runs_agree_once_scores_are_32_bit_floats(shared_data):
    checks = list(conformance.trec_covid_leaderboard(shared_data))
    again = [c for c in checks if "32 bits" in c.what]
    assert sum(c.figures for c in again) == sum(
        len(c.differing) for c in checks if "32 bits" not in c.what
    )
    assert all(c.agree == c.figures for c in again)
