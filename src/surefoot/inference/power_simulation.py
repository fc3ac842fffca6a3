"""Power of any test by simulation: the share of simulated data sets in which it rejects."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.inference.bootstrap_test import bootstrap_test
from surefoot.inference.intervals import bootstrap_intervals
from surefoot.inference.randomization import randomization_test
from surefoot.inference.sign_test import sign_test
from surefoot.inference.t_test import t_test
from surefoot.inference.wilcoxon import wilcoxon

FloatArray = npt.NDArray[np.float64]

# (n_sets, n_topics) differences, level, resamples, seed, threads -> which sets reject
Rejects = Callable[[FloatArray, float, int, int, int], npt.NDArray[np.bool_]]

# differences held at once
_CELLS = 8_000_000


def _by_p(test: Callable[..., Any]) -> Rejects:
    def rejects(
        x: FloatArray, level: float, resamples: int, seed: int, threads: int
    ) -> npt.NDArray[np.bool_]:
        return np.asarray(test(x).p_value <= level)

    return rejects


def _by_resampling(test: Callable[..., Any], count: str) -> Rejects:
    def rejects(
        x: FloatArray, level: float, resamples: int, seed: int, threads: int
    ) -> npt.NDArray[np.bool_]:
        outcome = test(x, seed=seed, threads=threads, **{count: resamples})
        return np.asarray(outcome.p_value <= level)

    return rejects


def _by_interval(method: str) -> Rejects:
    def rejects(
        x: FloatArray, level: float, resamples: int, seed: int, threads: int
    ) -> npt.NDArray[np.bool_]:
        import warnings

        from surefoot.errors import UnreliableWarning

        with warnings.catch_warnings():  # an interval that cannot be had does not reject
            warnings.simplefilter("ignore", UnreliableWarning)
            found = bootstrap_intervals(
                x,
                methods=[method],
                confidence=1 - level,
                n_resamples=resamples,
                seed=seed,
                threads=threads,
            )
        return np.asarray((found.low[0] > 0) | (found.high[0] < 0))

    return rejects


# tests, and intervals that reject when they leave zero out
REJECTS: dict[str, Rejects] = {
    "t": _by_p(t_test),
    "wilcoxon": _by_p(lambda x: wilcoxon(x, exact_limit=25)),
    "sign": _by_p(sign_test),
    "bootstrap": _by_resampling(bootstrap_test, "n_resamples"),
    "randomization": _by_resampling(randomization_test, "n_permutations"),
    "basic": _by_interval("basic"),
    "studentized": _by_interval("studentized"),
    "percentile": _by_interval("percentile"),
    "bca": _by_interval("bca"),
}


def simulated_power(
    draw: Callable[[int, int, np.random.Generator], FloatArray],
    n_topics: int,
    *,
    test: str = "t",
    level: float = 0.05,
    n_sets: int = 2000,
    n_resamples: int = 2000,
    seed: int = 0,
    threads: int = 0,
) -> tuple[float, float]:
    """(power, its Monte Carlo standard error) at a number of topics.

    Parameters
    ----------
    draw : callable
        (n_topics, n_sets, rng) to (n_sets, n_topics) simulated differences.
    test : str
        A key of `REJECTS`.
    """
    if test not in REJECTS:
        raise InputError(f"unknown test {test!r}. Hint: one of {', '.join(REJECTS)}")
    rejected = 0
    step = max(1, _CELLS // n_topics)
    # each number of topics, and each piece of the sets, has draws of its own
    for piece, first in enumerate(range(0, n_sets, step)):
        rng = np.random.default_rng([seed, n_topics, piece])
        x = draw(n_topics, min(step, n_sets - first), rng)
        rejected += int(REJECTS[test](x, level, n_resamples, seed, threads).sum())
    share = rejected / n_sets
    return share, float(np.sqrt(max(share * (1 - share), 1 / n_sets) / n_sets))


def simulated_shares(
    draw: Callable[[int, int, np.random.Generator], FloatArray],
    n_topics: int,
    decide: Callable[[FloatArray, int], npt.NDArray[np.bool_]],
    *,
    n_systems: int,
    n_sets: int = 2000,
    seed: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Share of simulated tables in which each comparison is decided, and its Monte Carlo error.

    Parameters
    ----------
    draw : callable
        (n_topics, n_sets, rng) to (n_systems, n_sets, n_topics) simulated scores.
    decide : callable
        One table, (n_systems, n_topics), and its number to which comparisons it decides.
    """
    step = max(1, _CELLS // (n_topics * n_systems))
    decided: FloatArray | None = None
    for piece, first in enumerate(range(0, n_sets, step)):
        rng = np.random.default_rng([seed, n_topics, piece])
        tables = draw(n_topics, min(step, n_sets - first), rng)
        for k in range(tables.shape[1]):
            found = decide(np.ascontiguousarray(tables[:, k]), first + k).astype(np.float64)
            decided = found if decided is None else decided + found
    assert decided is not None
    share = decided / n_sets
    return share, np.sqrt(np.maximum(share * (1 - share), 1 / n_sets) / n_sets)
