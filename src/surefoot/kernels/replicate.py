"""Posterior predictive replicates, drawn by counter so that threads and chunks do not matter."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot import _kernels

FloatArray = npt.NDArray[np.float64]

# family -> (its code in the kernel, names of its parameters in their order)
FAMILIES: dict[str, tuple[int, tuple[str, ...]]] = {
    "gaussian": (0, ("sigma",)),
    "student": (1, ("sigma", "nu")),
    "skew_normal": (2, ("sigma", "lambda")),
    "zoib": (3, ("phi", "zoi", "coi")),
}


class ReplicateSums(NamedTuple):
    """What risk needs of the replicates.

    `gains`, `losses` : (n_draws, n_challengers) sums over topics of the positive and of the
    negative differences to the champion; `wins`, `worse` : how many topics they are.
    """

    gains: FloatArray
    losses: FloatArray
    wins: npt.NDArray[np.int32]
    worse: npt.NDArray[np.int32]


def replicate_sums(
    family: str,
    system: FloatArray,
    topic: FloatArray,
    parameters: FloatArray,
    selected: npt.NDArray[np.int64],
    *,
    seed: int,
    first_draw: int = 0,
    threads: int = 0,
) -> ReplicateSums:
    """Gains and losses of replicates against the first selected system.

    Parameters
    ----------
    family : str
        Key of `FAMILIES`.
    system : (n_draws, n_systems) float array
        Intercept plus system effect.
    topic : (n_draws, n_topics) float array
        Topic effect.
    parameters : (n_draws, n_parameters) float array
        The family's parameters, in the order of `FAMILIES`.
    selected : (1 + n_challengers,) int array
        Columns of `system`: the champion, then its challengers.
    seed, first_draw : int
        Replicates of draw k depend on (seed, first_draw + k) alone.
    """
    return ReplicateSums(
        *_kernels.replicate_sums(
            FAMILIES[family][0],
            np.ascontiguousarray(system, dtype=np.float64),
            np.ascontiguousarray(topic, dtype=np.float64),
            np.ascontiguousarray(parameters, dtype=np.float64),
            np.ascontiguousarray(selected, dtype=np.int64),
            seed,
            first_draw,
            threads,
        )
    )


def replicate_scores(
    family: str,
    system: FloatArray,
    topic: FloatArray,
    parameters: FloatArray,
    selected: npt.NDArray[np.int64],
    *,
    seed: int,
    first_draw: int = 0,
    threads: int = 0,
) -> npt.NDArray[np.float32]:
    """The replicates themselves, (n_draws, n_selected, n_topics); arguments as `replicate_sums`."""
    scores: npt.NDArray[np.float32] = _kernels.replicate_scores(
        FAMILIES[family][0],
        np.ascontiguousarray(system, dtype=np.float64),
        np.ascontiguousarray(topic, dtype=np.float64),
        np.ascontiguousarray(parameters, dtype=np.float64),
        np.ascontiguousarray(selected, dtype=np.int64),
        seed,
        first_draw,
        threads,
    )
    return scores
