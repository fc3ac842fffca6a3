"""Training beyond one machine, on a Dask cluster, by the boosters' own distributed loops.

Queries stay whole: a part is a file or a block of queries, is read on the worker that keeps it, and
never visits the client. The champion is scored where the rows are and travels with them. Sums over
all queries (SARO, FARO, GeoRisk; early stopping) are gathered by XGBoost's allreduce; LightGBM
offers none in Python, so under it only the plain lambda and U-CRO can be learned.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.features import FeatureData
from surefoot.errors import InputError, ModelError, SurefootError
from surefoot.extras import require
from surefoot.io.svmlight import read_features
from surefoot.kernels.lambdas import Doubles, Singles
from surefoot.learn.boosting import BOOSTERS, lightgbm_params, xgboost_params
from surefoot.learn.callables import (
    XGBoostObjective,
    all_workers,
    carried_champions,
    champion_bounds,
    matrix_offsets,
    offsets_of,
)
from surefoot.learn.champion import Champions, read_champions
from surefoot.learn.measures import score_queries
from surefoot.learn.model import Ranker
from surefoot.learn.monitor import WATCHED, check_watched, watch
from surefoot.learn.objectives import Objective, RankingGradient

# what a LightGBM weight, a 32-bit float, can number without a gap
_NUMBERED = 2**24
# a part: queries in memory, or a file that the worker can read
Part = FeatureData | str | os.PathLike[str]


def train_distributed(
    client: Any,
    data: Part | Sequence[Part],
    objective: Objective,
    *,
    champion: Any = None,
    valid: Part | Sequence[Part] | None = None,
    booster: str = "xgboost",
    rounds: int = 300,
    learning_rate: float = 0.1,
    leaves: int = 31,
    min_documents: int = 20,
    early_stopping: int = 0,
    stop_on: str = "effectiveness",
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> tuple[Ranker, list[dict[str, float]]]:
    """Train a ranker on the workers of a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client
        The cluster; every worker must have surefoot and the booster installed.
    data : part or sequence of parts
        Files that the workers can read (`read_features`), or queries in memory, which are spread
        over the workers in blocks. A part holds whole queries and no query is in two parts.
    champion : champion source or sequence of them
        As `read_champions` takes them, read where the rows are: ``feature:N``, a score table, a
        run or a model file, a Ranker.
    valid : part or sequence of parts, optional
        Held-out queries to watch; XGBoost only.
    booster, rounds, learning_rate, leaves, min_documents, early_stopping, stop_on, params, seed
        As in `train_ranker`. The worker's number of threads is used.

    Returns
    -------
    Ranker
        The model, as one machine would return it.
    list of dict
        What was watched in each round.
    """
    if booster not in BOOSTERS:
        raise InputError(f"booster {booster!r} is not one of {', '.join(BOOSTERS)}")
    require("distributed", purpose="training on a cluster")
    if booster == "lightgbm":
        _refuse_for_lightgbm(objective, valid)
    if early_stopping and valid is None:
        raise InputError("early stopping needs a validation set. Hint: valid=")
    if objective.name == "georisk" and objective.georisk == "exact":
        raise InputError("exact GeoRisk needs all topics on one machine. Hint: georisk=refresh")
    if objective.needs_champion and champion is None:
        raise InputError(f"the objective {objective.name!r} needs a champion")
    check_watched(stop_on, champion=champion is not None)
    workers = sorted(client.nthreads())
    if not workers:
        raise InputError("the cluster has no workers")
    learned = _Collection(client, data, workers)
    watched = None if valid is None else _Collection(client, valid, workers)
    both = [c for c in (learned, watched) if c is not None]
    width = max(c.width for c in both)
    if objective.max_label is None:
        objective = replace(objective, max_label=max(c.top for c in both))
    for collection in both:
        collection.prepare(objective, champion, width)
    settings = {
        "learning_rate": learning_rate,
        "leaves": leaves,
        "min_documents": min_documents,
        "seed": seed,
        "threads": 0,
    }
    fit = _xgboost if booster == "xgboost" else _lightgbm
    return fit(
        client, learned, watched, objective, rounds, early_stopping, stop_on, settings, params or {}
    )


def _refuse_for_lightgbm(objective: Objective, valid: Any) -> None:
    if objective.name in ("saro", "faro", "georisk") and objective.needs_champion:
        raise InputError(
            f"the objective {objective.name!r} needs sums over all workers, which LightGBM does "
            "not offer. Hint: booster='xgboost'"
        )
    if valid is not None:
        raise InputError("watching held-out queries on a cluster needs booster='xgboost'")


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the client needs to know of a part."""

    documents: int
    queries: int
    width: int
    top: int


class _Collection:
    """Parts on the workers that keep them."""

    def __init__(self, client: Any, data: Part | Sequence[Part], workers: Sequence[str]) -> None:
        self.client = client
        several = isinstance(data, Sequence) and not isinstance(data, str)
        sources: list[Part] = list(data) if several else [data]  # type: ignore[arg-type, list-item]
        if len(sources) == 1 and isinstance(sources[0], FeatureData):
            sources = [*blocks(sources[0], len(workers))]
        if not sources:
            raise InputError("there is nothing to learn from: no parts were given")
        # neighbours stay together, so that a worker's queries are in the order of the parts
        self.homes = [workers[i * len(workers) // len(sources)] for i in range(len(sources))]
        self.parts = [
            client.scatter(source, workers=[home], hash=False)
            if isinstance(source, FeatureData)
            else client.submit(_read, os.fspath(source), workers=[home], pure=False)
            for source, home in zip(sources, self.homes, strict=True)
        ]
        self.shapes: list[_Shape] = _gather(client, self._everywhere(_shape, self.parts))
        self.width = max(s.width for s in self.shapes)
        self.top = max(s.top for s in self.shapes)
        self.rows: list[Any] = []
        self.baselines = 0

    def _everywhere(self, function: Any, *columns: Sequence[Any]) -> list[Any]:
        """One task a part, on the worker that keeps it."""
        return [
            self.client.submit(function, *arguments, workers=[home], pure=False)
            for home, *arguments in zip(self.homes, *columns, strict=True)
        ]

    def prepare(self, objective: Objective, champion: Any, width: int) -> None:
        """Score the champion and make the columns that the boosters take."""
        counts = [s.queries for s in self.shapes]
        first = np.concatenate([[0], np.cumsum(counts)]).tolist()
        champions = [champion] * len(counts)
        if isinstance(champion, np.ndarray):
            table = np.atleast_2d(champion)
            if table.shape[1] != first[-1]:
                raise InputError(
                    f"the champion has {table.shape[1]} scores for {first[-1]} queries"
                )
            champions = [table[:, a:b] for a, b in pairwise(first)]
        same = len(counts)
        self.rows = self._everywhere(
            _prepare, self.parts, champions, [objective] * same, [width] * same, first[:-1]
        )
        self.baselines = max(_gather(self.client, self._everywhere(_baselines, self.rows)))

    def column(self, name: str, dtype: type, *, width: int = 0) -> Any:
        """One of `_prepare`'s arrays over all parts, as a Dask array of a chunk a part."""
        dask_array = require("dask.array", purpose="training on a cluster")
        delayed = require("dask", purpose="training on a cluster").delayed
        chunks = []
        for rows, shape in zip(self._everywhere(_get(name), self.rows), self.shapes, strict=True):
            length = shape.queries if name == "sizes" else shape.documents
            chunks.append(
                dask_array.from_delayed(
                    delayed(rows), shape=(length, width) if width else (length,), dtype=dtype
                )
            )
        return dask_array.concatenate(chunks)

    def numbers(self) -> Doubles:
        """The champion of every query, in order."""
        parts = _gather(self.client, self._everywhere(_get("champion"), self.rows))
        return np.concatenate(parts)


def blocks(data: FeatureData, count: int) -> list[FeatureData]:
    """The queries in `count` blocks of about as many documents, fewer where queries are fewer."""
    count = min(count, len(data.queries))
    targets = data.offsets[-1] * np.arange(1, count) / count
    cuts = np.searchsorted(data.offsets, targets).tolist()
    edges = sorted({0, *cuts, len(data.queries)})
    return [data.select(np.arange(a, b)) for a, b in pairwise(edges)]


def _read(path: str) -> FeatureData:
    return read_features(path)


def _shape(part: FeatureData) -> _Shape:
    if part.weights is not None:
        raise InputError("sample weights cannot be used on a cluster yet")
    top = max(int(np.ceil(part.labels.max())), 1)
    return _Shape(len(part.labels), len(part.queries), part.n_features, top)


def _prepare(
    part: FeatureData, champion: Any, objective: Objective, width: int, first_query: int
) -> dict[str, Any]:
    """Columns of one part; runs on its worker."""
    sizes = part.sizes
    number = np.arange(first_query, first_query + sizes.size)
    mean: Doubles = np.zeros(sizes.size)
    baselines = 0
    if champion is not None:
        champions: Champions = read_champions(champion, part, objective, threads=_worker_threads())
        mean, baselines = champions.single().values[0], len(champions.names)
    lower, upper = champion_bounds(mean, sizes)
    return {
        "features": part.widened(width).features,
        "labels": part.labels,
        "qid": np.repeat(number, sizes).astype(np.int64),
        "number": np.repeat(number, sizes).astype(np.float32) + np.float32(1),
        "lower": lower,
        "upper": upper,
        "sizes": sizes.astype(np.int64),
        "champion": mean,
        "baselines": baselines,
    }


class _get:  # noqa: N801 - a function that can be pickled and named
    """Takes one column from `_prepare`'s result."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, rows: dict[str, Any]) -> Any:
        return rows[self.name]


def _baselines(rows: dict[str, Any]) -> int:
    return int(rows["baselines"])


def _gather(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Results in order; an error of ours on a worker is an error of ours here."""
    try:
        return list(client.gather(list(futures)))
    except SurefootError:
        raise
    except (OSError, MemoryError) as error:
        raise InputError(f"a worker failed: {error}") from None


def _worker_threads() -> int:
    """Threads of the Dask worker that runs this."""
    return int(require("distributed", purpose="training on a cluster").get_worker().state.nthreads)


class _WorkerObjective(XGBoostObjective):
    """Uses the threads of the worker that it finds itself on."""

    def _gradient(self, matrix: Any) -> RankingGradient:
        self.threads = _worker_threads()
        return super()._gradient(matrix)


@dataclass(slots=True)
class _WorkerMetric:
    """What `RiskMonitor` reports, from sums over all workers."""

    objective: Objective
    baselines: int
    stop_on: str

    def __call__(self, scores: npt.NDArray[Any], matrix: Any) -> list[tuple[str, float]]:
        """XGBoost's `custom_metric`: the same values on every worker."""
        offsets = matrix_offsets(matrix)
        measure = self.objective.learning_measure().build(offsets, matrix.get_label())
        values = score_queries(measure, offsets, scores, threads=_worker_threads())
        champion = None
        if self.baselines:
            champion = carried_champions(matrix, offsets, 1)[0]
        found = watch(
            values,
            champion,
            alpha=self.objective.alpha,
            baselines=self.baselines,
            first=self.stop_on,
            reduce=all_workers(),
        )
        return list(found.items())


def _xgboost(
    client: Any,
    learned: _Collection,
    watched: _Collection | None,
    objective: Objective,
    rounds: int,
    early_stopping: int,
    stop_on: str,
    settings: dict[str, Any],
    params: Mapping[str, Any],
) -> tuple[Ranker, list[dict[str, float]]]:
    xgboost = require("xgboost", purpose="training with XGBoost")
    dask = require("xgboost.dask", purpose="training with XGBoost on a cluster")

    def matrix(part: _Collection, ref: Any = None) -> Any:
        return dask.DaskQuantileDMatrix(
            client,
            part.column("features", np.float32, width=learned_width),
            part.column("labels", np.float32),
            qid=part.column("qid", np.int64),
            label_lower_bound=part.column("lower", np.float32),
            label_upper_bound=part.column("upper", np.float32),
            ref=ref,
            max_bin=int(params.get("max_bin", 256)),
        )

    learned_width = max(c.width for c in (learned, watched) if c is not None)
    dtrain = matrix(learned)
    evals = [] if watched is None else [(matrix(watched, dtrain), "valid")]
    callbacks = []
    if early_stopping:
        callbacks.append(
            xgboost.callback.EarlyStopping(
                rounds=early_stopping,
                metric_name=stop_on,
                data_name="valid",
                maximize=WATCHED[stop_on],
            )
        )
    merged = {
        k: v for k, v in xgboost_params(objective, settings, params).items() if k != "nthread"
    }
    metric = None if watched is None else _WorkerMetric(objective, watched.baselines, stop_on)
    try:
        found = dask.train(
            client,
            merged,
            dtrain,
            num_boost_round=rounds,
            obj=_WorkerObjective(objective, baselines=max(learned.baselines, 1)),
            evals=evals,
            custom_metric=metric,
            callbacks=callbacks,
            verbose_eval=False,
        )
    except xgboost.core.XGBoostError as error:
        raise ModelError(f"XGBoost: {str(error).splitlines()[0]}") from None
    model = found["booster"]
    used = model.best_iteration + 1 if early_stopping else rounds
    log = found["history"].get("valid", {})
    rows = zip(*log.values(), strict=True)
    history = [{k: float(v) for k, v in zip(log, row, strict=True)} for row in rows]
    ranker = Ranker(
        "xgboost",
        model.save_raw("json").decode(),
        learned_width,
        objective,
        min(used, model.num_boosted_rounds()),
    )
    return ranker, history


class QueryObjective:
    """The four-argument objective of `DaskLGBMRanker`: plain lambda and U-CRO.

    Parameters
    ----------
    objective : Objective
        One that needs no sum over all queries.
    champion : (n_queries,) float array, optional
        The champion of every query of the whole collection. A row says which query it belongs to
        by its weight: the number of the query counted from 1. LightGBM hands weights to an
        objective and does not itself use them with one.
    """

    def __init__(self, objective: Objective, champion: Doubles | None = None) -> None:
        self.objective = objective
        self.champion = champion
        self._labels: npt.NDArray[Any] | None = None
        self._gradient: RankingGradient | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_labels": None, "_gradient": None}

    def __call__(
        self,
        y_true: npt.NDArray[Any],
        y_pred: npt.NDArray[Any],
        weight: npt.NDArray[Any] | None,
        group: npt.NDArray[Any],
    ) -> tuple[Singles, Singles]:
        """Gradient and hessian of this worker's documents."""
        if self._gradient is None or self._labels is not y_true:
            offsets = offsets_of(group)
            champions = None
            if self.champion is not None and self.objective.needs_champion:
                if weight is None:
                    raise InputError("the rows' weights must number their queries from 1")
                number = np.asarray(weight)[offsets[:-1]].astype(np.int64) - 1
                champions = self.champion[number]
            self._gradient = RankingGradient(
                self.objective, offsets, y_true, champions=champions, threads=_worker_threads()
            )
            self._labels = y_true
        return self._gradient(y_pred)


def _lightgbm(
    client: Any,
    learned: _Collection,
    watched: _Collection | None,
    objective: Objective,
    rounds: int,
    early_stopping: int,
    stop_on: str,
    settings: dict[str, Any],
    params: Mapping[str, Any],
) -> tuple[Ranker, list[dict[str, float]]]:
    lightgbm = require("lightgbm", purpose="training with LightGBM")
    queries = sum(s.queries for s in learned.shapes)
    if queries > _NUMBERED:
        raise InputError(f"LightGBM on a cluster can tell {_NUMBERED} queries apart, not {queries}")
    merged = lightgbm_params(settings, params)
    for ours in ("num_threads", "num_leaves", "learning_rate"):
        merged.pop(ours, None)
    champion = learned.numbers() if objective.needs_champion else None
    ranker = lightgbm.DaskLGBMRanker(
        client=client,
        objective=QueryObjective(objective, champion),
        n_estimators=rounds,
        num_leaves=params.get("num_leaves", settings["leaves"]),
        learning_rate=params.get("learning_rate", settings["learning_rate"]),
        **merged,
    )
    try:
        ranker.fit(
            learned.column("features", np.float32, width=learned.width),
            learned.column("labels", np.float32),
            group=learned.column("sizes", np.int64),
            sample_weight=learned.column("number", np.float32),
        )
    except lightgbm.basic.LightGBMError as error:
        raise ModelError(f"LightGBM: {error}") from None
    model = ranker.booster_
    text = model.model_to_string(num_iteration=-1)
    return Ranker("lightgbm", text, learned.width, objective, model.current_iteration()), []
