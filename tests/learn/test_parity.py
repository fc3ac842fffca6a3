"""Without risk our gradients are the boosters' own: same trees, same predictions."""

import json

import numpy as np
import pytest

from surefoot.learn.objectives import Objective, RankingGradient

QUERIES, DOCUMENTS, FEATURES = 150, 40, 12


@pytest.fixture(scope="module")
def collection():
    rng = np.random.default_rng(5)
    features = rng.normal(size=(QUERIES * DOCUMENTS, FEATURES)).astype(np.float32)
    utility = features[:, :4].sum(axis=1) + rng.normal(size=len(features)) * 1.5
    labels = np.clip(np.floor(utility / 1.5), 0, 4).astype(np.float32)
    labels[:DOCUMENTS] = 0  # a query with nothing relevant
    return features, labels, np.arange(0, QUERIES * DOCUMENTS + 1, DOCUMENTS)


@pytest.mark.parametrize("truncation", [5, 30])
@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("name", ["ndcg", "u-cro", "saro", "faro"])
def test_lightgbm_trees_are_identical_at_alpha_zero(
    collection, name: str, normalise: bool, truncation: int
) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    features, labels, offsets = collection
    params = {
        "objective": "lambdarank",
        "num_leaves": 15,
        "learning_rate": 0.1,
        "verbosity": -1,
        "lambdarank_norm": normalise,
        "lambdarank_truncation_level": truncation,
        "sigmoid": 1.5,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
    }
    objective = Objective(
        name=name,
        alpha=0.0,
        truncation_level=truncation,
        sigmoid=1.5,
        normalize="risk-free" if normalise else "off",
    )
    ours = RankingGradient(objective, offsets, labels)

    def train(objective):
        data = lightgbm.Dataset(features, labels, group=np.diff(offsets), free_raw_data=False)
        return lightgbm.train({**params, "objective": objective}, data, 20)

    theirs, mine = train("lambdarank"), train(lambda scores, _: ours(scores))

    def splits(model) -> list[tuple[int, float]]:
        found = []

        def walk(node) -> None:
            if "split_feature" in node:
                found.append((node["split_feature"], node["threshold"]))
                walk(node["left_child"])
                walk(node["right_child"])

        for tree in model.dump_model()["tree_info"]:
            walk(tree["tree_structure"])
        return found

    assert splits(theirs) == splits(mine)
    np.testing.assert_allclose(mine.predict(features), theirs.predict(features), atol=1e-6, rtol=0)


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_sample_weights_and_label_gains(collection, weighted: bool) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    features, labels, offsets = collection
    gains = (0.0, 1.0, 2.0, 4.0, 9.0)
    weights = np.random.default_rng(1).uniform(0.5, 2, labels.size) if weighted else None
    ours = RankingGradient(
        Objective(name="ndcg", label_gain=gains), offsets, labels, weights=weights
    )

    def train(objective):
        data = lightgbm.Dataset(features, labels, group=np.diff(offsets), weight=weights)
        params = {"verbosity": -1, "num_threads": 1, "deterministic": True, "force_row_wise": True}
        params |= {"objective": objective, "label_gain": list(gains)}
        return lightgbm.train(params, data, 10)

    theirs, mine = train("lambdarank"), train(lambda scores, _: ours(scores))
    np.testing.assert_allclose(mine.predict(features), theirs.predict(features), atol=1e-6, rtol=0)


@pytest.mark.parametrize("normalise", [True, False])
def test_xgboost_ndcg_is_equal_at_alpha_zero(collection, normalise: bool) -> None:
    xgboost = pytest.importorskip("xgboost")
    features, labels, offsets = collection
    matrix = xgboost.DMatrix(features, labels, qid=np.repeat(np.arange(QUERIES), DOCUMENTS))
    params = {
        "max_depth": 5,
        "eta": 0.1,
        "tree_method": "hist",
        "eval_metric": "ndcg@10",
        "ndcg_exp_gain": True,
        "base_score": 0.0,
        "nthread": 1,
    }
    pairs = {
        "objective": "rank:ndcg",
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 30,
        "lambdarank_normalization": normalise,
        "lambdarank_score_normalization": normalise,
    }
    objective = Objective(name="ndcg", normalize="risk-free" if normalise else "off")
    ours = RankingGradient(objective, offsets, labels, booster="xgboost")
    theirs_log: dict = {}
    mine_log: dict = {}
    common = {"num_boost_round": 20, "evals": [(matrix, "train")], "verbose_eval": False}
    theirs = xgboost.train({**params, **pairs}, matrix, evals_result=theirs_log, **common)
    mine = xgboost.train(
        params, matrix, obj=lambda scores, _: ours(scores), evals_result=mine_log, **common
    )
    np.testing.assert_allclose(
        mine_log["train"]["ndcg@10"], theirs_log["train"]["ndcg@10"], atol=1e-12, rtol=0
    )

    def trees(model) -> list:
        return [json.loads(tree)["split"] for tree in model.get_dump(dump_format="json")]

    assert trees(mine) == trees(theirs)
