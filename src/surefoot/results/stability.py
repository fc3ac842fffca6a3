"""How stable the order of systems is under other topics."""

from dataclasses import dataclass
from typing import ClassVar

from surefoot.results.record import Column, Result


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityResult(Result):
    """One row for each overlay and number of topics; see `surefoot.overlays.stability`.

    `note` says why a rate is missing.
    """

    command: ClassVar[str] = "stability"

    overlay: tuple[str, ...]
    topics: tuple[int, ...]
    trials: tuple[int, ...]
    error_rate: tuple[float, ...]
    tie_rate: tuple[float, ...]
    swap_rate: tuple[float, ...]
    sure_difference: tuple[float, ...]
    note: tuple[str, ...]

    def columns(self) -> dict[str, Column]:
        """The table."""
        return {
            "overlay": self.overlay,
            "form": ("alpha",) * len(self.overlay),
            "topics": self.topics,
            "trials": self.trials,
            "error_rate": self.error_rate,
            "tie_rate": self.tie_rate,
            "swap_rate": self.swap_rate,
            "sure_difference": self.sure_difference,
            "note": self.note,
        }
