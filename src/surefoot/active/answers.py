"""From a study's labels to the values that estimates are made of."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.active.measure import parse_measure
from surefoot.active.moments import values
from surefoot.active.store.study import Draw, Study
from surefoot.data.pool import Pool

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answers:
    """The labelled beginning of a study's draws.

    Parameters
    ----------
    draws : tuple of Draw
        In the order drawn, up to the first query that still waits for a label. What comes after it
        is left out: the queries that are quick to label are not a fair sample.
    row : (n_draws,) int array
        Row of each draw in the arrays below.
    p, q : (n_queries,) arrays
        Of each distinct query.
    value, predicted : (n_rankings, n_queries) arrays
        L(r(x), y) under the labels, and what the model had expected.
    waiting : int
        Draws left out.
    """

    draws: tuple[Draw, ...]
    row: npt.NDArray[np.int64]
    p: FloatArray
    q: FloatArray
    value: FloatArray
    predicted: FloatArray
    waiting: int

    def first(self, n: int) -> "Answers":
        """The same before later draws were labelled."""
        kept, row = np.unique(self.row[:n], return_inverse=True)
        return Answers(
            self.draws[:n],
            row,
            self.p[kept],
            self.q[kept],
            self.value[:, kept],
            self.predicted[:, kept],
            self.waiting,
        )

    @property
    def cost(self) -> float:
        """What the draws cost."""
        return sum(d.charged for d in self.draws)


def read_answers(study: Study) -> Answers:
    """All that an estimate needs."""
    draws = study.draws()
    first_open = next((i for i, d in enumerate(draws) if not d.complete), len(draws))
    used = draws[:first_open]
    numbers = sorted({d.topic for d in used})
    rows = study.topics(numbers)
    place = {number: i for i, number in enumerate(numbers)}
    grades = agreed_grades(study.labels(numbers))
    pool = _pool_of(rows, study)
    grade = np.array(
        [grades[row.number][doc] for row in rows for doc in range(len(json.loads(row.docs)))],
        dtype=np.int64,
    )
    measure = parse_measure(study.settings["measure"], gain=study.settings["gain"])
    predicted = np.array([json.loads(row.expected) for row in rows], dtype=np.float64)
    rankings = len(study.settings["rankings"])
    return Answers(
        tuple(used),
        np.array([place[d.topic] for d in used], dtype=np.int64),
        np.array([row.p for row in rows], dtype=np.float64),
        np.array([row.q for row in rows], dtype=np.float64),
        values(pool, measure, grade),
        predicted.reshape(len(rows), rankings).T,
        len(draws) - len(used),
    )


def last_words(labels: Sequence[Any]) -> dict[tuple[int, int], dict[str, int]]:
    """(Topic, document) -> labeller -> the grade that labeller gave last."""
    last: dict[tuple[int, int], dict[str, int]] = {}
    for row in labels:
        last.setdefault((row.topic, row.doc), {})[row.labeller] = row.grade
    return last


def agreed_grades(labels: Sequence[Any]) -> dict[int, dict[int, int]]:
    """Topic -> document -> grade: each labeller's last word, and the lower median of them."""
    out: dict[int, dict[int, int]] = {}
    for (topic, doc), by_labeller in last_words(labels).items():
        ordered = sorted(by_labeller.values())
        out.setdefault(topic, {})[doc] = ordered[(len(ordered) - 1) // 2]
    return out


def _pool_of(rows: Sequence[Any], study: Study) -> Pool:
    """The labelled queries as a pool."""
    docs: list[str] = []
    item_offset = [0]
    n_rankings = len(study.settings["rankings"])
    offsets: list[list[int]] = [[0] for _ in range(n_rankings)]
    items: list[list[int]] = [[] for _ in range(n_rankings)]
    for row in rows:
        base = len(docs)
        docs.extend(json.loads(row.docs))
        item_offset.append(len(docs))
        for r, order in enumerate(json.loads(row.rankings)):
            items[r].extend(base + i for i in order)
            offsets[r].append(len(items[r]))
    grades = int(study.settings["grades"])
    return Pool(
        tuple(row.topic for row in rows),
        tuple(study.settings["rankings"]),
        np.array(item_offset, np.int64),
        tuple(docs),
        tuple(np.array(o, np.int64) for o in offsets),
        tuple(np.array(i, np.int32) for i in items),
        np.broadcast_to(np.full(grades, 1 / grades), (len(docs), grades)),
    )
