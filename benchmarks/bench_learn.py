"""Time per boosting round of each risk objective against the booster's own lambdarank.

2,000 generated queries x 120 documents x 136 features, 50 leaves, learning rate 0.1, the same
threads for all. Contenders take turns round by round on one shared data set, so that noise of the
machine falls on all alike; the figure is the median over rounds of (ours / the built-in's time in
the same turn). Peak memory is that of fresh processes. With JFORESTS=/path/to/jforests.jar that
program is timed too.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import DATA, markdown_table, publish
from surefoot.data.features import FeatureData
from surefoot.learn.boosting import xgboost_params
from surefoot.learn.callables import champion_array
from surefoot.learn.champion import Champions, read_champions
from surefoot.learn.measures import score_queries
from surefoot.learn.objectives import Objective, RankingGradient
from surefoot.workflows.sample_ltr import generate_ltr

QUERIES, DOCUMENTS, FEATURES = 2000, 120, 136
LEAVES, RATE = 50, 0.1
CONTENDERS = {
    "plain": Objective(name="ndcg"),
    "U-CRO 5": Objective(name="u-cro", alpha=5.0),
    "SARO 5": Objective(name="saro", alpha=5.0),
    "FARO 5": Objective(name="faro", alpha=5.0),
    "GeoRisk 1": Objective(name="georisk", alpha=1.0),
    "GeoRisk 1, exact": Objective(name="georisk", alpha=1.0, georisk="exact"),
    "U-CRO 5, measure's own delta": Objective(name="u-cro", alpha=5.0, pair_weight="measure"),
    "U-CRO 5, ERR@20": Objective(name="u-cro", alpha=5.0, measure="ERR@20"),
    "U-CRO 5, AP": Objective(name="u-cro", alpha=5.0, measure="AP"),
    "U-CRO 5, INST(T=3)": Objective(name="u-cro", alpha=5.0, measure="INST(T=3)"),
}
MAIN = ("plain", "U-CRO 5", "SARO 5", "FARO 5", "GeoRisk 1")
LIGHTGBM = {
    "objective": "lambdarank",
    "num_leaves": LEAVES,
    "learning_rate": RATE,
    "min_data_in_leaf": 20,
    "verbosity": -1,
    "deterministic": True,
    "force_row_wise": True,
}
XGBOOST = {
    "objective": "rank:ndcg",
    "lambdarank_pair_method": "topk",
    "lambdarank_num_pair_per_sample": 30,
    "ndcg_exp_gain": True,
}


def collection() -> FeatureData:
    """The generated queries, kept between runs."""
    path = DATA / f"ltr-{QUERIES}x{DOCUMENTS}x{FEATURES}.npz"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        made = generate_ltr(queries=QUERIES, documents=DOCUMENTS, features=FEATURES, seed=0)
        np.savez(path, features=made.features, labels=made.labels, offsets=made.offsets)
    kept = np.load(path)
    names = tuple(str(q) for q in range(QUERIES))
    return FeatureData(kept["features"], kept["labels"], names, kept["offsets"])


def gradient(
    data: FeatureData, objective: Objective, champions: Champions, booster: str, threads: int
) -> RankingGradient:
    several = champions
    if objective.name == "georisk":
        # four baselines, as Dincer et al. 2016 have
        several = Champions(("a", "b", "c", "d"), np.repeat(champions.values, 4, axis=0))
    return RankingGradient(
        objective,
        data.offsets,
        data.labels,
        champions=champion_array(objective, several),
        booster=booster,
        threads=threads,
    )


def lightgbm_turns(data: FeatureData, threads: int) -> dict[str, Callable[[], object]]:
    """name -> one boosting round."""
    import lightgbm

    params = {**LIGHTGBM, "num_threads": threads}
    quiet = {"verbosity": -1}
    shared = lightgbm.Dataset(data.features, data.labels, group=data.sizes, params=quiet)

    def booster(objective: str) -> Any:
        return lightgbm.Booster({**params, "objective": objective}, shared)

    turns: dict[str, Callable[[], object]] = {"built in": booster("lambdarank").update}
    for name, objective in CONTENDERS.items():
        champions = read_champions("feature:1", data, objective)
        ours = gradient(data, objective, champions, "lightgbm", threads)
        model = booster("none")
        turns[name] = lambda m=model, g=ours: m.update(fobj=g)
    return turns


def xgboost_turns(data: FeatureData, threads: int) -> dict[str, Callable[[], object]]:
    """name -> one boosting round."""
    import xgboost

    matrix = xgboost.QuantileDMatrix(
        data.features,
        data.labels,
        qid=np.repeat(np.arange(QUERIES), data.sizes),
        nthread=threads,
    )
    settings = {
        "learning_rate": RATE,
        "leaves": LEAVES,
        "min_documents": 20,
        "seed": 0,
        "threads": threads,
    }
    turns: dict[str, Callable[[], object]] = {}
    for name, objective in {"built in": None, **CONTENDERS}.items():
        params = xgboost_params(objective or Objective(), settings, {})
        model = xgboost.Booster({**params, **(XGBOOST if objective is None else {})}, [matrix])
        count = iter(range(10_000))
        if objective is None:
            turns[name] = lambda m=model, c=count: m.update(matrix, next(c))
            continue
        champions = read_champions("feature:1", data, objective)
        ours = gradient(data, objective, champions, "xgboost", threads)
        turns[name] = lambda m=model, c=count, g=ours: m.update(matrix, next(c), fobj=g)
    return turns


def ratios(turns: Mapping[str, Callable[[], object]], rounds: int) -> list[tuple[Any, ...]]:
    """Per contender: ms a round, ratio of wall and of CPU time to the built-in of the same turn."""
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in turns}
    names = list(turns)
    for turn in range(rounds + 1):
        # everybody follows everybody: no one is always first into a warm or cold cache
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            wall, cpu = time.perf_counter(), time.process_time()
            turns[name]()
            if turn > 0:  # the first round also builds what the booster keeps
                samples[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    base = np.array(samples["built in"])
    out = []
    for name, rows in samples.items():
        table = np.array(rows)
        wall, cpu = np.median(table / base, axis=0)
        out.append((name, 1e3 * float(np.median(table[:, 0])), float(wall), float(cpu)))
    return out


def peak_mb(booster: str, name: str, threads: int) -> float:
    """Peak memory of a fresh process that trains ten rounds."""
    code = (
        "from benchmarks.bench_learn import train_alone\n"
        f"train_alone({booster!r}, {name!r}, {threads})\n"
        "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def train_alone(booster: str, name: str, threads: int) -> None:
    """Ten rounds of one contender and of nobody else."""
    keep = {n: o for n, o in CONTENDERS.items() if n == name}
    CONTENDERS.clear()
    CONTENDERS.update(keep)
    turns = (lightgbm_turns if booster == "lightgbm" else xgboost_turns)(collection(), threads)
    for _ in range(10):
        turns[name]()


def two_workers(rounds: int = 20) -> list[tuple[str, ...]]:
    """XGBoost under Dask on two workers against one machine: 300 queries to learn, 600 to judge.

    With continuous features each worker sketches the quantiles of its own rows first, so bins and
    trees differ, as they do on one machine with 255 bins instead of 256; with features of seven
    values the bins are the same.
    """
    from dataclasses import replace

    from distributed import Client, LocalCluster

    from surefoot.learn import train_distributed, train_ranker

    def draw(first: int, queries: int, rounded: bool) -> FeatureData:
        made = generate_ltr(queries=queries, documents=40, features=12, first=first)
        if not rounded:
            return made
        scaled = (made.features - made.features.mean(axis=0)) / made.features.std(axis=0)
        return replace(made, features=np.clip(np.round(scaled * 3) / 3, -1, 1))

    rows = []
    quiet = {"dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster, Client(cluster) as c:
        for rounded in (True, False):
            learned, judged = draw(0, 300, rounded), draw(10_000, 600, rounded)
            for name in ("SARO 5", "GeoRisk 1"):
                objective = CONTENDERS[name]
                champions = read_champions(["feature:1", "feature:4"], learned, objective)
                settings = {"rounds": rounds, "leaves": 15, "learning_rate": 0.2}
                many, _ = train_distributed(
                    c, learned, objective, champion=champions.values, **settings
                )
                one, other = (
                    train_ranker(
                        learned,
                        objective,
                        champions=champions,
                        booster="xgboost",
                        threads=1,
                        params=params,
                        **settings,
                    )
                    for params in ({}, {"max_bin": 255})
                )
                scores = [m.predict(judged.features) for m in (one, many, other)]
                measure = objective.learning_measure().build(judged.offsets, judged.labels)
                each = [score_queries(measure, judged.offsets, s).mean() for s in scores]
                away = [np.abs(s - scores[0]).max() / scores[0].std() for s in scores[1:]]
                rows.append(
                    (
                        name,
                        "seven values" if rounded else "continuous",
                        *(f"{v:.4f}" for v in each),
                        *(f"{v:.2g}" for v in away),
                    )
                )
    return rows


def jforests_ms(jar: str, data: FeatureData, trees: int = 20) -> float:
    """Milliseconds a tree of jforests' LambdaMART-NDCG at the same leaves and truncation."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with (home / "train.txt").open("w") as file:
            queries = np.repeat(np.arange(QUERIES), data.sizes).tolist()
            for row, label, query in zip(data.features, data.labels, queries, strict=True):
                cells = " ".join(f"{c}:{v:.5g}" for c, v in enumerate(row.tolist(), start=1))
                file.write(f"{int(label)} qid:{query + 1} {cells}\n")
        shared = [
            "trees.num-leaves=50",
            "trees.min-instance-percentage-per-leaf=0.01",
            "boosting.learning-rate=0.1",
            "boosting.sub-sampling=1",
            "trees.feature-sampling=1",
            "learning.algorithm=LambdaMART-RegressionTree",
            "learning.evaluation-metric=NDCG",
            "params.print-intermediate-valid-measurements=false",
            "input.train=train.bin",
            "lambdamart.max-dcg-truncation=30",
        ]
        run = ["java", "-Xmx8g", "-jar", jar]
        convert = [*run, "--cmd=generate-bin", "--ranking", "--folder", ".", "--file", "train.txt"]
        subprocess.run(convert, cwd=home, check=True, capture_output=True)
        took = []
        for count in (1, trees + 1):  # the difference leaves loading out
            settings = "\n".join([*shared, f"boosting.num-trees={count}"])
            (home / "learn.properties").write_text(settings)
            start = time.perf_counter()
            subprocess.run(
                [
                    *[*run, "--cmd=train", "--ranking", "--config-file", "learn.properties"],
                    *["--train-file", "train.bin", "--output-model", "model.txt"],
                ],
                cwd=home,
                check=True,
                capture_output=True,
            )
            took.append(time.perf_counter() - start)
        return 1e3 * (took[1] - took[0]) / trees


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    data = collection()
    parts = [
        "# Time per boosting round",
        re.sub(r"\s+", " ", __doc__.split("\n\n")[1]).split(" With JFORESTS")[0],
        f"{options.rounds} rounds, {options.threads} threads.",
    ]
    for title, turns in (("LightGBM", lightgbm_turns), ("XGBoost", xgboost_turns)):
        rows = ratios(turns(data, options.threads), options.rounds)
        risky = [
            r[2] for r in rows if r[0] in ("plain", "U-CRO 5", "SARO 5", "FARO 5", "GeoRisk 1")
        ]
        header = ("", "ms a round", "times the built-in", "in CPU time")
        parts.append(f"## {title}\n\n" + markdown_table(header, rows))
        parts.append(f"Median over the five objectives: {statistics.median(risky):.3f}.")
        if title == "LightGBM" and "JFORESTS" in os.environ:
            theirs = jforests_ms(os.environ["JFORESTS"], data)
            ours = next(r[1] for r in rows if r[0] == "plain")
            parts.append(f"jforests: {theirs:.0f} ms a tree, {theirs / ours:.1f} times ours.")
    memory = []
    for booster in ("lightgbm", "xgboost"):
        base = peak_mb(booster, "built in", options.threads)
        for name in ("U-CRO 5", "GeoRisk 1"):
            ours_mb = peak_mb(booster, name, options.threads)
            memory.append((booster, name, f"{base:.0f}", f"{ours_mb:.0f}", ours_mb / base))
    header = ("", "", "built in, MB", "ours, MB", "times")
    parts.append("## Peak memory of a fresh process\n\n" + markdown_table(header, memory))
    header = ("", "features", "NDCG@10, one", "two", "one, 255 bins")
    header += ("largest change of a score, in sd: two", "255 bins")
    parts.append(
        "## Two workers against one machine (XGBoost, Dask)\n\n"
        + markdown_table(header, two_workers())
    )
    publish("learn", "\n\n".join(parts))


if __name__ == "__main__":
    main()
