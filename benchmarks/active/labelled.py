"""Fully labelled collections: MQ2007-agg and OHSUMED from files, and a generated one like MSLR."""

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from surefoot.io.svmlight import read_features

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Documents of queries with features and labels.

    Parameters
    ----------
    offset : (n_queries + 1,) int array
        Where the documents of each query begin.
    features : (n_docs, n_features) array
    grade : (n_docs,) int array
    fold : (n_queries,) int array
        0 to 4.
    price : (n_docs,) array
        Cost of one label.
    rank : (n_docs, n_rankings) array, optional
        Rank in given rankings, NaN where a document is not retrieved.
    """

    offset: npt.NDArray[np.int64]
    features: FloatArray
    grade: npt.NDArray[np.int64]
    fold: npt.NDArray[np.int64]
    price: FloatArray
    rank: FloatArray | None = None

    @property
    def grades(self) -> int:
        return int(self.grade.max()) + 1

    @property
    def query(self) -> npt.NDArray[np.int64]:
        """Query of each document."""
        return np.repeat(np.arange(len(self.fold)), np.diff(self.offset))


def mq2007(data: Path) -> Labelled:
    """21 rankings of 1,692 queries; the ranks are the features."""
    offset, grade, ranks, fold = [0], [], [], []
    for k in range(5):
        last = None
        with gzip.open(data / "mq2007_agg" / f"A{k + 1}.txt.gz", "rt") as file:
            for line in file:
                cells = line.split()
                if cells[1] != last:
                    last = cells[1]
                    fold.append(k)
                    offset.append(offset[-1])
                offset[-1] += 1
                grade.append(int(cells[0]))
                pairs = (cell.split(":") for cell in cells[2:23])
                ranks.append([np.nan if v == "NULL" else float(v) for _, v in pairs])
    rank = np.array(ranks)
    # 1 at the top, 0 at rank 1,000 and for what a ranking does not retrieve
    features = np.nan_to_num(np.clip(1 - np.log(rank) / np.log(1000), 0, 1), nan=0.0)
    return Labelled(
        np.array(offset), features, np.array(grade), np.array(fold), np.ones(len(grade)), rank
    )


def ohsumed(data: Path) -> Labelled:
    """106 queries, 16,140 documents, 25 features; the five test sets are the folds."""
    parts = [read_features(data / f"ltr_svmlight/ohsumed/fold{k}_test.txt.gz") for k in range(1, 6)]
    offset, fold, last = [0], [], 0
    for k, part in enumerate(parts):
        sizes = np.diff(part.offsets)
        fold += [k] * len(sizes)
        for size in sizes:
            last += int(size)
            offset.append(last)
    grade = np.concatenate([p.labels for p in parts]).astype(np.int64)
    features = np.concatenate([p.features.astype(np.float64) for p in parts])
    return Labelled(np.array(offset), features, grade, np.array(fold), np.ones(last))


def mslr_like(queries: int = 3000, *, seed: int = 1) -> Labelled:
    """Queries with 119 documents on average and five grades as frequent as in MSLR-WEB30k.

    Each query has an ease, each document a latent relevance; 30 features see it through noise of
    their own and of the query. A document's price is the logarithm of its length (Sawade et
    al. 2012, Section 5).
    """
    rng = np.random.default_rng(seed)
    size = np.clip(np.round(rng.lognormal(np.log(119) - 0.18, 0.6, queries)), 5, 900).astype(int)
    offset = np.concatenate([[0], np.cumsum(size)])
    query = np.repeat(np.arange(queries), size)
    n = int(offset[-1])
    ease = rng.normal(0, 0.6, queries)
    latent = ease[query] + rng.normal(0, 1, n)
    # shares of the grades 0 to 4 in MSLR-WEB30k: .52, .32, .13, .02, .01
    cuts = np.quantile(latent, [0.52, 0.84, 0.97, 0.99])
    grade = np.searchsorted(cuts, latent)
    k = 30
    strength = rng.uniform(0.1, 0.8, k)
    seen = latent[:, None] * strength + rng.normal(0, 1, (queries, k))[query] * 0.5
    features = seen + rng.normal(0, 1, (n, k))
    features[:, ::3] = np.tanh(features[:, ::3])
    features[:, 1::3] = np.exp(0.5 * features[:, 1::3])
    length = np.maximum(rng.lognormal(6.5, 0.9, n), 2)
    fold = rng.permutation(np.arange(queries) % 5)
    return Labelled(offset, features, grade, fold, np.log(length))
