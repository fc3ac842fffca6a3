"""Objectives as the boosters call them: LightGBM's `params["objective"]`, XGBoost's `obj=`.

Labels, query sizes and weights come from the booster's own data set, so that one object serves any
number of data sets, folds and fits; the state of each lives and dies with its data set.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.extras import require
from surefoot.kernels.lambdas import Doubles, Singles
from surefoot.learn.champion import Champions
from surefoot.learn.objectives import Objective, RankingGradient, Reduce


class _PerDataset:
    """Makes a gradient for each data set that asks, and keeps it as long as the data set lives."""

    def __init__(
        self, objective: Objective, champions: Champions | npt.ArrayLike | None, threads: int
    ) -> None:
        self.objective = objective
        self.champions = champion_array(objective, champions)
        self.threads = threads
        self._kept: WeakKeyDictionary[Any, RankingGradient] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Without the fits in progress: a copy or a worker starts its own."""
        return {k: v for k, v in self.__dict__.items() if k != "_kept"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kept=WeakKeyDictionary())

    def _of(self, dataset: Any, make: Callable[[], RankingGradient]) -> RankingGradient:
        found = self._kept.get(dataset)
        if found is None:
            found = self._kept[dataset] = make()
        return found


class LightGBMObjective(_PerDataset):
    """An objective for `lightgbm.train`, `lightgbm.cv` and `lightgbm.Booster.update(fobj=...)`.

    Parameters
    ----------
    objective : Objective
        What to learn for.
    champions : Champions or (n_baselines, n_queries) array, optional
        Effectiveness of the baselines on the queries of the training set, in its order.
    threads : int
        For the gradients; 0 for all cores.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> from surefoot.learn import LightGBMObjective, Objective
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(200, 5)), rng.integers(0, 3, 200)
    >>> train = lightgbm.Dataset(X, y, group=[20] * 10)
    >>> risk = LightGBMObjective(Objective(name="u-cro", alpha=5), np.full(10, 0.6))
    >>> model = lightgbm.train({"objective": risk, "verbosity": -1}, train, 5)
    >>> model.num_trees()
    5
    """

    def __init__(
        self,
        objective: Objective,
        champions: Champions | npt.ArrayLike | None = None,
        *,
        threads: int = 0,
    ) -> None:
        super().__init__(objective, champions, threads)

    def __call__(self, scores: npt.ArrayLike, dataset: Any) -> tuple[Singles, Singles]:
        """Gradient and hessian of each document."""

        def make() -> RankingGradient:
            sizes = dataset.get_group()
            if sizes is None:
                raise InputError("the data set has no queries. Hint: lightgbm.Dataset(..., group=)")
            return RankingGradient(
                self.objective,
                offsets_of(sizes),
                dataset.get_label(),
                champions=self.champions,
                weights=dataset.get_weight(),
                threads=self.threads,
            )

        return self._of(dataset, make)(scores)


class XGBoostObjective(_PerDataset):
    """An objective for `xgboost.train` and `xgboost.dask.train`.

    Parameters
    ----------
    objective : Objective
        What to learn for.
    champions : Champions or (n_baselines, n_queries) array, optional
        Effectiveness of the baselines on the training queries, in their order. Beyond one machine
        leave it out and let the scores travel with the rows: `champion_bounds` makes the two
        columns ``label_lower_bound`` and ``label_upper_bound`` that carry them.
    baselines : int
        How many baselines the carried scores are the mean of (GeoRisk needs their sum).
    threads : int
        For the gradients; 0 for all cores.

    Notes
    -----
    Use ``base_score=0`` with a custom objective: the built-in ranking starts there too. In
    distributed training the sums over all queries that SARO, FARO and GeoRisk need are gathered
    with `xgboost.collective.allreduce`; all documents of a query must be in one partition.
    """

    def __init__(
        self,
        objective: Objective,
        champions: Champions | npt.ArrayLike | None = None,
        *,
        baselines: int = 1,
        threads: int = 0,
    ) -> None:
        super().__init__(objective, champions, threads)
        self.baselines = baselines

    def __call__(self, scores: npt.ArrayLike, matrix: Any) -> tuple[Singles, Singles]:
        """Gradient and hessian of each document."""
        return self._of(matrix, lambda: self._gradient(matrix))(scores)

    def _gradient(self, matrix: Any) -> RankingGradient:
        offsets = matrix_offsets(matrix)
        champions = self.champions
        if champions is None and self.objective.needs_champion:
            champions = carried_champions(matrix, offsets, self.baselines)
        weights = matrix.get_weight()
        if weights.size == offsets.size - 1:
            weights = np.repeat(weights, np.diff(offsets))  # XGBoost's are of queries
        return RankingGradient(
            self.objective,
            offsets,
            matrix.get_label(),
            champions=champions,
            weights=weights if weights.size else None,
            booster="xgboost",
            reduce=all_workers(),
            threads=self.threads,
        )


def champion_array(
    objective: Objective, champions: Champions | npt.ArrayLike | None
) -> Doubles | None:
    """What an objective learns against: all baselines for GeoRisk, else one."""
    if champions is None or not objective.needs_champion:
        return None
    if not isinstance(champions, Champions):
        values = np.atleast_2d(np.asarray(champions, dtype=np.float64))
        champions = Champions(tuple(f"champion{i + 1}" for i in range(len(values))), values)
    return champions.values if objective.name == "georisk" else champions.single().values


def champion_bounds(
    champions: Champions | npt.ArrayLike, sizes: npt.ArrayLike
) -> tuple[Singles, Singles]:
    """The mean champion of each document's query as two 32-bit columns, whose sum has 48 bits.

    XGBoost's bounds of a label are the two columns of a data set that ranking does not use and
    that travel with the rows.
    """
    values = champions.values if isinstance(champions, Champions) else np.atleast_2d(champions)
    mean = np.repeat(np.asarray(values, dtype=np.float64).mean(axis=0), np.asarray(sizes))
    coarse = mean.astype(np.float32)
    return coarse, (mean - coarse).astype(np.float32)


def carried_champions(matrix: Any, offsets: npt.NDArray[np.int64], baselines: int) -> Doubles:
    """The inverse of `champion_bounds`, for one worker's rows."""
    lower = matrix.get_float_info("label_lower_bound")
    upper = matrix.get_float_info("label_upper_bound")
    if lower.size != offsets[-1] or upper.size != offsets[-1]:
        raise InputError(
            "the champion's scores are missing. Hint: pass champions=, or the two columns of "
            "champion_bounds as label_lower_bound and label_upper_bound"
        )
    first = offsets[:-1]
    mean = lower[first].astype(np.float64) + upper[first].astype(np.float64)
    return np.repeat(mean[None, :], baselines, axis=0)


def matrix_offsets(matrix: Any) -> npt.NDArray[np.int64]:
    """First document of each query of an XGBoost matrix."""
    offsets: npt.NDArray[np.int64] = matrix.get_uint_info("group_ptr").astype(np.int64)
    if offsets.size < 2:
        raise InputError("the matrix has no queries. Hint: xgboost.DMatrix(..., qid=)")
    return offsets


def offsets_of(sizes: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Query sizes as first documents."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))])


def all_workers() -> Reduce | None:
    """XGBoost's allreduce where several workers train, None on one machine."""
    collective = require("xgboost.collective", purpose="training with XGBoost")
    if not collective.is_distributed() or collective.get_world_size() == 1:
        return None

    def add_up(sums: Doubles) -> Doubles:
        total: Doubles = collective.allreduce(np.array(sums, np.float64), collective.Op.SUM)
        return total

    return add_up
