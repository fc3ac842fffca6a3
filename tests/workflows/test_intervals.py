import csv

import numpy as np
import pytest

import surefoot as sf

COLUMNS = ["system", "method", "confidence", "low", "high", "estimate"]
TABLE = {
    "old": {"q1": 0.5, "q2": 0.4, "q3": 0.6, "q4": 0.2, "q5": 0.3},
    "new": {"q1": 0.7, "q2": 0.3, "q3": 0.8, "q4": 0.3, "q5": 0.5},
    "bad": {"q1": 0.1, "q2": 0.2, "q3": 0.1, "q4": 0.0, "q5": 0.1},
}


def test_columns_of_the_contract_come_first():
    result = sf.intervals(TABLE, champion="old", method=["student", "bca"])
    assert list(result.columns())[:6] == COLUMNS
    assert result.system == ("new", "new", "bad", "bad")
    assert result.method == ("student", "bca") * 2


def test_losses_count_one_plus_alpha_times():
    result = sf.intervals(TABLE, champion="old", alpha=[0, 4], systems="new", method="student")
    np.testing.assert_allclose(result.estimate, [0.12, (0.6 + 5 * -0.1 + 0.1) / 5])


def test_the_minus_form_mirrors_the_interval():
    kwargs = {"champion": "old", "systems": ["new"], "method": ["student", "bca"]}
    alpha = sf.intervals(TABLE, alpha=4, **kwargs)
    minus = sf.intervals(TABLE, r=5, **kwargs)
    assert minus.form == "minus"
    assert minus.verdict == alpha.verdict
    np.testing.assert_allclose(minus.estimate, -alpha.estimate)
    np.testing.assert_allclose(minus.low[0], -alpha.high[0])
    np.testing.assert_allclose(minus.low[1], -alpha.high[1], atol=0.01)


def test_bonferroni_counts_challengers_and_champions():
    result = sf.intervals(
        TABLE, champion=["old", "mean"], correction="bonferroni", method="student"
    )
    assert result.settings["comparisons"] == 4
    assert result.level == pytest.approx(1 - 0.05 / 4)


def test_verdicts_are_said_first_in_plain_words():
    result = sf.intervals(TABLE, champion="old", alpha=0, method="student")
    assert result.verdict == ("undecided", "worse")
    assert result.headline[1] == "Worse than the champion: bad."


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"method": "wald"}, "unknown interval method"),
        ({"correction": "holm"}, "none or bonferroni"),
        ({"champion": "nobody"}, "nobody"),
        ({"alpha": 1, "r": 2}, "not both"),
        ({"statistic": "mode"}, "unknown statistic"),
        ({"method": []}, "at least one"),
    ],
)
def test_bad_options_are_one_line(kwargs, message):
    with pytest.raises(sf.SurefootError, match=message):
        sf.intervals(TABLE, **{"champion": "old", **kwargs})


@pytest.mark.parametrize(("collection", "label"), [("rb04", "RB04"), ("trec17", "TREC17")])
def test_thesis_table_4_5_bca(shared_data, collection, label):
    """BCa percentile ends at 98.75 %, four challengers; losses count five times, minus form."""
    with (shared_data / "replication" / "printed_vs_computed.csv").open() as file:
        rows = [
            r
            for r in csv.DictReader(file)
            if r["document"] == "004" and r["table"] == "Table 4.5" and r["row"].startswith(label)
        ]
    want = {(r["row"].removeprefix(label + " "), r["column"]): r for r in rows}
    names = [f"Chal. {i}" for i in (1, 2, 3, 4)]
    got = sf.intervals(
        shared_data / "thesis_ch4" / f"{collection}_data.csv",
        champion="Champion",
        systems=names,
        r=5,
        method="bca",
        correction="bonferroni",
        resamples=200_000,
    )
    for i, name in enumerate(names):
        assert got.estimate[i] == pytest.approx(float(want[name, "URisk-"]["computed"]), abs=6e-6)
        for end, value in (("lo", got.low[i]), ("hi", got.high[i])):
            row = want[name, f"BCa- {end}"]
            # with 200,000 resamples the ends wander by about a hundredth of the interval's width
            width = got.high[i] - got.low[i]
            assert value == pytest.approx(float(row["computed"]), abs=0.015 * width)
            # the printed ends carry the noise of about 10,000 resamples
            assert value == pytest.approx(float(row["printed"]), abs=0.06 * width)
