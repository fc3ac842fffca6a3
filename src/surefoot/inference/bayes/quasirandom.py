"""Points that fill the unit cube evenly: additive recurrences with a random shift.

The generator of dimension d is the root of x^(d+1) = x + 1, which spreads points about as evenly as
a Sobol sequence in few dimensions and needs no table of direction numbers.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def even_points(n: int, dimension: int, rng: np.random.Generator) -> FloatArray:
    """``(n, dimension)`` points in the open unit cube."""
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (dimension + 1))
    step = root ** -np.arange(1.0, dimension + 1)
    points = (rng.random(dimension) + np.arange(1, n + 1)[:, None] * step) % 1.0
    return np.asarray(np.clip(points, 1e-12, 1 - 1e-12))
