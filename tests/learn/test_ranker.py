"""RiskRanker keeps scikit-learn's habits without needing it."""

import numpy as np
import pytest

from surefoot.errors import InputError
from surefoot.learn import RiskRanker

pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(600, 6))
    labels = np.clip(np.floor(features[:, 0] + rng.normal(size=600)), 0, 4)
    return features, labels, np.full(30, 20)


def small(**options) -> RiskRanker:
    return RiskRanker(**{"rounds": 8, "leaves": 7, "threads": 1, **options})


def test_parameters_go_in_and_come_out() -> None:
    ranker = small(objective="saro", alpha=5.0)
    copy = RiskRanker(**ranker.get_params())
    assert copy.get_params() == ranker.get_params()
    assert repr(ranker) == "RiskRanker(objective='saro', alpha=5.0, rounds=8, leaves=7, threads=1)"
    assert ranker.set_params(alpha=2.0).alpha == 2.0
    with pytest.raises(InputError, match="has no parameter 'beta'"):
        ranker.set_params(beta=1)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_fit_predict_with_champion_evaluation_and_early_stopping(data, booster: str) -> None:
    pytest.importorskip(booster)
    features, labels, group = data
    ranker = small(objective="u-cro", alpha=5.0, booster=booster, rounds=40)
    ranker.fit(
        features,
        labels,
        group=group,
        champion="feature:2",
        eval_set=[(features[:200], labels[:200])],
        eval_group=[group[:10]],
        eval_champion="feature:2",
        early_stopping_rounds=3,
        stop_on="t_risk",
    )
    scores = ranker.predict(features)
    assert scores.shape == (600,)
    assert np.corrcoef(scores, features[:, 0])[0, 1] > 0.5
    assert set(ranker.evals_result_[0]) == {
        "effectiveness",
        "u_risk",
        "t_risk",
        "geo_risk",
        "loss_over_20",
    }
    assert ranker.best_iteration_ <= len(ranker.evals_result_)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_parameters_of_the_booster_act(data, booster: str) -> None:
    pytest.importorskip(booster)
    features, labels, group = data
    fine, coarse = (
        small(booster=booster, params=params).fit(features, labels, group=group).predict(features)
        for params in (None, {"max_bin": 4})
    )
    assert np.unique(coarse).size < np.unique(fine).size


def test_a_second_fit_starts_afresh(data) -> None:
    """Trap 7: the objective's state (round, SE) belongs to one fit."""
    features, labels, group = data
    ranker = small(objective="faro", alpha=5.0)
    first = ranker.fit(features, labels, group=group, champion="feature:2").predict(features)
    second = ranker.fit(features, labels, group=group, champion="feature:2").predict(features)
    assert (first == second).all()


def test_query_ids_and_sizes_are_two_ways_to_say_one_thing(data) -> None:
    features, labels, group = data
    by_size = small().fit(features, labels, group=group).predict(features)
    ids = np.repeat(np.arange(30)[::-1], 20)  # descending ids: XGBoost alone would refuse them
    assert (small().fit(features, labels, qid=ids).predict(features) == by_size).all()
    with pytest.raises(InputError, match="scattered"):
        small().fit(features, labels, qid=np.arange(600) % 30)
    with pytest.raises(InputError, match="either group"):
        small().fit(features, labels)


def test_sample_weights_count(data) -> None:
    features, labels, group = data
    plain = small().fit(features, labels, group=group).predict(features)
    ones = small().fit(features, labels, group=group, sample_weight=np.ones(600))
    assert (ones.predict(features) == plain).all()
    with pytest.raises(InputError, match=r"weight -1.0 of document 1 is not a number >= 0"):
        small().fit(features, labels, group=group, sample_weight=-np.ones(600))
    weights = np.repeat([1.0, 9.0], 300)
    weighted = small().fit(features, labels, group=group, sample_weight=weights)
    assert (weighted.predict(features) != plain).any()


def test_unfitted_ranker_says_so(data) -> None:
    with pytest.raises(InputError, match="not fitted yet"):
        small().predict(data[0])


def test_scikit_learn_can_clone_it() -> None:
    base = pytest.importorskip("sklearn.base")
    assert base.clone(small(alpha=3.0)).alpha == 3.0


def test_scikit_learn_takes_it_into_pipelines_and_searches(data) -> None:
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.validation import check_is_fitted

    features, labels, group = data
    steps = Pipeline([("scale", StandardScaler()), ("rank", small(objective="u-cro"))])
    champion = np.full(30, 0.5)
    steps.fit(features, labels, rank__group=group, rank__champion=champion)
    check_is_fitted(steps.named_steps["rank"])
    assert steps.predict(features).shape == (600,)

    def agreement(ranker: RiskRanker, X, y) -> float:
        return float(np.corrcoef(ranker.predict(X), y)[0, 1])

    search = GridSearchCV(small(), {"leaves": [2, 7]}, cv=GroupKFold(3), scoring=agreement)
    ids = np.repeat(np.arange(30), 20)
    assert search.fit(features, labels, groups=ids, qid=ids).best_params_ in (
        {"leaves": 2},
        {"leaves": 7},
    )


def test_training_and_held_out_queries_share_one_scale_of_grades(data) -> None:
    """ERR's gain of a grade depends on the highest grade there is."""
    features, labels, group = data
    low = np.minimum(labels[:200], 2.0)  # the held-out grades stop at 2, those learned from at 4

    def watched(**options) -> float:
        ranker = small(measure="ERR@10", rounds=1, **options)
        ranker.fit(
            features,
            labels,
            group=group,
            eval_set=[(features[:200], low)],
            eval_group=[group[:10]],
        )
        return ranker.evals_result_[0]["effectiveness"]

    assert watched() == watched(max_label=int(labels.max()))
    assert watched() != watched(max_label=int(labels.max()) + 1)
