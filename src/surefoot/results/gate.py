"""Whether a release gate found what it was told to look for."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult(Result):
    """One row for each expression, challenger and slice.

    Parameters
    ----------
    expression, system, slice : tuple of str
        What was checked, for whom, on which queries ("all" or a slice).
    failed : bool array
        Whether the row fails the gate.
    outcome : tuple of str
        "holds", "does not hold" or "undefined".
    values : tuple of str
        The quantities of the expression with their values.
    topics : tuple of tuples of str
        The worst queries of a row that fails, with the champion's and the challenger's score.
    """

    command: ClassVar[str] = "gate"
    terminal: ClassVar[tuple[str, ...]] = ("system", "slice", "expression", "outcome", "values")

    expression: tuple[str, ...]
    system: tuple[str, ...]
    slice: tuple[str, ...]
    failed: BoolArray
    outcome: tuple[str, ...]
    values: tuple[str, ...]
    topics: tuple[tuple[str, ...], ...]

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not bool(self.failed.any())

    def columns(self) -> dict[str, Column]:
        """The table."""
        return {
            "system": self.system,
            "slice": self.slice,
            "expression": self.expression,
            "failed": self.failed,
            "outcome": self.outcome,
            "values": self.values,
            "worst_topics": tuple("; ".join(worst) for worst in self.topics),
        }
