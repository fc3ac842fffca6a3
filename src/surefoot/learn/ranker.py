"""`RiskRanker`: the estimator for people who live in scikit-learn, without needing it."""

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.features import FeatureData
from surefoot.errors import InputError
from surefoot.learn.boosting import train_ranker
from surefoot.learn.champion import read_champions
from surefoot.learn.model import Ranker
from surefoot.learn.monitor import RiskMonitor
from surefoot.learn.objectives import Objective, one_scale


class RiskRanker:
    """A ranker with scikit-learn's habits: fit, predict, get_params, set_params.

    Parameters
    ----------
    objective, alpha, measure, truncation_level, label_gain, max_label, sigmoid, normalize,
    pair_weight, standard_error, georisk
        As in `Objective`; without `max_label` the highest grade of the training and held-out
        queries counts.
    booster, rounds, learning_rate, leaves, min_documents, params
        As in `train_ranker`.
    seed, threads : int
        Randomness and processors.

    Examples
    --------
    >>> import numpy as np
    >>> from surefoot.learn import RiskRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> y = (X[:, 0] + rng.normal(size=200) > 0.5).astype(int)
    >>> ranker = RiskRanker(objective="u-cro", alpha=5, rounds=5)
    >>> scores = ranker.fit(X, y, group=[20] * 10, champion="feature:2").predict(X)
    >>> scores.shape
    (200,)
    """

    def __init__(
        self,
        *,
        objective: str = "ndcg",
        alpha: float = 1.0,
        measure: str = "nDCG@10",
        truncation_level: int = 30,
        label_gain: tuple[float, ...] | None = None,
        max_label: int | None = None,
        sigmoid: float = 1.0,
        normalize: str = "risk-free",
        pair_weight: str = "booster",
        standard_error: str = "first",
        georisk: str = "refresh",
        booster: str = "lightgbm",
        rounds: int = 100,
        learning_rate: float = 0.1,
        leaves: int = 31,
        min_documents: int = 20,
        params: Mapping[str, Any] | None = None,
        seed: int = 0,
        threads: int = 0,
    ) -> None:
        self.objective = objective
        self.alpha = alpha
        self.measure = measure
        self.truncation_level = truncation_level
        self.label_gain = label_gain
        self.max_label = max_label
        self.sigmoid = sigmoid
        self.normalize = normalize
        self.pair_weight = pair_weight
        self.standard_error = standard_error
        self.georisk = georisk
        self.booster = booster
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.min_documents = min_documents
        self.params = params
        self.seed = seed
        self.threads = threads

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All constructor parameters."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **params: Any) -> "RiskRanker":
        """Change constructor parameters."""
        known = signature(type(self)).parameters
        for name, value in params.items():
            if name not in known:
                raise InputError(f"RiskRanker has no parameter {name!r}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = signature(type(self)).parameters
        changed = (f"{k}={v!r}" for k, v in self.get_params().items() if v != defaults[k].default)
        return f"RiskRanker({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ranker_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags  # only scikit-learn itself asks

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            input_tags=InputTags(allow_nan=True),
        )

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        group: Sequence[int] | npt.NDArray[np.integer] | None = None,
        qid: Sequence[object] | npt.NDArray[np.generic] | None = None,
        champion: Any = None,
        sample_weight: npt.ArrayLike | None = None,
        eval_set: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]] | None = None,
        eval_group: Sequence[Sequence[int]] | None = None,
        eval_qid: Sequence[Sequence[object]] | None = None,
        eval_champion: Any = None,
        early_stopping_rounds: int = 0,
        stop_on: str = "effectiveness",
    ) -> "RiskRanker":
        """Learn from documents X with labels y.

        Parameters
        ----------
        group or qid
            Query sizes, or the query id of each document (in unbroken blocks).
        champion : champion source, optional
            Per-query effectiveness of the champion on the training queries, or where to find it;
            see `read_champions`. Queries without ids are called q0, q1, ...
        sample_weight : (n_documents,) array, optional
            Multiplies each document's gradient and hessian.
        eval_set, eval_group, eval_qid : sequences of length 1
            One held-out set, as scikit-learn's rankers take it.
        eval_champion : champion source, optional
            The champion on the held-out queries.
        early_stopping_rounds : int
            Stop after this many rounds without improvement of `stop_on`.
        """
        objective = Objective(
            name=self.objective,
            alpha=self.alpha,
            measure=self.measure,
            truncation_level=self.truncation_level,
            label_gain=None if self.label_gain is None else tuple(self.label_gain),
            max_label=self.max_label,
            sigmoid=self.sigmoid,
            normalize=self.normalize,
            pair_weight=self.pair_weight,
            standard_error=self.standard_error,
            georisk=self.georisk,
        )
        data = FeatureData.from_groups(X, y, group=group, qid=qid, weights=sample_weight)
        held_out = None
        if eval_set is not None:
            if len(eval_set) != 1:
                raise InputError(f"eval_set must hold one (X, y) pair, but holds {len(eval_set)}")
            held_out = FeatureData.from_groups(
                *eval_set[0],
                group=None if eval_group is None else np.asarray(eval_group[0]),
                qid=None if eval_qid is None else list(eval_qid[0]),
            )
        objective = one_scale(objective, data, held_out)
        champions = None
        if champion is not None:
            champions = read_champions(champion, data, objective, threads=self.threads)
        monitor = None
        if held_out is not None:
            judged = None
            if eval_champion is not None:
                judged = read_champions(eval_champion, held_out, objective, threads=self.threads)
            monitor = RiskMonitor(held_out, objective, judged, stop_on, self.threads)
        self.ranker_: Ranker = train_ranker(
            data,
            objective,
            champions=champions,
            monitor=monitor,
            booster=self.booster,
            rounds=self.rounds,
            learning_rate=self.learning_rate,
            leaves=self.leaves,
            min_documents=self.min_documents,
            early_stopping=early_stopping_rounds,
            params=self.params,
            seed=self.seed,
            threads=self.threads,
        )
        self.evals_result_ = [] if monitor is None else list(monitor.history)
        self.best_iteration_ = self.ranker_.rounds
        self.n_features_in_ = data.n_features
        return self

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Score of each document, higher is better."""
        if not hasattr(self, "ranker_"):
            raise InputError("this RiskRanker is not fitted yet. Hint: call fit first")
        return self.ranker_.predict(X, threads=self.threads)
