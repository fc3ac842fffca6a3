"""Random forests for ordinal labels: one forest for each P(y >= k) (Li, Burges, Wu 2007)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import ModelError
from surefoot.extras import require

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OrdinalForest:
    """Forests of P(y >= 1), P(y >= 2), ..., as in Sawade et al., Section 5.1."""

    forests: tuple[Any, ...]

    def predict(self, features: FloatArray) -> FloatArray:
        """Probability of each grade, (n_items, n_grades)."""
        above = np.column_stack([f.predict(features) for f in self.forests])
        # separate forests may disagree on the order
        above = np.minimum.accumulate(np.clip(above, 0.0, 1.0), axis=1)
        edges = np.column_stack([np.ones(len(above)), above, np.zeros(len(above))])
        return -np.diff(edges, axis=1)


def fit_forest(
    features: FloatArray,
    grade: npt.NDArray[np.int64],
    grades: int,
    *,
    trees: int = 100,
    leaf: int = 10,
    seed: int = 0,
    threads: int = 0,
) -> OrdinalForest:
    """Fit with LightGBM's random forest mode: a leaf's output is its mean, so a probability.

    Parameters
    ----------
    features, grade, grades
        As for `fit_ordered_logit`.
    trees, leaf : int
        Trees of each forest, and the fewest documents in a leaf.
    """
    lightgbm = require("lightgbm", purpose="a random forest of relevance")
    if len(grade) < 2 * leaf:
        raise ModelError(
            f"a forest needs at least {2 * leaf} labelled documents, got {len(grade)}. "
            "Hint: --model ordered-logit"
        )
    parameters = {
        "objective": "regression",
        "boosting": "rf",
        "bagging_freq": 1,
        "bagging_fraction": 0.632,
        "feature_fraction": min(1.0, max(1 / 3, 3 / features.shape[1])),
        "num_leaves": 256,
        "min_data_in_leaf": leaf,
        "seed": seed,
        "deterministic": True,
        "num_threads": threads,
        "verbosity": -1,
    }
    forests = []
    for k in range(1, grades):
        data = lightgbm.Dataset(features, label=(grade >= k).astype(np.float64), free_raw_data=True)
        forests.append(lightgbm.train(parameters, data, num_boost_round=trees))
    return OrdinalForest(tuple(forests))
