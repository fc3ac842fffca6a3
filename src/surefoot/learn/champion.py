"""Champions to learn against: per-query effectiveness from scores, runs, features or models."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.features import FeatureData
from surefoot.errors import AlignmentError, InputError, MeasureError
from surefoot.io.scores import read_scores
from surefoot.kernels.lambdas import Doubles
from surefoot.learn.measures import score_queries
from surefoot.learn.model import FORMAT, Ranker
from surefoot.learn.objectives import Objective
from surefoot.metrics.grammar import parse_measure


@dataclass(frozen=True, slots=True, eq=False)
class Champions:
    """Effectiveness of one or several baselines on the queries of one collection.

    Parameters
    ----------
    names : tuple of str
        Name of each baseline.
    values : (n_baselines, n_queries) float array
        Effectiveness under the objective's measure.
    """

    names: tuple[str, ...]
    values: Doubles = field(repr=False)

    def single(self) -> "Champions":
        """The mean of all baselines as one (T*-FARO's champion in Dincer et al. 2016)."""
        if len(self.names) == 1:
            return self
        return Champions(("mean of baselines",), self.values.mean(axis=0, keepdims=True))


def read_champions(
    sources: Any,
    data: FeatureData,
    objective: Objective,
    *,
    threads: int = 0,
) -> Champions:
    """Per-query effectiveness of every baseline named.

    Parameters
    ----------
    sources : one source or a sequence of sources
        Each is a score file (``topic, score``, or a column per baseline), a TREC run over the
        documents of `data`, ``feature:N`` (the N-th feature ranks, counted from 1), a model file of
        `surefoot train`, a `Ranker`, ``{topic: score}``, anything else that `read_scores` takes, or
        an array of one score per query.
    data : FeatureData
        The queries, with labels to measure runs, features and models by.
    objective : Objective
        Its measure is the champions' measure too, or learning would compare unlike things.
    """
    several = isinstance(sources, Sequence) and not isinstance(sources, (str, bytes))
    names: list[str] = []
    rows: list[Doubles] = []
    for source in sources if several else [sources]:
        for name, values in _one(source, data, objective, threads):
            while name in names:
                name += "'"
            names.append(name)
            rows.append(values)
    if not rows:
        raise InputError("there is no champion among the sources given")
    return Champions(tuple(names), np.array(rows))


def _one(
    source: Any, data: FeatureData, objective: Objective, threads: int
) -> list[tuple[str, Doubles]]:
    if isinstance(source, Ranker):
        return [
            (
                "model",
                _measure(
                    source.predict(data.features, threads=threads),
                    data,
                    objective,
                    threads,
                ),
            )
        ]
    if isinstance(source, np.ndarray):
        matrix = np.atleast_2d(np.asarray(source, dtype=np.float64))
        if matrix.shape[1] != len(data.queries):
            raise AlignmentError(
                f"the champion has {matrix.shape[1]} scores for {len(data.queries)} queries"
            )
        return [
            (f"champion{i + 1}" if len(matrix) > 1 else "champion", r) for i, r in enumerate(matrix)
        ]
    if isinstance(source, (str, os.PathLike)):
        text = str(source)
        feature = re.fullmatch(r"feature:(\d+)", text)
        if feature is not None:
            column = int(feature[1])
            if not 1 <= column <= data.n_features:
                raise InputError(f"there is no feature {column}; the data have {data.n_features}")
            ranking = np.nan_to_num(data.features[:, column - 1], nan=-np.inf).astype(np.float64)
            return [(text, _measure(ranking, data, objective, threads))]
        kind = _kind_of(text)
        if kind == "model":
            ranker = Ranker.load(text)
            ranking = ranker.predict(data.features, threads=threads)
            return [(Path(text).stem, _measure(ranking, data, objective, threads))]
        if kind == "run":
            ranking = _run_scores(text, data)
            return [(Path(text).stem, _measure(ranking, data, objective, threads))]
    if (
        isinstance(source, Mapping)
        and source
        and not isinstance(next(iter(source.values())), Mapping)
    ):
        source = {"champion": source}
    table = read_scores(source)
    _refuse_another_measure(table.measure, objective)
    position = {str(t): j for j, t in enumerate(table.topics)}
    missing = [q for q in data.queries if q not in position]
    if missing:
        raise AlignmentError(
            f"the champion has no score for {len(missing)} of {len(data.queries)} queries, "
            f"among them {', '.join(missing[:3])}. Hint: the topic column must hold the query ids "
            "of the training file"
        )
    columns = np.array([position[q] for q in data.queries])
    stem = Path(str(source)).stem if isinstance(source, (str, os.PathLike)) else "champion"
    out = []
    for name, row in zip(table.systems, table.values[:, columns], strict=True):
        if np.isnan(row).any():
            query = data.queries[int(np.flatnonzero(np.isnan(row))[0])]
            raise InputError(f"champion {name!r} has no score for query {query!r}")
        out.append((stem if len(table.systems) == 1 and name in ("score", "value") else name, row))
    return out


def _refuse_another_measure(name: str, objective: Objective) -> None:
    """A table that says what it holds must hold what is learned, or M and M_b are unlike things."""
    if not name or objective.label_gain is not None:
        return
    wanted = objective.learning_measure().evaluated_as
    try:
        found: Any = parse_measure(name)
    except MeasureError:
        return  # somebody else's name for it
    if hasattr(found, "max_rel"):
        found = replace(found, max_rel=None)
    if found != parse_measure(wanted):
        raise InputError(
            f"the champion's scores are {name}, but what is learned is {wanted}. "
            f'Hint: surefoot evaluate -q -m "{wanted}"'
        )


def _measure(
    ranking: npt.ArrayLike,
    data: FeatureData,
    objective: Objective,
    threads: int,
) -> Doubles:
    measure = objective.learning_measure().build(data.offsets, data.labels)
    return score_queries(measure, data.offsets, ranking, threads=threads)


def _kind_of(path: str) -> str:
    """Whether a file is a model, a run or a table of scores."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise InputError(f"cannot read the champion {path}: {error.strerror}") from None
    if FORMAT.encode() in head[:200]:
        return "model"
    if head[:2] == b"\x1f\x8b":
        import gzip

        with gzip.open(path) as packed:
            head = packed.read(4096)
    fields = head.split(b"\n", 1)[0].split()
    return "run" if len(fields) in (5, 6) and b"," not in fields[0] else "scores"


def _run_scores(path: str, data: FeatureData) -> Doubles:
    """The run's score of each document; documents that it does not hold come last."""
    from surefoot.io.trec import read_run

    by_topic = read_run(path).to_dict()
    names = data.document_names()
    out = np.full(len(names), -np.inf)
    found = 0
    for q, query in enumerate(data.queries):
        scores = by_topic.get(query)
        if scores is None:
            raise AlignmentError(
                f"{path}: the run has no documents for query {query!r}. "
                "Hint: the run's topics must be the query ids of the training file"
            )
        for row in range(int(data.offsets[q]), int(data.offsets[q + 1])):
            score = scores.get(names[row])
            if score is not None:
                out[row] = score
                found += 1
    if found == 0:
        raise AlignmentError(
            f"{path}: none of the run's documents is in the training file. Hint: document ids are "
            "read from '# docid = X'; without them documents are called <query>-<position>"
        )
    return out
