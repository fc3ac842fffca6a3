import numpy as np
import pytest
from scipy import stats

import surefoot as sf
from surefoot.workflows.compare import PAIRED, TESTS

COLUMNS = [
    "system", "other", "test", "statistic", "p_value", "p_adjusted", "effect_size",
    "mean_difference", "low", "high",
]  # fmt: skip


def table(n_systems=4, n_topics=20, seed=0, missing=0):
    rng = np.random.default_rng(seed)
    values = rng.random((n_systems, n_topics)) + np.linspace(0, 0.6, n_systems)[:, None]
    values.ravel()[rng.permutation(values.size)[:missing]] = np.nan
    return sf.ScoreMatrix(
        tuple(f"s{i}" for i in range(n_systems)), tuple(f"q{j}" for j in range(n_topics)), values
    )


@pytest.mark.parametrize("name", TESTS)
def test_columns_of_the_contract_come_first(name):
    result = sf.test(table(), test=name)
    assert list(result.columns())[:10] == COLUMNS
    assert all(len(c) == len(result) for c in result.columns().values())
    assert len(result) == (4 if name == "anova" else 6)
    assert result.headline


@pytest.mark.parametrize("name", [t for t in TESTS if t != "anova"])
def test_a_champion_is_the_other_of_every_row(name):
    result = sf.test(table(), test=name, champion="s1")
    assert result.system == ("s0", "s2", "s3")
    assert result.other == ("s1",) * 3
    means = table().means()
    np.testing.assert_allclose(result.mean_difference, means[[0, 2, 3]] - means[1])
    assert ((result.low <= result.mean_difference) & (result.mean_difference <= result.high)).all()


@pytest.mark.parametrize("name", TESTS)
def test_missing_cells_are_handled_by_every_test(name):
    result = sf.test(table(missing=3), test=name)
    assert np.isfinite(result.p_adjusted[: 2 if name == "anova" else None]).all()


def test_holm_is_the_default_over_the_comparisons():
    result = sf.test(table(), champion="s0")
    order = np.argsort(result.p_value)
    want = np.maximum.accumulate(result.p_value[order] * [3, 2, 1])
    np.testing.assert_allclose(result.p_adjusted[order], np.minimum(want, 1))
    assert (sf.test(table(), correction="none").p_adjusted <= result.p_adjusted.max()).any()


def test_t_row_holds_students_interval_and_cohens_d():
    m = table()
    result = sf.test(m, champion="s0")
    d = m.row("s1") - m.row("s0")
    want = stats.ttest_1samp(d, 0)
    assert result.p_value[0] == pytest.approx(want.pvalue)
    assert result.low[0] == pytest.approx(want.confidence_interval().low)
    assert result.effect_size[0] == pytest.approx(d.mean() / d.std(ddof=1))


def test_risk_adjusted_test_is_t_risk():
    m = table()
    adjusted = sf.test(m, champion="s0", alpha=2, correction="none")
    overlay = sf.risk(m, champion="s0", alpha=2)
    np.testing.assert_allclose(adjusted.statistic, overlay.t_risk, rtol=1e-9)
    minus = sf.test(m, champion="s0", r=3, correction="none")
    np.testing.assert_allclose(minus.statistic, -adjusted.statistic, rtol=1e-9)
    assert minus.form == "minus"


def test_anova_rows_are_the_table():
    result = sf.test(table(), test="anova")
    columns = result.columns()
    assert result.system == ("systems", "topics", "residual", "total")
    assert list(columns["df"]) == [3, 19, 57, 79]


def test_all_pairs_come_with_letters():
    result = sf.test(table(), test="tukey")
    significant = {
        (a, b)
        for a, b, p in zip(result.system, result.other, result.p_adjusted, strict=True)
        if p <= 0.05
    }
    for a in result.letters:
        for b in result.letters:
            if a < b:
                share = set(result.letters[a]) & set(result.letters[b])
                assert bool(share) == ((a, b) not in significant)


@pytest.mark.parametrize("name", [*PAIRED, "maxt"])
def test_same_seed_same_answer_for_any_threads(name):
    one = sf.test(table(), test=name, seed=5, threads=1)
    many = sf.test(table(), test=name, seed=5, threads=3)
    assert one.p_adjusted.tobytes() == many.p_adjusted.tobytes()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"test": "chi2"}, "unknown test"),
        ({"correction": "sidak"}, "unknown correction"),
        ({"test": "tukey", "correction": "holm"}, "needs no correction"),
        ({"alpha": 1}, "need a champion"),
        ({"test": "tukey", "champion": "s0", "alpha": 1}, "need a champion"),
        ({"champion": "s9"}, "s9"),
        ({"test": "maxt", "champion": "s0", "confidence": 2}, "between 0 and 1"),
        ({"champion": "s0", "alpha": [1, 2]}, "one value"),
    ],
)
def test_bad_options_are_one_line(kwargs, message):
    with pytest.raises(sf.SurefootError, match=message):
        sf.test(table(), **kwargs)


def test_one_system_cannot_be_tested():
    with pytest.raises(sf.SurefootError, match="two systems"):
        sf.test(table(1))
