"""A pool of unlabelled queries, made of runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from surefoot.results.record import Column, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolResult(Result):
    """One row a ranked document: topic, ranking, rank, doc, score."""

    command: ClassVar[str] = "active pool"

    table: Mapping[str, Column] = field(default_factory=dict, repr=False)

    def columns(self) -> dict[str, Column]:
        """As `plan` reads them."""
        return dict(self.table)
