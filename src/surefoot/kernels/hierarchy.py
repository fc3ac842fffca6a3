"""Crossed-effects likelihoods: terms of one observation, gradients, Laplace draws."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot import _kernels

FloatArray = npt.NDArray[np.float64]

FAMILY_IDS = {"gaussian": 0, "student": 1, "beta": 2, "skew_normal": 3}
_NONE = np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Observations:
    """Scores as one row an observation, sorted by system.

    Parameters
    ----------
    n_systems, n_topics : int
        Numbers of effects.
    system, topic : (n,) int32 arrays
        Which effects an observation has; ``system`` ascending.
    first, second : (n,) float arrays
        What the likelihood needs: logit y and log(1 - y) for the beta, y and zeros for others.
    covariate : (n,) float array, optional
        Value that the slope k multiplies.
    """

    n_systems: int
    n_topics: int
    system: npt.NDArray[np.int32] = field(repr=False)
    topic: npt.NDArray[np.int32] = field(repr=False)
    first: FloatArray = field(repr=False)
    second: FloatArray = field(repr=False)
    covariate: FloatArray | None = field(default=None, repr=False)

    @property
    def n(self) -> int:
        """Number of observations."""
        return len(self.system)

    @property
    def fixed(self) -> int:
        """Number of fixed effects: b, and k where there is a covariate."""
        return 1 if self.covariate is None else 2

    @property
    def size(self) -> int:
        """Length of a parameter vector (b, [k], systems, topics)."""
        return self.fixed + self.n_systems + self.n_topics

    def _arrays(self) -> tuple[object, ...]:
        covariate = _NONE if self.covariate is None else self.covariate
        return (
            *(self.n_systems, self.n_topics, self.system, self.topic),
            *(self.first, self.second, covariate),
        )


def likelihood_terms(
    family: str, shape: FloatArray, eta: FloatArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    """``(6, n)``: value, gradient and curvature by eta, information, derivatives by the shapes.

    ``shape`` is (phi, 0) for beta, (sigma, 0) for gaussian, (sigma, nu) for student and
    (sigma, lambda) for skew_normal.
    """
    out = np.empty((6, len(eta)))
    _kernels.likelihood_terms(FAMILY_IDS[family], shape, eta, first, second, out)
    return out


def pointwise(
    family: str, data: Observations, shape: FloatArray, x: FloatArray, *, threads: int = 0
) -> FloatArray:
    """Log likelihood ``(draws, n)`` at ``shape`` (draws, 2) and ``x`` (draws, size)."""
    out = np.empty((len(shape), data.n))
    _kernels.likelihood_pointwise(
        FAMILY_IDS[family], *data._arrays(), _contiguous(shape), _contiguous(x), out, threads
    )
    return out


def gradient(
    family: str, data: Observations, shape: FloatArray, x: FloatArray, *, threads: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Log likelihood ``(m,)`` and its gradient ``(m, size + 2)``, the shapes last."""
    value = np.empty(len(shape))
    out = np.empty((len(shape), data.size + 2))
    _kernels.likelihood_gradient(
        FAMILY_IDS[family],
        *data._arrays(),
        _contiguous(shape),
        _contiguous(x),
        value,
        out,
        threads,
    )
    return value, out


@dataclass(frozen=True, slots=True, eq=False)
class Leaning:
    """Draws to make, each leaning on the approximation of a hyperparameter value near its own.

    Parameters
    ----------
    edges : (m + 1,) int64 array
        Draws ``edges[r]`` to ``edges[r + 1]`` lean on approximation ``r``.
    shape : (n, 2) float array
        Their own shape parameters.
    prior : (n, 5) float array
        Their own priors.
    shift : (n, size) float array
        Where their own modes lie, seen from the mode of the approximation.
    z : (n, size) float array
        Standard normal numbers to draw with.
    """

    edges: npt.NDArray[np.int64]
    shape: FloatArray
    prior: FloatArray
    shift: FloatArray
    z: FloatArray

    @classmethod
    def nobody(cls, m: int, size: int) -> "Leaning":
        """No draws."""
        none = np.empty((0, size))
        return cls(np.zeros(m + 1, dtype=np.int64), np.empty((0, 2)), np.empty((0, 5)), none, none)


@dataclass(frozen=True, slots=True, eq=False)
class LaplaceDraws:
    """Approximations at ``m`` hyperparameter values, and ``n`` draws that lean on them.

    Parameters
    ----------
    mode : (m, size) float array
        Modes of (b, [k], systems, topics).
    log_marginal : (m,) float array
        Laplace approximation of the log marginal likelihood; -inf where it failed.
    status : (m,) float array
        0 converged, 1 stopped early, 2 with the expected information, 3 failed.
    information : (m,) float array
        Sum of the curvatures of all observations at the mode.
    draws : (n, size) float array
        Draws.
    log_ratio : (n,) float array
        Log of likelihood times prior, both at the draw's own hyperparameters, over the density that
        it was drawn from.
    """

    mode: FloatArray
    log_marginal: FloatArray
    status: FloatArray
    information: FloatArray
    draws: FloatArray
    log_ratio: FloatArray


def laplace(
    family: str,
    data: Observations,
    shape: FloatArray,
    prior: FloatArray,
    start: FloatArray,
    *,
    leaning: Leaning | None = None,
    max_steps: int = 50,
    tolerance: float = 1e-6,
    threads: int = 0,
) -> LaplaceDraws:
    """Approximate the effects at each row of ``shape`` and draw from the approximations.

    Parameters
    ----------
    shape : (m, 2) float array
        Shape parameters of the likelihood.
    prior : (m, 5) float array
        Location and precision of b, then the precisions of k, systems and topics.
    start : (m, size) float array
        Where Newton's method starts.
    leaning : Leaning, optional
        Draws to make.
    max_steps : int
        Newton steps; 0 takes one step and trusts the importance ratios to correct it.
    """
    m = len(shape)
    if leaning is None:
        leaning = Leaning.nobody(m, data.size)
    mode = np.array(start, dtype=np.float64)
    summary = np.empty((m, 5))
    draws = np.array(leaning.shift, dtype=np.float64)
    ratio = np.empty(len(draws))
    _kernels.laplace(
        FAMILY_IDS[family],
        *data._arrays(),
        _contiguous(shape),
        _contiguous(prior),
        max_steps,
        tolerance,
        mode,
        summary,
        leaning.edges,
        _contiguous(leaning.shape),
        _contiguous(leaning.prior),
        _contiguous(leaning.z),
        draws,
        ratio,
        threads,
    )
    log_marginal = summary[:, 0] + summary[:, 3] - 0.5 * summary[:, 1]
    return LaplaceDraws(mode, log_marginal, summary[:, 2], summary[:, 4], draws, ratio)


def _contiguous(array: FloatArray) -> FloatArray:
    return np.ascontiguousarray(array, dtype=np.float64)
