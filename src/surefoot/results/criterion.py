"""How well a model predicts scores that it has not seen."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True, eq=False)
class Criterion:
    """WAIC or PSIS-LOO of one fitted model.

    Parameters
    ----------
    name : str
        "waic" or "loo".
    value : float
        On the deviance scale, -2 times the expected log predictive density: lower is better.
    se : float
        Standard error of `value` over the observations.
    effective_parameters : float
        How much the model bends towards the data.
    pointwise : (n_observations,) float array
        Expected log predictive density of each observation.
    khat : (n_observations,) float array, optional
        LOO: Pareto k of each observation; above 0.7 its term cannot be trusted.
    """

    name: str
    value: float
    se: float
    effective_parameters: float
    pointwise: npt.NDArray[np.float64] = field(repr=False)
    khat: npt.NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def unreliable(self) -> int:
        """Number of observations whose k-hat is above 0.7."""
        return 0 if self.khat is None else int((self.khat > 0.7).sum())


@dataclass(frozen=True, slots=True)
class CriterionDifference:
    """One model's criterion minus another's, with a standard error that respects the pairing.

    Parameters
    ----------
    name : str
        "waic" or "loo".
    difference : float
        First minus second: negative when the first model predicts better.
    se : float
        Standard error of the difference over the observations.
    """

    name: str
    difference: float
    se: float
