"""A generated learning-to-rank collection in the manner of MSLR, with a BM25-like champion."""

import os
from itertools import pairwise
from pathlib import Path

import numpy as np

from surefoot.data.features import FeatureData
from surefoot.data.seed import check_seed
from surefoot.errors import InputError
from surefoot.io.atomic import atomic_open
from surefoot.learn.champion import read_champions
from surefoot.learn.objectives import Objective
from surefoot.workflows.sample import Sample

# MSLR-WEB10K's shares of the grades 0 to 4
SHARES = (0.520, 0.322, 0.133, 0.018, 0.007)
PARTS = 5
_TRAITS = 6
# A third of the queries reward the lexical trait that BM25 sees, the others the semantic traits.
_LEXICAL_SHARE = 0.35
_LEXICAL = np.array([1.6, 0.3, 0.2, 0.1, 0.0, 0.2])
_SEMANTIC = np.array([0.45, 1.0, 0.9, 0.6, 0.3, 0.0])
# utility at which the cumulated shares are reached, over 20,000 queries
_CUTS = np.array([0.30, 3.47, 6.82, 8.69])


def generate_ltr(
    *, queries: int, documents: int, features: int, first: int = 0, seed: int = 0
) -> FeatureData:
    """Queries of a mixed population, drawn one by one from streams of their own.

    A document's relevance is a bent function of a few latent traits, and of chance. Feature 1 plays
    BM25: it sees the lexical trait. Two thirds of the queries reward the semantic traits; the
    others reward the lexical one, so a ranker trained for the mean loses to BM25 on some of them.
    What kind a query is shows only through noisy query-level features. The amount of chance is set
    so that BM25 and plain LambdaMART come near what Dincer et al. 2014 print for MSLR-WEB10K
    (NDCG@10 .309 and .480, losses over wins .281).

    Parameters
    ----------
    queries, documents, features : int
        Size; a query has `documents` documents give or take a quarter, and at least 8 features.
    first : int
        Number of the first query: parts of one collection can be drawn on their own.
    """
    if queries < 1 or documents < 4:
        raise InputError(f"need at least 1 query of 4 documents, got {queries} x {documents}")
    if features < 8:
        raise InputError(f"features must be at least 8, but got {features}")
    shared = _stream(seed, 0)
    mixing = shared.normal(size=(features, _TRAITS)) * (shared.random((features, _TRAITS)) < 0.3)
    noise = shared.uniform(0.5, 2.5, features)
    bend = shared.random(features) < 0.4
    blocks, labels, sizes = [], [], []
    for q in range(first, first + queries):
        rng = _stream(seed, q + 1)
        n = int(rng.integers(max(4, documents - documents // 4), documents + documents // 4 + 1))
        traits = rng.normal(size=(n, _TRAITS))
        lexical = rng.random() < _LEXICAL_SHARE
        weights = (_LEXICAL if lexical else _SEMANTIC) * rng.uniform(0.6, 1.4, _TRAITS)
        utility = traits @ weights + 0.5 * np.maximum(traits[:, 1] * traits[:, 2], 0.0)
        utility += rng.normal(size=n) * rng.uniform(1.8, 3.4)  # what no feature can know
        utility += rng.normal() * 1.2  # how well the collection covers the query
        block = traits @ mixing.T
        block = np.where(bend, np.abs(block) ** 0.7 * np.sign(block), block)
        block += rng.normal(size=(n, features)) * noise
        block[:, 0] = 10.0 + 3.0 * traits[:, 0] + rng.normal(size=n) * 1.2  # BM25
        block[:, 1] = 1.5 * lexical + rng.normal() * 0.8  # query-level: what kind it may be
        block[:, 2] = rng.integers(1, 9)  # query-level: its length
        blocks.append(block.astype(np.float32))
        labels.append(np.searchsorted(_CUTS, utility).astype(np.float32))
        sizes.append(n)
    return FeatureData(
        np.concatenate(blocks),
        np.concatenate(labels),
        tuple(str(q + 1) for q in range(first, first + queries)),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
    )


def _stream(seed: int, index: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=seed, counter=[0, 0, 0, index]))


def write_ltr_sample(
    directory: str | os.PathLike[str],
    *,
    queries: int = 200,
    documents: int = 120,
    features: int = 136,
    seed: int = 0,
) -> Sample:
    """Write a generated collection for `surefoot train`, `rank` and `cross-validate`.

    The parts S1.txt to S5.txt make five folds; train.svm, valid.svm and test.svm are the first of
    them (S1-S3, S4, S5), and champion.csv holds the BM25-like feature's nDCG@10 on every query.
    The same seed writes the same bytes.
    """
    if queries < PARTS:
        raise InputError(f"queries must be at least {PARTS}, but got {queries}")
    check_seed(seed)
    home = Path(directory)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {home}: {error.strerror}") from None
    data = generate_ltr(queries=queries, documents=documents, features=features, seed=seed)
    edges = [queries * p // PARTS for p in range(PARTS + 1)]
    texts = [_svmlight(data.select(np.arange(a, b))) for a, b in pairwise(edges)]
    champion = read_champions("feature:1", data, Objective(name="ndcg")).values[0]
    table = "topic,score\n" + "".join(
        f"{q},{v!r}\n" for q, v in zip(data.queries, champion.tolist(), strict=True)
    )
    files = {f"S{p + 1}.txt": (text, f"part {p + 1} of 5") for p, text in enumerate(texts)}
    files["train.svm"] = ("".join(texts[:3]), "training queries (parts 1-3)")
    files["valid.svm"] = (texts[3], "validation queries (part 4)")
    files["test.svm"] = (texts[4], "test queries (part 5)")
    files["champion.csv"] = (table, "nDCG@10 of the BM25-like feature 1")
    for name, (text, _) in files.items():
        with atomic_open(home / name) as file:
            file.write(text)
    return Sample(
        files=tuple(files),
        lines=tuple(text.count("\n") for text, _ in files.values()),
        contents=tuple(what for _, what in files.values()),
        settings={
            "directory": str(home),
            "queries": queries,
            "documents": documents,
            "features": features,
            "seed": seed,
        },
        headline=(
            f"Wrote {queries} queries with {features} features to {home}.",
            f"Try: surefoot train {home}/train.svm --valid {home}/valid.svm --objective u-cro "
            f"--baseline {home}/champion.csv -o {home}/model.json",
        ),
    )


def _svmlight(data: FeatureData) -> str:
    lines = []
    cells = " ".join(f"{c}:%.5g" for c in range(1, data.n_features + 1))
    for q, query in enumerate(data.queries):
        begin, end = int(data.offsets[q]), int(data.offsets[q + 1])
        grades = data.labels[begin:end].astype(int).tolist()
        for i, row in enumerate(data.features[begin:end].tolist()):
            values = cells % tuple(row)
            lines.append(f"{grades[i]} qid:{query} {values} # docid = d{query}-{i + 1}\n")
    return "".join(lines)
