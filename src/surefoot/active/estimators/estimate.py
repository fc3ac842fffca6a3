"""The shape that every estimator shares."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Estimate:
    """One estimate a study.

    Parameters
    ----------
    value, standard_error : (n_studies,) arrays
        NaN where a study has too few draws to say.
    degrees : (n_studies,) array
        Degrees of freedom of the interval.
    """

    value: FloatArray
    standard_error: FloatArray
    degrees: FloatArray

    def interval(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Student's interval at each study's degrees of freedom (delta method)."""
        from scipy.special import stdtrit

        half = stdtrit(np.maximum(self.degrees, 1), (1 + confidence) / 2) * self.standard_error
        half = np.where(self.degrees >= 1, half, np.nan)
        return self.value - half, self.value + half


def ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Quotient with NaN, and no warning, where the denominator is 0."""
    out = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator > 0)
    return out
