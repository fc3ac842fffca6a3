"""Active evaluation by brute force: all label vectors of a query (Sawade et al. 2012, Eq. 13)."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Measure = Callable[[Sequence[float]], float]


def L_dcg(gains: Sequence[float], discount: Sequence[float]) -> float:
    """Sum of discounted gains (Sawade et al., Eq. 1)."""
    return float(sum(g * d for g, d in zip(gains, discount, strict=False)))


def L_err(gains: Sequence[float]) -> float:
    """Expected reciprocal rank (Sawade et al., Eq. 2)."""
    total, proceed = 0.0, 1.0
    for i, g in enumerate(gains, start=1):
        total += proceed * g / i
        proceed *= 1 - g
    return total


def expectation(
    function: Callable[[Sequence[float]], float], probability: FloatArray, gain: FloatArray
) -> float:
    """E[g(x, y) | x; theta] over all label vectors of one query's items (Sawade et al., Eq. 13)."""
    total = 0.0
    n_items, n_grades = probability.shape
    for y in product(range(n_grades), repeat=n_items):
        weight = float(np.prod([probability[z, g] for z, g in enumerate(y)]))
        if weight > 0:
            total += weight * function([float(gain[g]) for g in y])
    return total


def err_squared_deviation(probability: FloatArray, gain: FloatArray, R: float) -> float:
    """E[(L - R)^2 | x] of ERR as Eq. 23 prints it: 0/0 where the tail products vanish.

    Parameters
    ----------
    probability : (n_items, n_grades) array
        Best item first.
    """
    first, second = probability @ gain, probability @ gain**2
    n = len(first)
    go, go_twice = 1 - first, 1 - 2 * first + second  # E[1 - l], E[(1 - l)^2]
    total = R**2
    for i in range(n):
        before = float(np.prod(go_twice[:i]))
        total += second[i] / (i + 1) ** 2 * before
        tail = sum(first[k] / ((k + 1) * np.prod(go[k:])) for k in range(i + 1, n))
        total += 2 / (i + 1) * (first[i] - second[i]) * before * float(np.prod(go[i + 1 :])) * tail
        total -= 2 * R / (i + 1) * first[i] * float(np.prod(go[:i]))
    return float(total)


def sampling_distribution(
    functions: Sequence[Callable[[Sequence[float]], float]],
    probabilities: Sequence[FloatArray],
    gain: FloatArray,
    cost: Sequence[float],
) -> FloatArray:
    """q* of Sawade et al., Eqs 11 and 12: a function of the gains (L, or a difference) a query."""
    pairs = list(zip(functions, probabilities, strict=True))
    R = float(np.mean([expectation(f, p, gain) for f, p in pairs]))
    spread = [
        expectation(lambda y, f=f: (f(y) - R) ** 2, p, gain)  # type: ignore[misc]
        for f, p in pairs
    ]
    q = np.sqrt(np.array(spread) / np.asarray(cost, dtype=np.float64))
    normalised: FloatArray = q / q.sum()
    return normalised
