"""Rank the documents of a feature file with a trained ranker."""

import os
from typing import Any

import numpy as np

from surefoot.data.features import FeatureData
from surefoot.io.svmlight import read_features
from surefoot.learn.model import Ranker


def rank(
    model: Ranker | str | os.PathLike[str], data: Any, *, tag: str = "surefoot", threads: int = 0
) -> str:
    """A TREC run: ``query Q0 document rank score tag``, best first, queries in file order.

    Parameters
    ----------
    model : Ranker or path
        From `train`.
    data : path or FeatureData
        Documents with features; labels are not looked at.
    tag : str
        Last column of the run.
    """
    ranker = model if isinstance(model, Ranker) else Ranker.load(model)
    documents = data if isinstance(data, FeatureData) else read_features(data)
    scores = ranker.predict(documents.features, threads=threads)
    names = documents.document_names()
    lines = []
    for q, query in enumerate(documents.queries):
        begin, end = int(documents.offsets[q]), int(documents.offsets[q + 1])
        order = np.argsort(-scores[begin:end], kind="stable")
        for position, i in enumerate(order.tolist(), start=1):
            row = begin + i
            # shortest digits that read back as the same number: no ties that were not there
            lines.append(f"{query} Q0 {names[row]} {position} {float(scores[row])!r} {tag}\n")
    return "".join(lines)
