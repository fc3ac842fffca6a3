import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from surefoot.errors import SurefootError
from surefoot.inference.corrections import CORRECTIONS, adjust, thresholds

P = [0.01, 0.02, 0.03, 0.04]


@pytest.mark.parametrize(
    ("p", "method", "want"),
    [
        (P, "none", P),
        (P, "bonferroni", [0.04, 0.08, 0.12, 0.16]),
        # the smallest is multiplied by m, not by m + 1 as Algorithm 2.2 prints
        (P, "holm", [0.04, 0.06, 0.06, 0.06]),
        (P, "bh", [0.04, 0.04, 0.04, 0.04]),
        ([0.5, np.nan, 0.02], "bonferroni", [1.0, np.nan, 0.04]),
        ([np.nan], "holm", [np.nan]),
        ([], "bh", []),
    ],
)
def test_adjusted_p_values(p, method, want):
    np.testing.assert_allclose(adjust(p, method), want, rtol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_properties_of_every_correction(p):
    raw = np.array(p)
    adjusted = {m: adjust(raw, m) for m in CORRECTIONS}
    for values in adjusted.values():
        assert ((values >= raw - 1e-12) & (values <= 1)).all()
        order = np.argsort(raw, kind="stable")
        assert (np.diff(values[order]) >= -1e-12).all()
    assert (adjusted["holm"] <= adjusted["bonferroni"] + 1e-12).all()
    assert (adjusted["bh"] <= adjusted["holm"] + 1e-12).all()
    np.testing.assert_allclose(adjusted["bh"], stats.false_discovery_control(raw), atol=1e-12)


@given(st.lists(st.floats(0, 0.2), min_size=1, max_size=12), st.floats(0.01, 0.2))
def test_a_threshold_is_where_the_adjusted_value_crosses_the_level(p, level):
    for method in CORRECTIONS:
        found = thresholds(p, method, level)
        for i, limit in enumerate(found):
            below, above = np.array(p), np.array(p)
            below[i], above[i] = limit * (1 - 1e-9), limit * (1 + 1e-9)
            assert adjust(below, method)[i] < level * (1 + 1e-12)
            assert adjust(above, method)[i] > level * (1 - 1e-12)


@pytest.mark.parametrize(("p", "method"), [([0.1], "tukey"), ([1.5], "holm"), ([-0.1], "none")])
def test_bad_input_is_refused(p, method):
    with pytest.raises(SurefootError):
        adjust(p, method)
