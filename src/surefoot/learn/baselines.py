"""Four learned baselines for GeoRisk, as in Dincer et al. 2016: two of trees, two linear."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from surefoot.data.features import FeatureData
from surefoot.extras import require
from surefoot.kernels.lambdas import QueryMeasure
from surefoot.learn.boosting import train_ranker
from surefoot.learn.champion import Champions
from surefoot.learn.measures import score_queries
from surefoot.learn.model import Ranker
from surefoot.learn.objectives import Objective

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LearnedBaselines:
    """LambdaMART, boosted regression trees, a least-squares line and AdaRank."""

    lambdamart: Ranker
    regression: Ranker
    line: Doubles
    adarank: Doubles

    def champions(self, data: FeatureData, objective: Objective, *, threads: int = 0) -> Champions:
        """Their effectiveness on a collection."""
        measure = _measure(data, objective)
        scores = {
            "LambdaMART": self.lambdamart.predict(data.features, threads=threads),
            "regression trees": self.regression.predict(data.features, threads=threads),
            "linear": _ranked_features(data) @ self.line,
            "AdaRank": _ranked_features(data) @ self.adarank,
        }
        rows = [score_queries(measure, data.offsets, s, threads=threads) for s in scores.values()]
        return Champions(tuple(scores), np.array(rows))


def train_baselines(
    data: FeatureData, objective: Objective, *, rounds: int = 100, seed: int = 0, threads: int = 0
) -> LearnedBaselines:
    """Train all four on queries that the ranker itself will not see."""
    plain = replace(objective, name="ndcg", alpha=0.0)
    lambdamart = train_ranker(data, plain, rounds=rounds, leaves=15, seed=seed, threads=threads)
    lightgbm = require("lightgbm", purpose="boosted regression trees")
    settings = {
        "objective": "regression",
        "verbosity": -1,
        "num_leaves": 15,
        "seed": seed,
        "num_threads": threads,
        "deterministic": True,
        "force_row_wise": True,
    }
    model = lightgbm.train(
        settings, lightgbm.Dataset(data.features, data.labels, params={"verbosity": -1}), rounds
    )
    regression = Ranker("lightgbm", model.model_to_string(), data.n_features, plain, rounds)
    ranks = _ranked_features(data)
    ridge = ranks.T @ ranks + 1e-3 * len(ranks) * np.eye(ranks.shape[1])
    line = np.linalg.solve(ridge, ranks.T @ (data.labels - data.labels.mean()))
    return LearnedBaselines(
        lambdamart, regression, line, _adarank(data, ranks, _measure(data, plain), threads)
    )


def _measure(data: FeatureData, objective: Objective) -> QueryMeasure:
    return objective.learning_measure().build(data.offsets, data.labels)


def _ranked_features(data: FeatureData) -> Doubles:
    """Each feature as its position within the query, from -1 to 1: linear models need one scale."""
    out = np.empty(data.features.shape)
    for begin, end in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True):
        block = np.nan_to_num(data.features[begin:end])
        low, high = block.min(axis=0), block.max(axis=0)
        span = np.where(high > low, high - low, 1.0)
        out[begin:end] = 2.0 * (block - low) / span - 1.0
    return out


def _adarank(
    data: FeatureData, ranks: Doubles, measure: QueryMeasure, threads: int, rounds: int = 20
) -> Doubles:
    """Boost single features on the queries that the sum so far serves worst (Xu and Li 2007)."""
    directions = np.concatenate([np.eye(ranks.shape[1]), -np.eye(ranks.shape[1])])
    table = np.array(
        [score_queries(measure, data.offsets, ranks @ d, threads=threads) for d in directions]
    )
    weight = np.full(table.shape[1], 1.0 / table.shape[1])
    total = np.zeros(ranks.shape[1])
    for _ in range(rounds):
        gain = table @ weight
        best = int(gain.argmax())
        share = min(max(float(gain[best]), 1e-6), 1 - 1e-6)
        total += 0.5 * np.log((1 + share) / (1 - share)) * directions[best]
        now = score_queries(measure, data.offsets, ranks @ total, threads=threads)
        weight = np.exp(-now)
        weight /= weight.sum()
    return total
