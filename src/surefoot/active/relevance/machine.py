"""Judgments of a machine (an LLM's grades), calibrated on documents that people have labelled."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
GradeArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Confusion:
    """p(people's grade | machine's grade).

    Parameters
    ----------
    table : (n_grades, n_grades) array
        One row a machine's grade.
    """

    table: FloatArray

    def predict(self, machine: GradeArray) -> FloatArray:
        """Probability of each grade, (n_items, n_grades)."""
        out: FloatArray = self.table[machine]
        return out


def fit_confusion(
    machine: GradeArray, grade: GradeArray, grades: int, *, strength: float = 2.0
) -> Confusion:
    """Count agreements, shrunk towards how often people give each grade at all.

    Parameters
    ----------
    machine, grade : (n_items,) int arrays
        What the machine and what people said of the same documents.
    strength : float
        Weight of the prior, in documents a row.
    """
    counts = np.zeros((grades, grades))
    np.add.at(counts, (machine, grade), 1.0)
    overall = (counts.sum(axis=0) + 1) / (counts.sum() + grades)
    table = counts + strength * overall
    return Confusion(table / table.sum(axis=1, keepdims=True))


def cumulative_logits(probability: FloatArray) -> FloatArray:
    """log P(y >= k) / P(y < k) for k = 1, 2, ...: a machine's probabilities as features."""
    above = probability[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    kept = np.clip(above, 1e-4, 1 - 1e-4)
    out: FloatArray = np.log(kept) - np.log1p(-kept)
    return out
