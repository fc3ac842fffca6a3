"""Real score matrices, and the populations of topics that stand for them."""

import csv
import gzip
from pathlib import Path

import numpy as np

import surefoot as sf

MATRICES = {
    "Web 2012, ERR@20": "web2012/web2012_err20.csv",
    "Web 2011, nDCG@20": "trec_score_matrices/web2011_ndcg20.csv",
    "ad hoc 8, AP": "trec_score_matrices/adhoc8_ap.csv",
    "Robust 2004, AP": "trec_score_matrices/robust2004_ap.csv",
    "Terabyte 2006, AP": "trec_score_matrices/terabyte2006_ap.csv",
    "MSLR-WEB10K, nDCG@10": "mslr10k_ndcg10/per_query_ndcg10.csv.gz",
}
# the queries of MSLR that its rankers have not been trained on
_UNSEEN_FOLDS = {"3", "4"}
SEED = 20


def load(data: Path, name: str) -> np.ndarray:
    """(systems, topics) of a matrix: its better three quarters by mean score, best last."""
    path = data / MATRICES[name]
    if "mslr" in MATRICES[name]:
        with gzip.open(path, "rt", newline="") as file:
            rows = list(csv.reader(file))[1:]
        values = np.array([row[2:] for row in rows if row[0] in _UNSEEN_FOLDS], dtype=float).T
    else:
        values = sf.read_scores(path).values
    order = np.argsort(values.mean(axis=1), kind="stable")
    return values[order[len(order) // 4 :]]


def distinct(values: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` random systems, no two of which are names of one run."""
    for _ in range(1000):
        rows = values[rng.choice(len(values), size=count, replace=False)]
        same = (rows[:, None, :] == rows[None, :, :]).mean(axis=2) - np.eye(count)
        if same.max() < 0.5:
            return rows
    raise SystemExit(f"no {count} different systems in a matrix")


def risk_adjusted(x: np.ndarray, r: float) -> np.ndarray:
    """Differences with losses counted r times."""
    return np.where(x < 0, r * x, x)


def shared_data(root: Path) -> Path:
    """The real collections beside the checkout."""
    for parent in (root.parent, root.parent.parent):
        if (parent / "shared" / "data").is_dir():
            return parent / "shared" / "data"
    raise SystemExit(
        "the real collections (../shared/data) are not beside this checkout: name them with --data"
    )
