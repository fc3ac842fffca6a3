"""The distribution of the studentised range, which Tukey's test is held against."""

import numpy as np
import numpy.typing as npt

from surefoot.inference.noncentral_t import legendre, mean_square_nodes

FloatArray = npt.NDArray[np.float64]

_OUTER, _INNER = 64, 160
# more values than this are read off a polynomial through Chebyshev points
_DIRECT_LIMIT = 256
_DEGREE = 200


def range_cdf(w: FloatArray, groups: int) -> FloatArray:
    """P(range of `groups` standard normals <= w)."""
    from scipy.special import ndtr

    nodes, weights = legendre(_INNER)
    z = 8.5 * nodes
    density = 8.5 * weights * np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    inner = ndtr(z) - ndtr(z - w[..., None])
    total: FloatArray = groups * (density * np.maximum(inner, 0.0) ** (groups - 1)).sum(axis=-1)
    return np.clip(total, 0.0, 1.0)


def studentized_range_sf(q: npt.ArrayLike, groups: int, df: float) -> FloatArray:
    """P(range / s > q), s^2 an independent mean square on `df` degrees of freedom."""
    values = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if values.size <= _DIRECT_LIMIT:
        return _integrate(values, groups, df)
    top = max(float(studentized_range_isf(1e-13, groups, df)), 1.0)
    curve = np.polynomial.chebyshev.Chebyshev.interpolate(
        lambda points: _integrate(points, groups, df), _DEGREE, domain=[0.0, top]
    )
    smooth: FloatArray = curve(np.minimum(values, top))
    return np.clip(smooth, 0.0, 1.0)


def _integrate(q: FloatArray, groups: int, df: float) -> FloatArray:
    s, mass = mean_square_nodes(df, _OUTER)
    out = np.empty(q.shape)
    for piece in np.array_split(np.arange(q.size), max(1, q.size // 64)):
        inside = range_cdf(q[piece][:, None] * s, groups)
        out[piece] = ((1.0 - inside) * mass).sum(axis=1)
    return np.clip(out, 0.0, 1.0)


def studentized_range_isf(p: float, groups: int, df: float) -> float:
    """The value that is exceeded with chance p, by bisection."""
    low, high = 0.0, 4.0
    while _integrate(np.array([high]), groups, df)[0] > p and high < 1e9:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if _integrate(np.array([middle]), groups, df)[0] > p:
            low = middle
        else:
            high = middle
    return (low + high) / 2
