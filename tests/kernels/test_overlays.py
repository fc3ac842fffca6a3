"""The compiled sums equal the papers' formulas written in NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import score_matrices

from surefoot.kernels.overlays import difference_moments, topic_totals, z_sums
from surefoot.kernels.reference import overlays as reference


@given(score_matrices(missing=True), st.sampled_from([0.0, 0.1]))
def test_moments_equal_the_reference(matrix, tolerance):
    baseline = matrix.values[0]
    got = difference_moments(matrix.values, baseline, tolerance=tolerance)
    want = reference.difference_moments(matrix.values, baseline, tolerance, 0.2)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@given(score_matrices())
def test_z_sums_equal_the_reference(matrix):
    values = matrix.values
    total, count = topic_totals(values)
    got = z_sums(values, total, count, len(values), np.zeros(len(values), bool))
    np.testing.assert_allclose(got[:, :2], reference.z_sums(values, values), atol=1e-9)
    np.testing.assert_allclose(got[:, 2], values.sum(axis=1))


@pytest.mark.parametrize("topics", [1, 7, 8, 2047, 2048, 2049, 10_000])
def test_long_rows_and_thread_counts(topics):
    rng = np.random.default_rng(topics)
    values = rng.random((5, topics))
    values[rng.random(values.shape) < 0.1] = np.nan
    one = difference_moments(values, values[2], threads=1)
    np.testing.assert_array_equal(one, difference_moments(values, values[2], threads=4))
    want = reference.difference_moments(values, values[2], 0.0, 0.2)
    np.testing.assert_allclose(one, want, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(topic_totals(values, threads=1), topic_totals(values, threads=4))


def test_a_system_outside_the_population_joins_it_for_its_own_row():
    rng = np.random.default_rng(0)
    values = rng.random((4, 30))
    others = values[1:]
    total, count = topic_totals(others)
    got = z_sums(values[:1], total, count, 3, np.array([True]))
    np.testing.assert_allclose(got[0, :2], reference.z_sums(values, values)[0], atol=1e-12)
