"""Which family of models predicts the scores best."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Models(Result):
    """One row a model, the best by LOO first.

    Parameters
    ----------
    families : tuple of str
        Models.
    loo, loo_se, waic, waic_se : (n,) float arrays
        Criteria on the deviance scale (lower is better), with standard errors over observations.
    loo_difference, loo_difference_se, waic_difference, waic_difference_se : (n,) float arrays
        This model minus the best one, with the standard error of the paired difference.
    unreliable : (n,) int array
        Observations whose k-hat is above 0.7, so that their LOO term is not to be trusted.
    methods : tuple of str
        The engines.
    """

    command: ClassVar[str] = "models"
    terminal: ClassVar[tuple[str, ...]] = (
        "family", "loo", "loo_difference", "loo_difference_se", "waic", "unreliable", "method",
    )  # fmt: skip

    families: tuple[str, ...]
    loo: FloatArray = field(repr=False)
    loo_se: FloatArray = field(repr=False)
    loo_difference: FloatArray = field(repr=False)
    loo_difference_se: FloatArray = field(repr=False)
    waic: FloatArray = field(repr=False)
    waic_se: FloatArray = field(repr=False)
    waic_difference: FloatArray = field(repr=False)
    waic_difference_se: FloatArray = field(repr=False)
    unreliable: npt.NDArray[np.int64] = field(repr=False)
    methods: tuple[str, ...]

    def columns(self) -> dict[str, Column]:
        """Family, LOO and WAIC with their differences to the best model."""
        return {
            "family": list(self.families),
            "loo": self.loo,
            "loo_se": self.loo_se,
            "loo_difference": self.loo_difference,
            "loo_difference_se": self.loo_difference_se,
            "waic": self.waic,
            "waic_se": self.waic_se,
            "waic_difference": self.waic_difference,
            "waic_difference_se": self.waic_difference_se,
            "unreliable": self.unreliable,
            "method": list(self.methods),
        }
