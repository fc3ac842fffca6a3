import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.kernels import resample
from surefoot.kernels.reference import resample as reference


@pytest.mark.parametrize("n", [1, 2, 7, 50, 249, 4096, 4097, 70_001])
def test_drawn_topics_equal_the_reference(n):
    got = resample.resample_indices(n, 3, seed=11, first=5)
    np.testing.assert_array_equal(got, reference.resample_indices(n, 3, seed=11, first=5))
    assert got.max() < n


def test_drawn_topics_are_uniform():
    drawn = resample.resample_indices(50, 20_000, seed=3)
    counts = np.bincount(drawn.ravel(), minlength=50)
    expected = drawn.size / 50
    # chi-square with 49 degrees of freedom: 99.99 % quantile is 96.2
    assert ((counts - expected) ** 2 / expected).sum() < 96.2


@pytest.mark.parametrize("shape", [(1, 2), (3, 10), (24, 50), (25, 50), (49, 13)])
def test_resampled_means_equal_the_reference(shape):
    x = np.random.default_rng(0).normal(size=shape)
    x -= x.mean(axis=1, keepdims=True)
    means, student = np.empty((len(x), 200)), np.empty((len(x), 200))
    resample.bootstrap_means(x, seed=4, first=0, count=200, column=0, means=means, student=student)
    with np.errstate(divide="ignore"):
        want_means, want_student = reference.bootstrap_means(x, 200, seed=4)
    np.testing.assert_allclose(means, want_means, atol=1e-12)
    flat = np.abs(want_student) > 1e6  # every draw the same topic: no spread but rounding
    assert np.isinf(student[flat]).all()
    np.testing.assert_allclose(student[~flat], want_student[~flat], rtol=1e-9, atol=1e-9)


def test_resampled_means_do_not_depend_on_threads_or_pieces():
    x = np.random.default_rng(1).normal(size=(30, 60))
    x -= x.mean(axis=1, keepdims=True)
    whole, parts = np.empty((2, 30, 1000)), np.empty((2, 30, 1000))
    resample.bootstrap_means(
        x, seed=9, first=0, count=1000, column=0, means=whole[0], student=whole[1], threads=1
    )
    for first, count in ((700, 300), (0, 1), (1, 699)):
        resample.bootstrap_means(
            x,
            seed=9,
            first=first,
            count=count,
            column=first,
            means=parts[0],
            student=parts[1],
            threads=3,
        )
    assert whole.tobytes() == parts.tobytes()


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 20_000),
    st.sampled_from(["normal", "ties", "cauchy", "constant", "infinite"]),
    st.integers(0, 2**32 - 1),
)
def test_order_statistics_equal_sorting(n, kind, seed):
    rng = np.random.default_rng(seed)
    rows = {
        "normal": lambda: rng.normal(size=(2, n)),
        "ties": lambda: rng.integers(0, 4, size=(2, n)).astype(float),
        "cauchy": lambda: rng.standard_cauchy(size=(2, n)) ** 3,
        "constant": lambda: np.full((2, n), 0.3),
        "infinite": lambda: np.where(rng.random((2, n)) < 0.3, np.inf, rng.normal(size=(2, n))),
    }[kind]()
    ranks = rng.integers(0, n, size=(2, 5))
    np.testing.assert_array_equal(
        resample.order_statistics(rows, ranks), reference.order_statistics(rows, ranks)
    )


def test_counts_below_and_near_zero():
    rows = np.array([[-1.0, -1e-15, 0.0, 1e-15, 2.0], [1.0, 1.0, 1.0, 1.0, -1.0]])
    below, near = resample.count_below(rows, np.array([1e-12, 0.0]))
    assert below.tolist() == [1, 1]
    assert near.tolist() == [3, 0]
