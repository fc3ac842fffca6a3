"""Training with LightGBM or XGBoost: the boosters' own loops, our gradients."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.data.features import FeatureData
from surefoot.errors import InputError, ModelError
from surefoot.extras import require
from surefoot.learn.callables import champion_array
from surefoot.learn.champion import Champions
from surefoot.learn.model import Ranker
from surefoot.learn.monitor import WATCHED, RiskMonitor
from surefoot.learn.objectives import Objective, RankingGradient

BOOSTERS = ("lightgbm", "xgboost")
# what the boosters' own ranking objectives read and a custom one never sees -> our setting
_OURS = {
    **dict.fromkeys(("objective", "application", "app", "objective_type", "loss"), "objective"),
    **dict.fromkeys(
        ("lambdarank_truncation_level", "lambdarank_num_pair_per_sample", "lambdarank_pair_method"),
        "truncation",
    ),
    **dict.fromkeys(
        ("lambdarank_norm", "lambdarank_normalization", "lambdarank_score_normalization"),
        "normalize",
    ),
    **dict.fromkeys(("label_gain", "ndcg_exp_gain"), "label-gain"),
    "sigmoid": "sigmoid",
}


def train_ranker(
    data: FeatureData,
    objective: Objective,
    *,
    champions: Champions | None = None,
    monitor: RiskMonitor | None = None,
    booster: str = "lightgbm",
    rounds: int = 300,
    learning_rate: float = 0.1,
    leaves: int = 31,
    min_documents: int = 20,
    early_stopping: int = 0,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    threads: int = 0,
) -> Ranker:
    """Train a ranker for an objective.

    Parameters
    ----------
    data : FeatureData
        Training queries.
    champions : Champions, optional
        Effectiveness of the baselines on them.
    monitor : RiskMonitor, optional
        Held-out queries to watch; early stopping reads its `stop_on`.
    booster : {"lightgbm", "xgboost"}
        Who grows the trees.
    rounds, learning_rate, leaves, min_documents
        Number of trees, shrinkage, leaves of a tree, and documents that a leaf needs (XGBoost reads
        the last as `min_child_weight` / 20, since it counts hessians, not documents).
    early_stopping : int
        Stop after this many rounds without improvement; 0 never.
    params : mapping, optional
        Further parameters of the booster, which win over all of the above.
    """
    if booster not in BOOSTERS:
        raise InputError(f"booster {booster!r} is not one of {', '.join(BOOSTERS)}")
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, but got {rounds}")
    if early_stopping and monitor is None:
        raise InputError("early stopping needs a validation set. Hint: --valid FILE")
    gradient = RankingGradient(
        objective,
        data.offsets,
        data.labels,
        champions=champion_array(objective, champions),
        weights=data.weights,
        booster=booster,
        threads=threads,
    )
    grow = _lightgbm if booster == "lightgbm" else _xgboost
    settings = {
        "learning_rate": learning_rate,
        "leaves": leaves,
        "min_documents": min_documents,
        "seed": seed,
        "threads": threads,
    }
    return grow(data, gradient, monitor, rounds, early_stopping, settings, dict(params or {}))


def lightgbm_params(settings: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """LightGBM's parameters for one of our objectives."""
    _refuse_ours(params)
    return {
        "verbosity": -1,
        "metric": "None",
        "learning_rate": settings["learning_rate"],
        "num_leaves": settings["leaves"],
        "min_data_in_leaf": settings["min_documents"],
        "seed": settings["seed"],
        "num_threads": settings["threads"],
        "deterministic": True,
        "force_row_wise": True,
        **params,
    }


def _refuse_ours(params: Mapping[str, Any]) -> None:
    for name in params:
        if name in _OURS:
            raise InputError(
                f"the booster's parameter {name} would change nothing: the gradients are ours. "
                f"Hint: --{_OURS[name]}"
            )


def _lightgbm(
    data: FeatureData,
    gradient: RankingGradient,
    monitor: RiskMonitor | None,
    rounds: int,
    early_stopping: int,
    settings: dict[str, Any],
    params: dict[str, Any],
) -> Ranker:
    lightgbm = require("lightgbm", purpose="training with LightGBM")
    merged = {**lightgbm_params(settings, params), "objective": gradient}
    dataset = lightgbm.Dataset(
        data.features, data.labels, group=data.sizes, params={"verbosity": -1}, free_raw_data=True
    )
    callbacks, valid = [], []
    if monitor is not None:
        held_out = monitor.data.widened(data.n_features)
        valid = [
            lightgbm.Dataset(
                held_out.features, held_out.labels, group=held_out.sizes, reference=dataset
            )
        ]
        if early_stopping:
            callbacks.append(
                lightgbm.early_stopping(early_stopping, first_metric_only=True, verbose=False)
            )
    try:
        model = lightgbm.train(
            merged,
            dataset,
            num_boost_round=rounds,
            valid_sets=valid,
            valid_names=["valid"] if valid else None,
            feval=monitor.lightgbm if monitor is not None else None,
            callbacks=callbacks,
        )
    except lightgbm.basic.LightGBMError as error:
        raise ModelError(f"LightGBM: {error}") from None
    used = model.best_iteration if early_stopping and model.best_iteration > 0 else rounds
    return Ranker(
        "lightgbm",
        model.model_to_string(num_iteration=-1),
        data.n_features,
        gradient.objective,
        min(used, model.current_iteration()),
    )


def xgboost_params(
    objective: Objective, settings: Mapping[str, Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    """XGBoost's parameters for one of our objectives."""
    _refuse_ours(params)
    return {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": settings["leaves"],
        "eta": settings["learning_rate"],
        # XGBoost weighs leaves by hessian, and a document's hessian is of order 1/20
        "min_child_weight": settings["min_documents"] / 20.0,
        "seed": settings["seed"],
        "nthread": settings["threads"] or None,
        # a custom objective starts at 0.5 otherwise, where the built-in ranking starts at 0
        "base_score": 0.0,
        "disable_default_eval_metric": True,
        "verbosity": 0,
        **params,
    }


def _xgboost(
    data: FeatureData,
    gradient: RankingGradient,
    monitor: RiskMonitor | None,
    rounds: int,
    early_stopping: int,
    settings: dict[str, Any],
    params: dict[str, Any],
) -> Ranker:
    xgboost = require("xgboost", purpose="training with XGBoost")

    # XGBoost wants ascending query ids: our own order, numbered
    def matrix(part: FeatureData) -> Any:
        return xgboost.QuantileDMatrix(
            part.features,
            part.labels,
            qid=np.repeat(np.arange(len(part.queries)), part.sizes),
            ref=None if part is data else dtrain,
            max_bin=int(params.get("max_bin", 256)),
            nthread=settings["threads"] or None,
        )

    dtrain = matrix(data)
    evals, callbacks = [], []
    metric: Any = None
    if monitor is not None:
        evals = [(matrix(monitor.data.widened(data.n_features)), "valid")]
        metric = monitor.xgboost
        if early_stopping:
            callbacks.append(
                xgboost.callback.EarlyStopping(
                    rounds=early_stopping,
                    metric_name=monitor.stop_on,
                    data_name="valid",
                    maximize=WATCHED[monitor.stop_on],
                )
            )
    try:
        model = xgboost.train(
            xgboost_params(gradient.objective, settings, params),
            dtrain,
            num_boost_round=rounds,
            obj=gradient,
            evals=evals,
            custom_metric=metric,
            callbacks=callbacks,
            verbose_eval=False,
        )
    except xgboost.core.XGBoostError as error:
        raise ModelError(f"XGBoost: {str(error).splitlines()[0]}") from None
    used = model.best_iteration + 1 if early_stopping else rounds
    return Ranker(
        "xgboost",
        model.save_raw("json").decode(),
        data.n_features,
        gradient.objective,
        min(used, model.num_boosted_rounds()),
    )
