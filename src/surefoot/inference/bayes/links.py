"""From the real line, where engines move, to the values a parameter may take."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from surefoot.errors import ModelError
from surefoot.inference.bayes.priors import Prior

FloatArray = npt.NDArray[np.float64]

# beyond, the logarithm of a scale or the logit of a share no longer changes it in double precision
FAR, FAR_LOGIT = 50.0, 30.0
# lowest values by the nature of a parameter; brms has nu > 1
_LOWEST = {"nu": 1.0, "lambda": -math.inf, "b": -math.inf}


@dataclass(frozen=True, slots=True)
class Link:
    """x(u) for real u: u itself, low + exp(u), or low + (high - low) / (1 + exp(-u)).

    Parameters
    ----------
    low, high : float
        Ends of the values allowed; infinite ones are open.
    """

    low: float = 0.0
    high: float = math.inf

    @classmethod
    def of(cls, name: str, prior: Prior) -> "Link":
        """The link of a parameter: its nature's, or the support of a uniform prior within that."""
        low, high = _LOWEST.get(name, 0.0), math.inf
        if prior.distribution == "uniform":
            low, high = max(low, prior.numbers[0]), prior.numbers[1]
            if low >= high:
                raise ModelError(f"prior '{name}={prior}': {name} is above {low:g}")
        return cls(low, high)

    @property
    def kind(self) -> str:
        """Which of the three."""
        if math.isinf(self.low):
            return "identity"
        return "log" if math.isinf(self.high) else "logit"

    def value(self, u: FloatArray) -> FloatArray:
        """X at u."""
        if self.kind == "identity":
            return np.asarray(u)
        if self.kind == "log":
            return np.asarray(self.low + np.exp(np.clip(u, -FAR, FAR)))
        share = special.expit(np.clip(u, -FAR_LOGIT, FAR_LOGIT))
        return np.asarray(self.low + (self.high - self.low) * share)

    def inverse(self, x: FloatArray) -> FloatArray:
        """U of x."""
        if self.kind == "identity":
            return np.asarray(x)
        if self.kind == "log":
            return np.asarray(np.log(np.maximum(x - self.low, 1e-300)))
        return np.asarray(special.logit((x - self.low) / (self.high - self.low)))

    def within(self, x: FloatArray) -> FloatArray:
        """X, or the nearest value well inside an interval."""
        if self.kind != "logit":
            return np.asarray(x)
        margin = 0.05 * (self.high - self.low)
        return np.clip(x, self.low + margin, self.high - margin)

    def log_slope(self, u: FloatArray) -> FloatArray:
        """Log of dx/du."""
        if self.kind == "identity":
            return np.zeros_like(u)
        if self.kind == "log":
            return np.asarray(u)
        width = math.log(self.high - self.low)
        return np.asarray(width + special.log_expit(u) + special.log_expit(-u))

    def slope(self, u: FloatArray) -> FloatArray:
        """dx/du."""
        if self.kind == "log":
            return np.exp(np.clip(u, -FAR, FAR))
        return np.exp(self.log_slope(u))

    def score(self, u: FloatArray) -> FloatArray:
        """Derivative of `log_slope`."""
        if self.kind == "identity":
            return np.zeros_like(u)
        if self.kind == "log":
            return np.ones_like(u)
        return np.asarray(1 - 2 * special.expit(u))
