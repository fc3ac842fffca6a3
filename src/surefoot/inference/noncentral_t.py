"""The noncentral t distribution, by integration over the standard deviation.

T = (Z + shift) / S with Z standard normal and S^2 a mean square on df degrees of freedom. SciPy's
function returns NaN in the far tails, where planning for strict levels needs it.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_NODES = 96


@lru_cache(maxsize=8)
def legendre(n_nodes: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of Gauss and Legendre on [-1, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    return nodes, weights


def mean_square_nodes(df: npt.ArrayLike, n_nodes: int = _NODES) -> tuple[FloatArray, FloatArray]:
    """Values of S and their masses, one row of nodes for each number of degrees of freedom."""
    from scipy.special import chdtri, gammaln

    nodes, weights = legendre(n_nodes)
    d = np.asarray(df, dtype=np.float64)[..., None]
    low = np.sqrt(chdtri(d, 1.0 - 1e-15) / d)
    high = np.sqrt(chdtri(d, 1e-16) / d)
    s = low + (high - low) * (nodes + 1) / 2
    log_density = (
        np.log(2.0) + d / 2 * np.log(d / 2) - gammaln(d / 2) + (d - 1) * np.log(s) - d * s * s / 2
    )
    mass = weights * np.exp(log_density - log_density.max(axis=-1, keepdims=True))
    return s, mass / mass.sum(axis=-1, keepdims=True)


def noncentral_t_sf(t: npt.ArrayLike, df: npt.ArrayLike, shift: npt.ArrayLike) -> FloatArray:
    """P(T > t)."""
    from scipy.special import ndtr

    s, mass = mean_square_nodes(df)
    above = np.asarray(shift)[..., None] - np.asarray(t)[..., None] * s
    return np.asarray((ndtr(above) * mass).sum(axis=-1))
