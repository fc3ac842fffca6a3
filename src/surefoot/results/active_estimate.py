"""Estimates of an active study."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.results.record import Column, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateResult(Result):
    """One row a quantity; in a comparison the difference comes first."""

    command: ClassVar[str] = "active estimate"
    terminal: ClassVar[tuple[str, ...]] = (
        "quantity",
        "estimate",
        "se",
        "low",
        "high",
        "draws",
        "labelled",
    )

    quantity: tuple[str, ...]
    estimate: tuple[float, ...]
    se: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    confidence: float
    draws: int
    labelled: int
    cost: float
    method: str

    def columns(self) -> dict[str, Column]:
        """The contract's columns."""
        n = len(self.quantity)
        return {
            "quantity": self.quantity,
            "estimate": self.estimate,
            "se": self.se,
            "low": self.low,
            "high": self.high,
            "confidence": [self.confidence] * n,
            "draws": [self.draws] * n,
            "labelled": [self.labelled] * n,
            "cost": [self.cost] * n,
            "method": [self.method] * n,
        }
