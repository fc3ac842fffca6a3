import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.kernels import permute
from surefoot.kernels.reference import permute as reference


def flips(x, n, *, seed=1, exact=False, threads=0, pieces=None, limit=0.5):
    exceed = np.zeros(len(x), dtype=np.int64)
    largest = np.empty(n)
    for first, count in pieces or [(0, n)]:
        permute.sign_flips(
            x, limit=np.full(len(x), limit), scale=np.ones(len(x)), seed=seed, first=first,
            count=count, exact=exact, exceed=exceed, largest=largest, threads=threads,
        )  # fmt: skip
    return exceed, largest


@pytest.mark.parametrize("n_topics", [1, 31, 33, 1025])
def test_sign_flips_equal_the_reference(n_topics):
    x = np.random.default_rng(0).normal(size=(3, n_topics))
    exceed, largest = flips(x, 20)
    signs = np.array([reference.flip_signs(n_topics, seed=1, number=b) for b in range(20)])
    sums = np.abs(x @ signs.T)
    np.testing.assert_allclose(largest, sums.max(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(exceed, (sums >= 0.5).sum(axis=1))


def test_exact_flips_go_through_all_signs():
    _, largest = flips(np.array([[1.0, 2.0, 4.0]]), 8, exact=True)
    assert sorted(largest) == [1, 1, 3, 3, 5, 5, 7, 7]


def test_flips_do_not_depend_on_threads_or_pieces():
    x = np.random.default_rng(0).normal(size=(30, 40))
    whole = flips(x, 1000, threads=1)
    parts = flips(x, 1000, threads=3, pieces=[(600, 400), (0, 600)])
    np.testing.assert_array_equal(whole[0], parts[0])
    assert whole[1].tobytes() == parts[1].tobytes()


@pytest.mark.parametrize("n_systems", [1, 2, 3, 64, 65, 129, 256, 257])
def test_label_permutations_equal_the_reference(n_systems):
    scores = np.random.default_rng(0).random((4, n_systems))
    largest, pair, square = np.empty((3, 5))
    permute.permute_labels(
        scores, seed=3, first=0, count=5, largest=largest, pair=pair, square=square
    )
    for b in range(5):
        sums = reference.permuted_sums(scores, seed=3, number=b)
        assert largest[b] == pytest.approx(np.ptp(sums), abs=1e-12)
        assert pair[b] == pytest.approx(abs(sums[0] - sums[min(1, n_systems - 1)]), abs=1e-12)
        assert square[b] == pytest.approx(((sums - sums.mean()) ** 2).sum(), abs=1e-9)


def test_every_order_of_three_labels_is_as_likely():
    scores = np.array([[0.0, 1.0, 3.0]])  # |difference| of the first two tells the pair
    largest, pair, square = np.empty((3, 60_000))
    permute.permute_labels(
        scores, seed=3, first=0, count=60_000, largest=largest, pair=pair, square=square
    )
    _, counts = np.unique(pair, return_counts=True)
    assert np.abs(counts - 20_000).max() < 5 * np.sqrt(60_000 * 2 / 9)
    assert (largest == 3).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 2.5]), min_size=1, max_size=10))
def test_signed_rank_null_is_exact_with_ties_and_zeros(values):
    x = np.array([values])
    got = permute.signed_rank(x, exact_limit=50)
    if (x != 0).any():
        assert got.exact_p[0] == pytest.approx(reference.signed_rank_p(x[0]), abs=1e-12)
    else:
        assert np.isnan(got.exact_p[0])
    assert got.used[0] == (x != 0).sum()
