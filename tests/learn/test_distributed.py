"""Two workers learn what one machine learns."""

import pickle
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from surefoot.data.features import FeatureData
from surefoot.errors import InputError, ParseError
from surefoot.io.atomic import atomic_open
from surefoot.learn import (
    Objective,
    RiskMonitor,
    champion_bounds,
    read_champions,
    train_distributed,
    train_ranker,
)
from surefoot.learn.distributed import blocks
from surefoot.workflows.sample_ltr import generate_ltr

distributed = pytest.importorskip("distributed", reason="dask is not installed")
pytest.importorskip("pandas", reason="the boosters' Dask modules need pandas")
# what dask, the boosters and their sockets warn of is not ours to mend
pytestmark = pytest.mark.filterwarnings("ignore")

QUERIES, FEATURES = 60, 8
SMALL = {"rounds": 12, "leaves": 8}
# LightGBM's distributed learner finds bins in each worker's own rows and minds leaf sizes otherwise
SAME_BINS = {"min_data_in_bin": 1, "min_sum_hessian_in_leaf": 0.0}


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def queries(seed: int) -> FeatureData:
    """Few distinct values, all on every worker: one quantile sketch, whoever makes it."""
    data = generate_ltr(queries=QUERIES, documents=20, features=FEATURES, seed=seed)
    scaled = (data.features - data.features.mean(axis=0)) / data.features.std(axis=0)
    return replace(data, features=np.clip(np.round(scaled * 3) / 3, -1, 1))


@pytest.mark.parametrize("name", ["ndcg", "u-cro", "saro", "faro", "georisk"])
def test_xgboost_on_two_workers_is_xgboost_on_one(client, name: str) -> None:
    pytest.importorskip("xgboost")
    data, held_out = queries(0), queries(1)
    objective = Objective(name=name, alpha=5.0)
    source = ["feature:1", "feature:4"] if name == "georisk" else "feature:1"
    found, history = train_distributed(
        client, data, objective, champion=source, valid=held_out, **SMALL
    )
    monitor = RiskMonitor(held_out, objective, read_champions(source, held_out, objective))
    alone = train_ranker(
        data,
        objective,
        champions=read_champions(source, data, objective),
        booster="xgboost",
        monitor=monitor,
        threads=1,
        **SMALL,
    )
    np.testing.assert_allclose(
        found.predict(held_out.features), alone.predict(held_out.features), atol=1e-5, rtol=0
    )
    assert len(history) == SMALL["rounds"]
    for ours, theirs in zip(history, monitor.history, strict=True):
        assert list(ours) == list(theirs)
        assert ours == pytest.approx(theirs, abs=2e-6)  # XGBoost prints six digits


@pytest.mark.parametrize("name", ["ndcg", "u-cro"])
def test_lightgbm_on_two_workers_is_lightgbm_on_one(client, name: str) -> None:
    pytest.importorskip("lightgbm")
    data = queries(0)
    objective = Objective(name=name, alpha=5.0)
    settings = {**SMALL, "booster": "lightgbm", "min_documents": 0, "params": SAME_BINS}
    found, _ = train_distributed(client, data, objective, champion="feature:1", **settings)
    alone = train_ranker(
        data,
        objective,
        champions=read_champions("feature:1", data, objective),
        threads=1,
        **settings,
    )
    np.testing.assert_allclose(
        found.predict(data.features), alone.predict(data.features), atol=1e-9, rtol=0
    )


def test_files_are_read_where_they_are_learned_from(client, tmp_path: Path) -> None:
    """Three files on two workers, one narrower than the others, equal the whole in memory."""
    pytest.importorskip("xgboost")
    data = queries(2)
    edges = [0, 20, 40, QUERIES]
    paths = []
    for k in range(3):
        path = tmp_path / f"part{k}.svm"
        part = data.select(np.arange(edges[k], edges[k + 1]))
        with atomic_open(path) as file:
            for q in range(len(part.queries)):
                for row in range(int(part.offsets[q]), int(part.offsets[q + 1])):
                    values = part.features[row].tolist()
                    cells = " ".join(f"{c}:{v!r}" for c, v in enumerate(values, 1) if v)
                    file.write(f"{int(part.labels[row])} qid:{part.queries[q]} {cells}\n")
        paths.append(path)
    objective = Objective(name="faro", alpha=5.0, measure="ERR@10")
    champion = read_champions("feature:1", data, replace(objective, max_label=4)).values[0]
    table = dict(zip(data.queries, champion.tolist(), strict=True))
    from_files, _ = train_distributed(client, paths, objective, champion=table, **SMALL)
    in_memory, _ = train_distributed(client, data, objective, champion=champion, **SMALL)
    assert from_files.objective.max_label == in_memory.objective.max_label
    assert (from_files.predict(data.features) == in_memory.predict(data.features)).all()


def test_early_stopping_reads_all_workers(client) -> None:
    pytest.importorskip("xgboost")
    found, history = train_distributed(
        client,
        queries(0),
        Objective(name="u-cro", alpha=5.0),
        champion="feature:1",
        valid=queries(1),
        early_stopping=3,
        stop_on="u_risk",
        rounds=60,
        leaves=8,
        learning_rate=0.5,
    )
    watched = [h["u_risk"] for h in history]
    assert len(watched) < 60
    assert found.rounds == int(np.argmax(watched)) + 1


def test_mistakes_are_told_before_and_from_the_workers(client, tmp_path: Path) -> None:
    data = queries(0)
    with pytest.raises(InputError, match="needs sums over all workers, which LightGBM does not"):
        train_distributed(
            client, data, Objective(name="faro"), champion="feature:1", booster="lightgbm"
        )
    with pytest.raises(InputError, match="needs a champion"):
        train_distributed(client, data, Objective(name="u-cro"))
    with pytest.raises(InputError, match="sample weights cannot be used"):
        train_distributed(client, replace(data, weights=np.ones(len(data.labels))), Objective())
    with pytest.raises(InputError, match="exact GeoRisk needs all topics on one machine"):
        train_distributed(
            client, data, Objective(name="georisk", georisk="exact"), champion="feature:1"
        )
    bad = tmp_path / "bad.svm"
    bad.write_text("1 qid:1 1:x\n")
    with pytest.raises(ParseError, match=r"bad.svm:1: the value of feature 1 is not a number"):
        train_distributed(client, [bad], Objective())


def test_blocks_hold_every_query_once() -> None:
    data = queries(0)
    for count in (1, 2, 7, 500):
        parts = blocks(data, count)
        assert 1 <= len(parts) <= min(count, QUERIES)
        assert sum((p.queries for p in parts), ()) == data.queries


def test_champions_travel_in_two_columns_without_loss() -> None:
    values = np.random.default_rng(0).uniform(0, 1, 50)
    lower, upper = champion_bounds(values, np.full(50, 3))
    assert lower.dtype == upper.dtype == np.float32
    back = lower[::3].astype(np.float64) + upper[::3].astype(np.float64)
    np.testing.assert_allclose(back, values, rtol=0, atol=1e-14)


def test_parse_errors_survive_the_way_home() -> None:
    error = pickle.loads(pickle.dumps(ParseError("a.svm", 3, "what")))
    assert (str(error), error.path, error.line) == ("a.svm:3: what", "a.svm", 3)
