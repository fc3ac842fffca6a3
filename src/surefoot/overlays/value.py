"""Value functions: how much a difference in score is worth to the user."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError

FloatArray = npt.NDArray[np.float64]
ValueFunction = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class Linear:
    """A gain is worth itself, a loss 1 + alpha times itself (Benham 2023, Eq. 3.7)."""

    alpha: float

    def __call__(self, delta: FloatArray) -> FloatArray:
        """Worth of each difference."""
        return np.where(delta < 0, (1 + self.alpha) * delta, delta)


@dataclass(frozen=True, slots=True)
class Cubic:
    """A smooth value function a d^3 + b d^2 + c d (Benham 2023, Eq. 3.6).

    Large changes count more than small ones, and losses more than gains.
    """

    cubic: float
    quadratic: float
    linear: float

    def __call__(self, delta: FloatArray) -> FloatArray:
        """Worth of each difference."""
        return ((self.cubic * delta + self.quadratic) * delta + self.linear) * delta

    @property
    def monotone(self) -> bool:
        """Whether a larger difference is always worth more, on [-1, 1].

        Without it a topic that improves can lower the overlay.
        """
        ends = (self.slope(-1.0), self.slope(1.0))
        turn = -self.quadratic / (3 * self.cubic) if self.cubic else 0.0
        return min(*ends, self.slope(min(max(turn, -1.0), 1.0))) > 0

    def slope(self, delta: float) -> float:
        """First derivative."""
        return (3 * self.cubic * delta + 2 * self.quadratic) * delta + self.linear


# Benham 2023, Eq. 3.6: ERR@20 on TREC Web 2012 against indriCASP; not meant for other collections
THESIS_SMOOTH = Cubic(1.38426, -0.51659, 0.11578)


def fences(delta: npt.ArrayLike) -> tuple[float, float]:
    """Box plot fences Q1 - 1.5 IQR and Q3 + 1.5 IQR (not the whisker ends), quantile type 7."""
    values = np.asarray(delta, dtype=np.float64)
    values = values[~np.isnan(values)]
    if values.size == 0:
        raise InputError("the fences of the differences need at least one topic")
    low, high = np.quantile(values, [0.25, 0.75])
    reach = 1.5 * (high - low)
    return float(low - reach), float(high + reach)


def fit_smooth(
    lower_fence: float,
    upper_fence: float,
    *,
    worst: float = -2.0,
    best: float = 1.0,
    at_fence: float = 0.05,
    through_origin: bool = False,
) -> Cubic:
    """Fit the cubic to the thesis' five points, with the fences of other data.

    Parameters
    ----------
    lower_fence, upper_fence : float
        `fences` of the differences; they are worth -at_fence and +at_fence.
    worst, best : float
        What differences of -1 and +1 are worth.
    through_origin : bool
        Fit without an intercept. By default the intercept is fitted and then dropped, which is what
        reproduces the printed coefficients of Eq. 3.6; the fit through the origin has others
        (1.38013, -0.49823, 0.11997) although the text describes it so.
    """
    points = np.array([-1.0, lower_fence, 0.0, upper_fence, 1.0])
    if not lower_fence < 0 < upper_fence:
        raise InputError(
            f"the fences must lie on both sides of zero, but are {lower_fence:.4g} and "
            f"{upper_fence:.4g}. Hint: the differences are too lopsided to fit a smooth value"
        )
    worth = np.array([worst, -at_fence, 0.0, at_fence, best])
    powers = [points**3, points**2, points]
    if not through_origin:
        powers.append(np.ones(5))
    solution = np.linalg.lstsq(np.stack(powers, axis=1), worth, rcond=None)[0]
    return Cubic(float(solution[0]), float(solution[1]), float(solution[2]))
