"""What challengers are compared with: a named champion, or the per-topic mean, median or best."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix

FloatArray = npt.NDArray[np.float64]

AGGREGATES = ("mean", "median", "max")

# topics sorted at once for a median, so that memory does not grow with their number
_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class Baseline:
    """Scores to compare with, one a topic, with their bounds where the matrix has them."""

    name: str
    scores: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None
    system: bool  # a system of the table rather than an aggregate of several

    def restrict(self, columns: npt.NDArray[np.int64]) -> "Baseline":
        """The same baseline on some of the topics."""
        return Baseline(
            self.name,
            self.scores[columns],
            None if self.lower is None else self.lower[columns],
            None if self.upper is None else self.upper[columns],
            self.system,
        )


def baseline(matrix: ScoreMatrix, name: str, population: ScoreMatrix | None = None) -> Baseline:
    """The baseline of that name.

    Parameters
    ----------
    matrix : ScoreMatrix
        The systems under comparison.
    name : str
        A system of the table, or else ``mean``, ``median`` or ``max`` (also ``best``): the score of
        an artificial system that is the population's mean, median or best on each topic (Dincer et
        al. 2016, Section 2). A system of that very name comes first.
    population : ScoreMatrix, optional
        The systems to aggregate, by default all of `matrix`; aligned to its topics.
    """
    if name in matrix.systems or name not in (*AGGREGATES, "best"):
        i = matrix.index(name)
        return Baseline(
            name,
            matrix.values[i],
            None if matrix.lower is None else matrix.lower[i],
            None if matrix.upper is None else matrix.upper[i],
            True,
        )
    kind = "max" if name == "best" else name
    source = matrix if population is None else population
    return Baseline(
        kind,
        aggregate(source.values, kind),
        None if source.lower is None else aggregate(source.lower, kind),
        None if source.upper is None else aggregate(source.upper, kind),
        False,
    )


def aggregate(values: FloatArray, kind: str) -> FloatArray:
    """Per-topic mean, median or max over the systems that have the topic; NaN where none has."""
    out = np.full(values.shape[1], np.nan)
    for start in range(0, values.shape[1], _BLOCK):
        block = values[:, start : start + _BLOCK]
        part = out[start : start + _BLOCK]
        count = (~np.isnan(block)).sum(axis=0)
        some = count > 0
        if kind == "mean":
            np.divide(np.nansum(block, axis=0), count, out=part, where=some)
        elif kind == "max":
            part[some] = np.fmax.reduce(block, axis=0)[some]
        else:
            ordered = np.sort(block, axis=0)  # NaN last
            columns = np.flatnonzero(some)
            low = ordered[(count[columns] - 1) // 2, columns]
            part[columns] = (low + ordered[count[columns] // 2, columns]) / 2
    return out
