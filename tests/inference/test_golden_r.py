"""Intervals and tests against R; tests/golden/inference.R holds the commands and the versions."""

import json
from pathlib import Path

import numpy as np
import pytest

from surefoot.inference.anova import anova
from surefoot.inference.corrections import adjust
from surefoot.inference.intervals import bootstrap_intervals
from surefoot.inference.normality import measure_normality
from surefoot.inference.power_formulas import t_power
from surefoot.inference.tukey import tukey

R = json.loads((Path(__file__).parent.parent / "golden" / "inference.json").read_text())
S1 = [0.4, 0.5, 0.1, 0.2, 0.2, 0.2, 0.0, 0.4, 0.3, 0.0, 0.5, 0.1, 0.4, 0.0, 0.1]
S2 = [0.1, 0.1, 0.7, 0.8, 0.6, 0.6, 0.7, 0.3, 0.3, 0.8, 0.7, 0.1, 0.5, 0.1, 0.8]
S3 = [0.3, 0.2, 0.4, 0.4, 0.5, 0.3, 0.2, 0.4, 0.1, 0.5, 0.6, 0.2, 0.3, 0.2, 0.4]
SCORES = np.array([S1, S2, S3])
DELTA = SCORES[0] - SCORES[1]
SERIES = {"delta": DELTA, "skewed": np.where(DELTA < 0, 5 * DELTA, DELTA)}


@pytest.mark.parametrize("series", ["delta", "skewed"])
@pytest.mark.parametrize("method", ["bca", "basic", "percentile", "studentized"])
def test_intervals_match_r_boot(series, method):
    """Means of these scores lie on a grid of 0.1 / 15, so ends may differ by one step of it."""
    x = SERIES[series]
    found = bootstrap_intervals(x, methods=[method], n_resamples=500_000, seed=3)
    step = 0.1 / 15
    error = {"delta": 0.008, "skewed": 0.02}[series] if method == "studentized" else step
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx(
        R[f"{method}_{series}"], abs=error + 1e-9
    )


def test_anova_matches_r_aov():
    table = anova(SCORES)
    assert table.sum_of_squares[:3] == pytest.approx(R["anova_ss"], rel=1e-10)
    assert table.f[:2] == pytest.approx(R["anova_f"], rel=1e-10)
    assert table.p_value[:2] == pytest.approx(R["anova_p"], rel=1e-9)


def test_tukey_matches_r_on_the_blocked_design():
    found = tukey(SCORES)
    # R: s2 - s1, s3 - s1, s3 - s2
    assert -found.difference == pytest.approx(R["tukey_difference"], rel=1e-10)
    assert -found.difference - found.margin == pytest.approx(R["tukey_low"], abs=1e-8)
    assert -found.difference + found.margin == pytest.approx(R["tukey_high"], abs=1e-8)
    assert found.p_adjusted == pytest.approx(R["tukey_p"], abs=1e-8)


@pytest.mark.parametrize("method", ["bonferroni", "holm", "bh"])
def test_corrections_match_r_p_adjust(method):
    p = [0.012, 0.0004, 0.21, 0.03, 0.03, 0.9, 0.049]
    want = R["adjust_" + {"bh": "BH"}.get(method, method)]
    assert adjust(p, method) == pytest.approx(want, rel=1e-12)


def test_shapiro_and_wilk_match_r():
    found = measure_normality(SERIES["skewed"])
    assert (found.w[0], found.w_p[0]) == pytest.approx(R["shapiro"], abs=1e-6)


def test_power_matches_r():
    """R's power.t.test with strict = TRUE counts both tails, as ours does."""
    assert t_power(20, 0.5) == pytest.approx(R["power_at_20"][0], abs=1e-9)
    assert t_power(33, 0.5) < 0.8 <= t_power(34, 0.5)
    assert 33 < R["power_n"][0] < 34
