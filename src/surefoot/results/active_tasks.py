"""What to label now, what became of labels, and where a study stands."""

from dataclasses import dataclass, field
from typing import ClassVar

from surefoot.results.record import Column, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksResult(Result):
    """Documents that wait for a label, one row each."""

    command: ClassVar[str] = "active next"

    topic: tuple[str, ...] = ()
    doc: tuple[str, ...] = ()
    draw: tuple[int, ...] = ()
    cost: tuple[float, ...] = ()

    def columns(self) -> dict[str, Column]:
        """One row a document."""
        return {"topic": self.topic, "doc": self.doc, "draw": self.draw, "cost": self.cost}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelResult(Result):
    """What became of the labels of one call."""

    command: ClassVar[str] = "active label"

    stored: int
    corrected: int
    unchanged: int
    elsewhere: int
    completed: int

    def columns(self) -> dict[str, Column]:
        """One row."""
        return {
            "stored": [self.stored],
            "corrected": [self.corrected],
            "unchanged": [self.unchanged],
            "elsewhere": [self.elsewhere],
            "completed": [self.completed],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendResult(Result):
    """A study's budget after more was added."""

    command: ClassVar[str] = "active extend"

    added: float
    budget: float
    spent: float

    def columns(self) -> dict[str, Column]:
        """One row."""
        return {"added": [self.added], "budget": [self.budget], "spent": [self.spent]}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusResult(Result):
    """Where a study stands, and who labelled what."""

    command: ClassVar[str] = "active status"

    field_names: tuple[str, ...] = ()
    field_values: tuple[object, ...] = field(default=(), repr=False)

    def columns(self) -> dict[str, Column]:
        """One row a fact."""
        return {"field": self.field_names, "value": self.field_values}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult(Result):
    """All rows of one kind: draws, labels, grades in force, disagreements or queries."""

    command: ClassVar[str] = "active export"

    table: dict[str, Column] = field(default_factory=dict, repr=False)

    def columns(self) -> dict[str, Column]:
        """As the kind has them."""
        return self.table
