"""From a labelled collection to cases: what studies see of each query, and the truth.

Models are fitted on one fold and the other four are the pool, as in Sawade et al. 2012, Section 5.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.active.labelled import Labelled, mq2007, mslr_like, ohsumed
from surefoot.active.bounds import value_bounds
from surefoot.active.measure import parse_measure
from surefoot.active.moments import moments, values
from surefoot.active.relevance.forest import fit_forest
from surefoot.active.relevance.ordered_logit import fit_ordered_logit
from surefoot.active.sampling import spread
from surefoot.data.pool import Pool
from surefoot.extras import require

FloatArray = npt.NDArray[np.float64]
Order = Callable[[int, int], npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Case:
    """One quantity over one pool.

    Parameters
    ----------
    collection, experiment, label, measure, fold
        What it is.
    value, cost : (n_queries,) arrays
        Under the true labels, and the price with a mean of 1.
    expected, around : (n_queries,) arrays
        The model's expectation, and its squared deviation from the mean (Eqs 11, 12).
    expected_uniform, around_uniform : (n_queries,) arrays
        The same with all grades equally likely.
    low, high : (n_queries,) arrays
        What the value can be under any labels.
    """

    collection: str
    experiment: str
    label: str
    measure: str
    fold: int
    value: FloatArray
    cost: FloatArray
    expected: FloatArray
    around: FloatArray
    expected_uniform: FloatArray
    around_uniform: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def name(self) -> str:
        parts = (self.collection, self.experiment, self.label, self.measure, str(self.fold))
        return "/".join(parts)


ARRAYS = (
    "value",
    "cost",
    "expected",
    "around",
    "expected_uniform",
    "around_uniform",
    "low",
    "high",
)


def save(cases: list[Case], path: Path) -> None:
    """All cases in one file, in single precision: the truth is that of the rounded values."""
    arrays = {f"{c.name}/{a}": getattr(c, a).astype(np.float32) for c in cases for a in ARRAYS}
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(".part.npz")
    np.savez_compressed(whole, **arrays)
    whole.rename(path)


def load(work: Path) -> list[Case]:
    """All cases of a folder."""
    files = [p for p in sorted(work.glob("*.npz")) if not p.name.endswith(".part.npz")]
    return [found for path in files for found in _load(path)]


def _load(path: Path) -> list[Case]:
    """Cases that `save` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        names = dict.fromkeys(key.rpartition("/")[0] for key in stored.files)
        out = []
        for name in names:
            collection, experiment, label, measure, fold = name.split("/")
            arrays = {a: stored[f"{name}/{a}"].astype(np.float64) for a in ARRAYS}
            out.append(Case(collection, experiment, label, measure, int(fold), **arrays))
    return out


def case(
    data: Labelled,
    where: tuple[str, str, str, str, int],
    orders: list[Order],
    probability: FloatArray,
    *,
    other: int = -1,
) -> Case:
    """A case from the order of each ranking and the model's probabilities of all documents.

    Parameters
    ----------
    where : tuple
        Collection, experiment, label, measure and the fold that models were fitted on.
    orders : list of callables
        Take the first document of a query and the one after its last, return documents best first.
    other : int
        With several rankings, the one that the first is compared with; queries are drawn for all
        comparisons with the first together.
    """
    fold, measure = where[4], parse_measure(where[3])
    queries = np.flatnonzero(data.fold != fold)
    begin, end = data.offset[queries], data.offset[queries + 1]
    kept = np.concatenate([np.arange(b, e) for b, e in zip(begin, end, strict=True)])
    base = np.concatenate([[0], np.cumsum(end - begin)])
    offsets, items = [], []
    for order in orders:
        lists = [
            order(int(b), int(e)) - b + first
            for b, e, first in zip(begin, end, base[:-1], strict=True)
        ]
        offsets.append(np.concatenate([[0], np.cumsum([len(x) for x in lists])]))
        items.append(np.concatenate(lists).astype(np.int32))
    pool = Pool(
        tuple(str(q) for q in queries),
        tuple("ABCDEFGH"[: len(orders)]),
        base.astype(np.int64),
        tuple(str(d) for d in kept),
        tuple(o.astype(np.int64) for o in offsets),
        tuple(items),
        np.ascontiguousarray(probability[kept]),
    )
    shown = pool.shown(measure.judged_depth)
    price = data.price[kept]
    owner = pool.topic_of_item
    # a query for which nothing is shown still costs a look
    raw = np.bincount(owner[shown], weights=price[shown], minlength=len(queries))
    raw = np.maximum(raw, data.price.min())
    p = np.full(len(queries), 1 / len(queries))
    compare = len(orders) > 1
    sign = np.zeros(len(orders))
    other = other % len(orders)
    sign[0] = 1.0
    if compare:
        sign[other] = -1.0
    flat = np.broadcast_to(np.full(pool.grades, 1 / pool.grades), pool.probability.shape)
    informed = moments(pool, measure, threads=1)
    uniform = moments(pool.with_probability(flat), measure, threads=1)
    low, high = value_bounds(pool, measure)
    return Case(
        *where,
        value=sign @ values(pool, measure, data.grade[kept]),
        cost=raw / raw.mean(),
        expected=sign @ informed.mean,
        around=spread(informed, p, compare=compare),
        expected_uniform=sign @ uniform.mean,
        around_uniform=spread(uniform, p, compare=compare),
        low=low[len(orders) + other - 1 if compare else 0],
        high=high[len(orders) + other - 1 if compare else 0],
    )


def by_score(score: FloatArray) -> Order:
    """Documents in descending order of a score."""
    return lambda b, e: b + np.argsort(-score[b:e], kind="stable")


def thinned(order: Order, kept: npt.NDArray[np.bool_]) -> Order:
    """A ranking without some documents (an outdated index)."""

    def shortened(b: int, e: int) -> npt.NDArray[np.int64]:
        found = order(b, e)
        return found[kept[found]]

    return shortened


def given(rank: FloatArray) -> Order:
    """The documents that a given ranking retrieved."""

    def order(b: int, e: int) -> npt.NDArray[np.int64]:
        found = np.flatnonzero(~np.isnan(rank[b:e]))
        return b + found[np.argsort(rank[b:e][found], kind="stable")]

    return order


TREES = 40  # of each forest

# -- rankers -----------------------------------------------------------------------------------


def regression_forest(x: FloatArray, y: npt.NDArray[np.int64], *, seed: int) -> Callable:
    """Random Forest regression of the grade (Sawade et al. 2012, Section 5.1)."""
    lightgbm = require("lightgbm", purpose="a random forest")
    parameters = {
        "objective": "regression",
        "boosting": "rf",
        "bagging_freq": 1,
        "bagging_fraction": 0.632,
        "feature_fraction": min(1.0, max(1 / 3, 3 / x.shape[1])),
        "num_leaves": 256,
        "min_data_in_leaf": 10,
        "seed": seed,
        "deterministic": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    forest = lightgbm.train(parameters, lightgbm.Dataset(x, label=y), num_boost_round=TREES)
    return lambda features: np.asarray(forest.predict(features))


def ranking_svm(
    x: FloatArray, y: npt.NDArray[np.int64], query: npt.NDArray[np.int64]
) -> FloatArray:
    """Weights of a linear ranking SVM: squared hinge over pairs of one query."""
    from scipy.optimize import minimize

    better, worse = [], []
    rng = np.random.default_rng(0)
    for q in np.unique(query):
        rows = np.flatnonzero(query == q)
        high = rows[y[rows] > 0]
        for i in high:
            lower = rows[y[rows] < y[i]]
            if len(lower):
                chosen = rng.choice(lower, min(3, len(lower)), replace=False)
                better += [i] * len(chosen)
                worse += chosen.tolist()
    gap = x[better] - x[worse]

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        short = np.maximum(1 - gap @ w, 0)
        return float(short @ short / len(gap) + 0.001 * w @ w), (
            -2 * gap.T @ short / len(gap) + 0.002 * w
        )

    return np.asarray(minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x)


def training_set(data: Labelled, fold: int, share: float) -> npt.NDArray[np.bool_]:
    """The documents of the first queries of a fold."""
    queries = np.flatnonzero(data.fold == fold)
    return np.isin(data.query, queries[: max(int(len(queries) * share), 2)])


def forest_scores(data: Labelled, fold: int, share: float = 1.0) -> FloatArray:
    """Scores of all documents by a forest of a part of a fold."""
    train = training_set(data, fold, share)
    forest = regression_forest(data.features[train], data.grade[train], seed=fold)
    return np.asarray(forest(data.features))


def fitted(data: Labelled, fold: int) -> dict[str, FloatArray]:
    """Scores and probabilities of all documents from models of one fold."""
    train = training_set(data, fold, 1.0)
    x, y = data.features[train], data.grade[train]
    centre, scale = x.mean(axis=0), np.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    w = ranking_svm((x - centre) / scale, y, data.query[train])
    logit = fit_ordered_logit(x, y, data.grades).predict(data.features)
    forest = fit_forest(x, y, data.grades, trees=TREES, seed=fold, threads=1).predict(data.features)
    level = np.arange(data.grades)
    return {
        "svm": ((data.features - centre) / scale) @ w,
        "logit": logit @ level,
        "p logit": logit,
        "forest": forest_scores(data, fold),
        "ordinal forest": forest @ level,
        "p forest": forest,
    }


GROWTH = (0.6, 0.7, 0.8, 0.9, 1.0)
OTHER_MEASURES = ("nDCG@10", "RBP(p=0.8)", "INST(T=3)")


def trained_cases(name: str, data: Labelled, fold: int) -> Iterator[Case]:
    """Sections 5.1 and 5.2: rankers trained on one fold."""
    m = fitted(data, fold)
    order = {k: by_score(v) for k, v in m.items() if not k.startswith("p ")}
    mixed = (m["p forest"] + m["p logit"]) / 2  # Sawade et al. 2012, Section 5.2
    for measure in ("ERR", "DCG"):
        for ranker, p in (("forest", m["p forest"]), ("logit", m["p logit"])):
            yield case(data, (name, "estimate", ranker, measure, fold), [order[ranker]], p)
    for one, other, p in (
        ("forest", "ordinal forest", m["p forest"]),
        ("logit", "svm", m["p logit"]),
        ("logit", "forest", mixed),
    ):
        where = (name, "compare", f"{one} and {other}", "ERR", fold)
        yield case(data, where, [order[one], order[other]], p)
    for measure in OTHER_MEASURES:
        yield case(
            data, (name, "measure", "forest", measure, fold), [order["forest"]], m["p forest"]
        )
    rivals = ("ordinal forest", "logit", "svm")
    together = [order["forest"], *(order[k] for k in rivals)]
    for k, rival in enumerate(rivals, start=1):
        where = (name, "together", f"forest and {rival}", "ERR", fold)
        yield case(data, where, together, mixed, other=k)
        where = (name, "apart", f"forest and {rival}", "ERR", fold)
        yield case(data, where, [order["forest"], order[rival]], mixed)
    kept = np.random.default_rng(fold).random(len(data.grade)) >= 0.1
    both = [order["forest"], thinned(order["forest"], kept)]
    yield case(data, (name, "index update", "forest", "ERR", fold), both, m["p forest"])
    half = by_score(forest_scores(data, fold, 0.5))
    for share in GROWTH:
        more = order["forest"] if share == 1 else by_score(forest_scores(data, fold, share))
        where = (name, "training set", f"{share:g}", "ERR", fold)
        yield case(data, where, [half, more], m["p forest"])


def given_cases(name: str, data: Labelled, fold: int) -> Iterator[Case]:
    """The 21 given rankings: each alone, and each against the next better one."""
    assert data.rank is not None
    train = training_set(data, fold, 1.0)
    p = fit_ordered_logit(data.features[train], data.grade[train], data.grades)
    probability = p.predict(data.features)
    orders = [given(data.rank[:, k]) for k in range(data.rank.shape[1])]
    alone = []
    for k, order in enumerate(orders):
        where = (name, "given", f"ranking {k + 1}", "ERR", fold)
        alone.append(case(data, where, [order], probability))
        yield alone[-1]
    by_truth = np.argsort([-c.value.mean() for c in alone])
    for place, (i, j) in enumerate(pairwise(by_truth), start=1):
        where = (name, "given pair", f"{place} and {place + 1}", "ERR", fold)
        yield case(data, where, [orders[i], orders[j]], probability)


def prepare(data: Path, work: Path, *, quick: bool = False) -> None:
    """Every case, a file a collection and fold; what is there already is kept.

    `quick`: one fold, and a small generated collection.
    """
    for name, read in (
        ("MQ2007-agg", lambda: mq2007(data)),
        ("OHSUMED", lambda: ohsumed(data)),
        ("MSLR-like", lambda: mslr_like(500 if quick else 2000)),
    ):
        collection = None
        for fold in range(1 if quick else 5):
            path = work / f"{name}-{fold}.npz"
            if path.exists():
                continue
            print(f"{name}, fold {fold + 1}", file=sys.stderr, flush=True)
            collection = read() if collection is None else collection
            cases = list(trained_cases(name, collection, fold))
            if collection.rank is not None:
                cases += given_cases(name, collection, fold)
            save(cases, path)
