"""How far off simulated studies are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from surefoot.results.record import Column, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationResult(Result):
    """One row a variant, method and budget.

    Parameters
    ----------
    table : mapping
        ``error`` is the mean absolute deviation from the truth; ``selection_error`` how often the
        sign is wrong; ``saved`` the share of the labels that passive sampling with Eq. 6 needs for
        the same error, which this row does without.
    """

    command: ClassVar[str] = "active simulate"

    table: Mapping[str, Column] = field(default_factory=dict, repr=False)

    def columns(self) -> dict[str, Column]:
        """As tabulated."""
        return dict(self.table)
