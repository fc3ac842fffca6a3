"""The generated learning-to-rank collection: what its documentation says of it."""

import numpy as np
import pytest

from surefoot.errors import InputError
from surefoot.io.svmlight import find_folds, read_features
from surefoot.learn.champion import read_champions
from surefoot.learn.objectives import Objective
from surefoot.workflows.sample_ltr import SHARES, generate_ltr, write_ltr_sample


@pytest.fixture(scope="module")
def data():
    return generate_ltr(queries=400, documents=120, features=12, seed=3)


def test_labels_have_the_shares_of_mslr(data) -> None:
    shares = np.bincount(data.labels.astype(int), minlength=5) / data.labels.size
    assert shares == pytest.approx(SHARES, abs=0.03)
    assert data.sizes.min() >= 90
    assert data.sizes.max() <= 150


def test_feature_1_is_a_champion_of_bm25s_strength(data) -> None:
    """Dincer et al. 2014 print NDCG@10 .309 for BM25 on MSLR-WEB10K."""
    bm25 = read_champions("feature:1", data, Objective()).values[0].mean()
    others = [read_champions(f"feature:{n}", data, Objective()).values[0].mean() for n in (2, 3)]
    assert 0.28 < bm25 < 0.36
    assert max(others) < bm25  # query-level features order nothing within a query


def test_a_part_is_the_same_drawn_on_its_own() -> None:
    whole = generate_ltr(queries=6, documents=8, features=9, seed=5)
    part = generate_ltr(queries=2, documents=8, features=9, first=3, seed=5)
    assert part.queries == ("4", "5")
    same = whole.select([3, 4])
    np.testing.assert_array_equal(part.features, same.features)
    np.testing.assert_array_equal(part.labels, same.labels)


def test_files_hold_the_data_in_five_folds(tmp_path) -> None:
    result = write_ltr_sample(tmp_path, queries=10, documents=8, features=9, seed=1)
    assert set(result.files) == {p.name for p in tmp_path.iterdir()}
    folds = find_folds(tmp_path)
    assert [f.name for f in folds] == [f"fold{k}" for k in range(1, 6)]
    data = generate_ltr(queries=10, documents=8, features=9, seed=1)
    train = read_features(tmp_path / "train.svm")
    assert train.queries == data.queries[:6]
    np.testing.assert_allclose(train.features, data.features[: len(train.labels)], rtol=1e-4)


@pytest.mark.parametrize("size", [{"queries": 4}, {"features": 7}, {"documents": 3}])
def test_too_small_is_refused(tmp_path, size) -> None:
    with pytest.raises(InputError, match="at least"):
        write_ltr_sample(tmp_path / "x", **{"queries": 5, "documents": 8, "features": 8, **size})
