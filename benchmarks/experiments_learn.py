"""Does risk-sensitive LambdaMART do what the papers say? Trains every model that the answer needs.

``python -m benchmarks.experiments_learn --processes 16`` runs what is missing under ``--results``
(one small JSON a cell; stop it at any time, the same command goes on), and
``python -m benchmarks.experiments_learn --report`` writes the pages from the collected cells
(`benchmarks/report_learn.py`). ``--quick`` is a small version in a folder of its own; ``--seeds 5``
is the full version for the first five seeds, to which later runs add. Measured: 6 core-minutes a
seed for `generated` and about 5 for `settings`, 5 in all for `letor` and 4 for `gap`.

- generated: `surefoot sample --ltr` at MSLR's size of query. A seed is a training collection of
  its own; all seeds are tested on the same unseen queries. The number of trees is the one that the
  plain control of the same seed and normalisation needs on the validation queries.
- settings: the two aims of the study under other settings, with the plain ranker's own where they
  change it too.
- letor: OHSUMED, MQ2008 and LightGBM's sample from ``--data``, by `sf.cross_validate`.
- gap: why LambdaMART loses to a single feature on OHSUMED, factor by factor.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf
from surefoot.data.features import FeatureData, concatenate
from surefoot.io.atomic import atomic_open
from surefoot.io.svmlight import Fold, find_folds, read_features
from surefoot.learn import Objective, RankingGradient, RiskMonitor, read_champions, train_ranker
from surefoot.learn.baselines import train_baselines
from surefoot.learn.champion import Champions
from surefoot.learn.measures import LearningMeasure, score_queries
from surefoot.workflows.sample_ltr import generate_ltr

HERE = Path(__file__).resolve().parent
ALPHAS = (1.0, 5.0, 10.0, 20.0)
FAMILIES = ("off", "risk-free")  # without and with the booster's normalisation of lambdas
CHAMPION = "feature:1"
PARTS = ("generated", "letor", "gap", "settings")


@dataclass(frozen=True, slots=True)
class Scale:
    """Size of the generated study."""

    train: int = 1000
    held_out: int = 300  # on which the four learned baselines are trained
    valid: int = 1000
    test: int = 3000
    documents: int = 120
    features: int = 136
    rounds: int = 160
    leaves: int = 31
    min_documents: int = 50
    learning_rate: float = 0.15
    seeds: int = 10  # as many as the time allows; the pages use the complete ones


FULL = Scale()
QUICK = Scale(
    train=240, held_out=80, valid=200, test=600, documents=60, features=40, rounds=80, seeds=2
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One JSON file: a function of this module and its arguments."""

    file: str
    function: str
    arguments: dict[str, Any]


# --- the generated collection


@lru_cache(maxsize=1)
def test_queries(scale: Scale) -> FeatureData:
    """The same for all seeds."""
    return _generate(scale, scale.test, 0)


@lru_cache(maxsize=1)
def training_queries(scale: Scale, seed: int) -> tuple[FeatureData, FeatureData, FeatureData]:
    """Training, validation and held-out queries of one seed; no two seeds share a query."""
    first = 1_000_000 * (seed + 1)
    return (
        _generate(scale, scale.train, first),
        _generate(scale, scale.valid, first + 300_000),
        _generate(scale, scale.held_out, first + 600_000),
    )


def _generate(scale: Scale, queries: int, first: int) -> FeatureData:
    return generate_ltr(
        queries=queries, documents=scale.documents, features=scale.features, first=first
    )


def baselines(home: Path, scale: Scale, seed: int) -> dict[str, Any]:
    """BM25 and four rankers learned on held-out queries, measured on all parts."""
    train, valid, held_out = training_queries(scale, seed)
    parts = {"train": train, "valid": valid, "test": test_queries(scale)}
    learned = train_baselines(held_out, Objective(), rounds=60, seed=seed, threads=1)
    out: dict[str, Any] = {}
    for name, part in parts.items():
        found = learned.champions(part, Objective(), threads=1)
        single = read_champions(CHAMPION, part, Objective(), threads=1)
        out[name] = {
            "names": list(found.names),
            "learned": _short(found.values),
            "champion": _short(single.values[0]),
        }
    return out


def control(
    home: Path,
    scale: Scale,
    seed: int,
    family: str,
    changes: dict[str, Any] | None = None,
    step: float = 1.0,
) -> dict[str, Any]:
    """The plain ranker; the validation queries say how many trees."""
    objective = Objective(name="ndcg", normalize=family, **(changes or {}))
    return _stopped(scale, seed, objective, None, step)


def variant(
    home: Path,
    scale: Scale,
    seed: int,
    family: str,
    objective: str,
    alpha: float,
    against: str,
    setting: str = "",
    changes: dict[str, Any] | None = None,
    step: float = 1.0,
    own_trees: bool = False,
) -> dict[str, Any]:
    """One risk-sensitive ranker, with as many trees as its control (or its own)."""
    known = _read(home / f"baselines.seed{seed}.json")["train"]
    values = np.atleast_2d(np.array(known[against]))
    champions = Champions(tuple(f"b{i}" for i in range(len(values))), values)
    goal = Objective(name=objective, alpha=alpha, normalize=family, **(changes or {}))
    if own_trees:
        return _stopped(scale, seed, goal, champions, step)
    normalised = "off" if family == "off" else "risk-free"  # one plain ranker serves both kinds
    rounds = _read(home / f"{normalised}.ndcg{setting}.seed{seed}.json")["rounds"]
    train, valid, _ = training_queries(scale, seed)
    ranker = _train(scale, train, goal, champions, None, rounds, seed, step)
    return _tested(ranker, valid, test_queries(scale))


def _stopped(
    scale: Scale, seed: int, objective: Objective, champions: Champions | None, step: float
) -> dict[str, Any]:
    """Trained for all rounds, used up to the best one on the validation queries."""
    train, valid, _ = training_queries(scale, seed)
    monitor = RiskMonitor(valid, Objective(name="ndcg"), threads=1)
    rounds = round(scale.rounds / step)
    ranker = _train(scale, train, objective, champions, monitor, rounds, seed, step)
    ranker.rounds = 1 + int(np.argmax([h["effectiveness"] for h in monitor.history]))
    return {"rounds": ranker.rounds, **_tested(ranker, valid, test_queries(scale))}


def _train(
    scale: Scale,
    train: FeatureData,
    objective: Objective,
    champions: Champions | None,
    monitor: RiskMonitor | None,
    rounds: int,
    seed: int,
    step: float,
) -> Any:
    return train_ranker(
        train,
        objective,
        champions=champions,
        monitor=monitor,
        rounds=rounds,
        leaves=scale.leaves,
        learning_rate=scale.learning_rate * step,
        min_documents=scale.min_documents,
        seed=seed,
        threads=1,
    )


def _tested(ranker: Any, valid: FeatureData, test: FeatureData) -> dict[str, Any]:
    scores = {"valid": ranker.predict(valid.features, threads=1)}
    scores["test"] = ranker.predict(test.features, threads=1)
    return {
        "valid": _short(effectiveness(valid, scores["valid"])),
        "test": _short(effectiveness(test, scores["test"])),
        "ndcg_1": float(effectiveness(test, scores["test"], "nDCG@1").mean()),
    }


def effectiveness(data: FeatureData, scores: Any, measure: str = "nDCG@10") -> Any:
    """The measure of each query."""
    built = LearningMeasure.parse(measure).build(data.offsets, data.labels)
    return score_queries(built, data.offsets, scores, threads=1)


def variants() -> Iterator[tuple[str, str, float, str]]:
    """Label, objective, alpha and what it learns against, as Table 3 of 2014 and 7 of 2016."""
    for alpha in ALPHAS:
        yield "u-cro", "u-cro", alpha, "champion"
        yield "saro", "saro", alpha, "champion"
        yield "faro", "faro", alpha, "champion"
        if alpha <= 5.0:  # Dincer et al. 2016 stop there
            yield "t-star-faro", "faro", alpha, "learned"
        yield "georisk", "georisk", alpha, "learned"


def generated_cells(scale: Scale) -> tuple[list[Cell], list[Cell]]:
    """First the controls and baselines, then what needs them."""
    first, second = [], []
    for seed in range(scale.seeds):
        first += [
            Cell(f"{family}.ndcg.seed{seed}.json", "control", {"seed": seed, "family": family})
            for family in FAMILIES
        ]
        first.append(Cell(f"baselines.seed{seed}.json", "baselines", {"seed": seed}))
        for family in (*FAMILIES, "weighted"):
            for label, objective, alpha, against in variants():
                # weights inside the normalisation: one alpha is enough to see what they do
                if family == "weighted" and (alpha != 5.0 or label not in ("u-cro", "faro")):
                    continue
                second.append(
                    Cell(
                        f"{family}.{label}.alpha{alpha:g}.seed{seed}.json",
                        "variant",
                        {
                            "seed": seed,
                            "family": family,
                            "objective": objective,
                            "alpha": alpha,
                            "against": against,
                        },
                    )
                )
    return first, second


# --- other settings, for the two aims


@dataclass(frozen=True, slots=True)
class Setting:
    """One objective trained in another way; where the plain ranker changes too, it gets its own."""

    title: str
    objective: str = "georisk"
    alpha: float = 1.0
    against: str = "learned"
    changes: tuple[tuple[str, Any], ...] = ()
    step: float = 1.0  # part of the learning rate; the rounds grow as it falls
    own_trees: bool = False
    own_control: bool = False


SETTINGS = {
    "own-trees": Setting("own number of trees", own_trees=True),
    "exact": Setting("every expectation anew (exact)", changes=(("georisk", "exact"),)),
    "saro2": Setting("alpha 2", objective="saro", alpha=2.0, against="champion"),
    "measure": Setting(
        "pairs weigh what they change", changes=(("pair_weight", "measure"),), own_control=True
    ),
    "top10": Setting("truncation 10", changes=(("truncation_level", 10),), own_control=True),
    "half-step": Setting("half the learning rate", step=0.5, own_control=True),
}


def settings_cells(scale: Scale) -> tuple[list[Cell], list[Cell]]:
    """First the controls, then what needs them."""
    first, second = [], []
    for seed in range(scale.seeds):
        for name, setting in SETTINGS.items():
            for family in FAMILIES:
                common = {
                    "seed": seed,
                    "family": family,
                    "changes": dict(setting.changes),
                    "step": setting.step,
                }
                if setting.own_control:
                    first.append(Cell(f"{family}.ndcg.{name}.seed{seed}.json", "control", common))
                second.append(
                    Cell(
                        f"{family}.{setting.objective}.{name}.seed{seed}.json",
                        "variant",
                        {
                            **common,
                            "objective": setting.objective,
                            "alpha": setting.alpha,
                            "against": setting.against,
                            "setting": f".{name}" if setting.own_control else "",
                            "own_trees": setting.own_trees,
                        },
                    )
                )
    return first, second


# --- OHSUMED, MQ2008 and LightGBM's sample

SMALL = {"rounds": 150, "learning_rate": 0.03, "leaves": 7, "min_documents": 40}
BAGGED = {"feature_fraction": 0.7, "bagging_fraction": 0.8, "bagging_freq": 1}
LETOR_SEEDS = 5


def letor_folds(name: str, data: Path) -> tuple[list[Fold], str]:
    """The folds of a collection, and the feature that plays the champion."""
    root = data / "ltr_svmlight"
    if name == "ohsumed":
        # 21 and 22 rank alike in every query: BM25 of title and abstract, and its logarithm
        return find_folds(root / "ohsumed"), "feature:21"
    if name == "mq2008":
        whole = read_features(root / "mq2008_fold1_test" / "test.txt.gz")
        return _split(whole, 5), "feature:25"  # LETOR 4.0: BM25 of the whole document
    folder = root / "lightgbm_lambdarank"
    train, test = read_features(folder / "rank.train.gz"), read_features(folder / "rank.test")
    order = np.random.default_rng(0).permutation(len(train.queries))
    valid, rest = train.select(np.sort(order[:40])), train.select(np.sort(order[40:]))
    # its features have no names: the champion is the one that ranks the training queries best
    ranked = [effectiveness(train, train.features[:, i]).mean() for i in range(train.n_features)]
    fold = Fold("fold1", lambda: rest, lambda: valid, lambda: test)
    return [fold], f"feature:{1 + int(np.argmax(ranked))}"


def _split(whole: FeatureData, parts: int) -> list[Fold]:
    order = np.random.default_rng(0).permutation(len(whole.queries))
    pieces = [whole.select(np.sort(order[k::parts])) for k in range(parts)]

    def fold(k: int) -> Fold:
        rest = [p for j, p in enumerate(pieces) if j not in (k, (k - 1) % parts)]
        return Fold(
            f"fold{k + 1}",
            lambda: concatenate(rest),
            lambda: pieces[(k - 1) % parts],
            lambda: pieces[k],
        )

    return [fold(k) for k in range(parts)]


def letor(
    home: Path, name: str, data: str, seed: int, family: str, alphas: list[float]
) -> dict[str, Any]:
    """All objectives on one collection; the work folder keeps finished models' scores."""
    folds, champion = letor_folds(name, Path(data))
    found = sf.cross_validate(
        folds,
        work=home / "work" / f"{name}.{family}.seed{seed}",
        alphas=alphas,
        base=Objective(normalize=family),
        baseline=champion,
        learned_baselines=True,
        params=BAGGED,
        seed=seed,
        threads=1,
        **SMALL,
    )
    return {
        "champion_name": champion,
        "variants": [[e["objective"], e["alpha"]] for e in found.entries],
        "ndcg_1": [e["ndcg_1"] for e in found.entries],
        "test": _short(found.scores.values[:, 0, :]),
        "champion": _short(found.scores.champion),
        "learned": _short(found.scores.baselines),
    }


LETOR = ("ohsumed", "mq2008", "lightgbm")


def letor_cells(data: Path, quick: bool) -> list[Cell]:
    """A cell for each collection, normalisation and seed."""
    return [
        Cell(
            f"letor.{name}.{family}.seed{seed}.json",
            "letor",
            {"name": name, "data": str(data), "seed": seed, "family": family, "alphas": list(a)},
        )
        for seed in range(2 if quick else LETOR_SEEDS)
        for family in FAMILIES
        for name in LETOR
        for a in [ALPHAS[:2] if quick else ALPHAS]
    ]


# --- the gap on OHSUMED

GAP_ROUNDS = (25, 50, 100, 200, 400)


def gap_factors(
    home: Path, data: str, splits: str, step: float, family: str, truncation: int, leaves: int
) -> dict[str, Any]:
    """Plain LambdaMART grown tree by tree, so that splits and leaf values can be chosen apart.

    splits "newton" weighs documents by their hessian, as LightGBM and XGBoost do; "variance" takes
    all alike, as MART and jforests do. Leaf values are Newton's in both, times `step`.
    """
    lightgbm = __import__("lightgbm")
    test, train = [[] for _ in GAP_ROUNDS], [[] for _ in GAP_ROUNDS]
    for fold in letor_folds("ohsumed", Path(data))[0]:
        seen, unseen = fold.train(), fold.test()
        gradient = RankingGradient(
            Objective(name="ndcg", normalize=family, truncation_level=truncation),
            seen.offsets,
            seen.labels,
            threads=1,
        )
        settings = {
            "objective": "none",
            "num_leaves": leaves,
            "learning_rate": 1.0,
            "min_data_in_leaf": 20,
            "verbosity": -1,
            "num_threads": 1,
            "deterministic": True,
            "force_row_wise": True,
        }
        dataset = lightgbm.Dataset(seen.features, seen.labels, params={"verbosity": -1})
        booster = lightgbm.Booster(settings, dataset)
        scores, scores_unseen = np.zeros(seen.labels.size), np.zeros(unseen.labels.size)
        for tree in range(max(GAP_ROUNDS)):
            slope, curve = gradient(scores)
            weight = curve if splits == "newton" else np.ones_like(curve)
            booster.update(fobj=lambda _, __, pair=(slope, weight): pair)
            leaf, leaf_unseen = (
                booster.predict(
                    d.features,
                    pred_leaf=True,
                    start_iteration=tree,
                    num_iteration=1,
                    num_threads=1,
                )
                .ravel()
                .astype(np.int64)
                for d in (seen, unseen)
            )
            total = np.bincount(leaf, slope, leaves)
            value = -step * total / np.maximum(np.bincount(leaf, curve, leaves), 1e-9)
            scores += value[leaf]
            scores_unseen += value[leaf_unseen]
            if tree + 1 in GAP_ROUNDS:
                at = GAP_ROUNDS.index(tree + 1)
                test[at] += _short(effectiveness(unseen, scores_unseen))
                train[at].append(float(effectiveness(seen, scores).mean()))
    return {"test": test, "train": [float(np.mean(t)) for t in train]}


def gap_remedy(
    home: Path, data: str, options: dict[str, Any], truncation: int, early_stopping: int
) -> dict[str, Any]:
    """The same folds by `train_ranker` with options that a user can set."""
    values: list[float] = []
    seen, rounds = [], []
    for fold in letor_folds("ohsumed", Path(data))[0]:
        train, valid, test = fold.train(), fold.valid(), fold.test()
        objective = Objective(name="ndcg", normalize="off", truncation_level=truncation)
        ranker = train_ranker(
            train,
            objective,
            monitor=RiskMonitor(valid, objective, threads=1) if early_stopping else None,
            early_stopping=early_stopping,
            threads=1,
            **options,
        )
        values += _short(effectiveness(test, ranker.predict(test.features, threads=1)))
        scores = ranker.predict(train.features, threads=1)
        seen.append(float(effectiveness(train, scores).mean()))
        rounds.append(ranker.rounds)
    return {"test": values, "train": float(np.mean(seen)), "rounds": rounds}


def gap_features(home: Path, data: str) -> dict[str, Any]:
    """Each single feature as a ranker."""
    table = [
        [
            v
            for fold in letor_folds("ohsumed", Path(data))[0]
            for d in [fold.test()]
            for v in _short(effectiveness(d, d.features[:, i]))
        ]
        for i in range(25)
    ]
    return {"test": table}


# name -> (booster's options, truncation, early stopping)
REMEDIES: dict[str, tuple[dict[str, Any], int, int]] = {
    "defaults but 100 trees": ({"rounds": 100}, 30, 0),
    "all pairs": ({"rounds": 100}, 1000, 0),
    "leaf needs hessian 1": ({"rounds": 100, "params": {"min_sum_hessian_in_leaf": 1.0}}, 30, 0),
    "leaf needs hessian 5": ({"rounds": 100, "params": {"min_sum_hessian_in_leaf": 5.0}}, 30, 0),
    "lambda_l2 1": ({"rounds": 100, "params": {"lambda_l2": 1.0}}, 30, 0),
    "lambda_l2 10": ({"rounds": 100, "params": {"lambda_l2": 10.0}}, 30, 0),
    "leaf values clipped at 0.3": ({"rounds": 100, "params": {"max_delta_step": 0.3}}, 30, 0),
    "100 documents a leaf": ({"rounds": 100, "min_documents": 100}, 30, 0),
    "7 leaves": ({"rounds": 100, "leaves": 7}, 30, 0),
    "learning rate .01": ({"rounds": 100, "learning_rate": 0.01}, 30, 0),
    "learning rate .02, 7 leaves": ({"rounds": 100, "learning_rate": 0.02, "leaves": 7}, 30, 0),
    "learning rate .02, 7 leaves, 100 documents": (
        {"rounds": 100, "learning_rate": 0.02, "leaves": 7, "min_documents": 100},
        30,
        0,
    ),
    "the same, all pairs": (
        {"rounds": 100, "learning_rate": 0.02, "leaves": 7, "min_documents": 100},
        1000,
        0,
    ),
    "the same, early stopping after 50 rounds": (
        {"rounds": 400, "learning_rate": 0.02, "leaves": 7, "min_documents": 100},
        30,
        50,
    ),
}


def gap_cells(data: Path, quick: bool) -> list[Cell]:
    """Every factor on its own and together, and what a user can do about it."""
    cells = [Cell("gap.features.json", "gap_features", {"data": str(data)})]
    for leaves in (31, 7):
        for family, truncation in (("off", 1000), ("off", 30), ("risk-free", 30)):
            for splits in ("newton", "variance"):
                for step in (0.1, 0.01):
                    if quick and (family, truncation) != ("off", 1000):
                        continue
                    cells.append(
                        Cell(
                            f"gap.{leaves}.{family}.{truncation}.{splits}.{step:g}.json",
                            "gap_factors",
                            {
                                "data": str(data),
                                "splits": splits,
                                "step": step,
                                "family": family,
                                "truncation": truncation,
                                "leaves": leaves,
                            },
                        )
                    )
    for i, (options, truncation, stopping) in enumerate(REMEDIES.values()):
        cells.append(
            Cell(
                f"gap.remedy{i:02d}.json",
                "gap_remedy",
                {
                    "data": str(data),
                    "options": options,
                    "truncation": truncation,
                    "early_stopping": stopping,
                },
            )
        )
    return cells


# --- running


def _short(values: Any) -> Any:
    """Seven decimals are more than the reader needs, and half the file."""
    return np.round(np.asarray(values, dtype=np.float64), 7).tolist()


def _read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["result"]
    return document


def _settings(cell: Cell, scale: Scale) -> dict[str, Any]:
    """What a finished cell must have been made with; where the data lie does not matter."""
    kept = {k: v for k, v in cell.arguments.items() if k != "data"}
    size = asdict(scale) if cell.function in ("baselines", "control", "variant") else {}
    size.pop("seeds", None)
    return json.loads(json.dumps({"function": cell.function, **kept, **size}))  # type: ignore[no-any-return]


def finished(home: Path, cell: Cell, scale: Scale) -> dict[str, Any] | None:
    """The result of a cell that is there already and was made with these settings."""
    try:
        document = json.loads((home / cell.file).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    right = document.get("settings") == _settings(cell, scale)
    result: dict[str, Any] | None = document["result"] if right else None
    return result


def compute(home: Path, cell: Cell, scale: Scale) -> float:
    """Run one cell and keep it; CPU seconds."""
    began = time.process_time()
    arguments = dict(cell.arguments)
    if cell.function in ("baselines", "control", "variant"):
        arguments["scale"] = scale
    function: Callable[..., dict[str, Any]] = globals()[cell.function]
    result = function(home, **arguments)
    spent = time.process_time() - began
    document = {"settings": _settings(cell, scale), "cpu_seconds": round(spent, 2)}
    with atomic_open(home / cell.file) as file:
        json.dump({**document, "result": result}, file)
    return spent


def run(home: Path, cells: list[Cell], scale: Scale, processes: int, until: float) -> bool:
    """All missing cells; False when time ran out first."""
    missing = [c for c in cells if finished(home, c, scale) is None]
    print(f"{len(cells) - len(missing)} of {len(cells)} cells are there", flush=True)
    if not missing:
        return True
    began, spent, done = time.monotonic(), 0.0, 0
    if processes == 1:
        for cell in missing:
            if time.monotonic() > until:
                return False
            spent += compute(home, cell, scale)
            done += 1
            _report_progress(done, len(missing), began, spent)
        return True
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        waiting = iter(missing)
        running = {pool.submit(compute, home, c, scale) for c in islice(waiting, processes)}
        while running:
            ready, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                spent += future.result()
                done += 1
                if time.monotonic() < until:
                    following = next(waiting, None)
                    if following is not None:
                        running.add(pool.submit(compute, home, following, scale))
            if done % 10 < len(ready):
                _report_progress(done, len(missing), began, spent)
    return done == len(missing)


def _report_progress(done: int, total: int, began: float, spent: float) -> None:
    wall = time.monotonic() - began
    print(f"{done} of {total} cells, {wall:.0f} s, {spent / 60:.1f} core-minutes", flush=True)


def main() -> int:
    """Run what is missing, or write the pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--results", type=Path, help="default: benchmarks/.data/learn[-quick]")
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    parser.add_argument("--minutes", type=float, default=60.0, help="begin no cell after these")
    parser.add_argument("--seeds", type=int, help="of the generated study; default: its scale's")
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--quick", action="store_true", help="a small version")
    parser.add_argument("--report", action="store_true", help="write the pages and train nothing")
    args = parser.parse_args()
    home = args.results or HERE / ".data" / ("learn-quick" if args.quick else "learn")
    scale = QUICK if args.quick else FULL
    if args.seeds is not None:
        scale = replace(scale, seeds=args.seeds)
    if args.report:
        from benchmarks.report_learn import write_pages

        write_pages(home, scale, quick=args.quick)
        return 0
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    home.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * args.minutes
    chosen = args.only or list(PARTS)
    first, second = generated_cells(scale) if "generated" in chosen else ([], [])
    small = letor_cells(args.data, args.quick) if "letor" in chosen else []
    small += gap_cells(args.data, args.quick) if "gap" in chosen else []
    if small and not (args.data / "ltr_svmlight").is_dir():
        print(f"skipped: no ltr_svmlight in {args.data} (option --data)", file=sys.stderr)
        small = []
    other_first, other_second = settings_cells(scale) if "settings" in chosen else ([], [])
    # the small cells fill the gap before the controls are ready
    complete = True
    for stage in ([*first, *small], second, other_first, other_second):
        complete = run(home, stage, scale, args.processes, until) and complete
    print("complete" if complete else "out of time: the same command goes on", flush=True)
    return 0 if complete else 3


if __name__ == "__main__":
    sys.exit(main())
