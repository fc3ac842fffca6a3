"""Risk against reward over a family of settings, and its efficient frontier."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def efficient(risk: FloatArray, reward: FloatArray) -> BoolArray:
    """Which settings no other beats on both counts.

    Parameters
    ----------
    risk, reward : (n,) float arrays
        Lower risk and higher reward are better; NaN is never efficient.

    Notes
    -----
    The upper left boundary of the risk-reward plot (Collins-Thompson 2009; Benham 2023, Section
    2.5.2). Settings that are equal on both counts stand or fall together.
    """
    out = np.zeros(len(risk), bool)
    known = np.flatnonzero(~np.isnan(risk) & ~np.isnan(reward))
    order = known[np.lexsort((-reward[known], risk[known]))]
    best = -np.inf
    last: tuple[float, float] | None = None
    for i in order:
        here = (float(risk[i]), float(reward[i]))
        if here == last or reward[i] > best:
            out[i] = True
            last = here
            best = max(best, float(reward[i]))
    return out


def dominator(risk: FloatArray, reward: FloatArray, i: int) -> int | None:
    """The setting with the highest reward among those that beat setting `i`; None if none does."""
    with np.errstate(invalid="ignore"):
        no_worse = (risk <= risk[i]) & (reward >= reward[i])
        better = no_worse & ((risk < risk[i]) | (reward > reward[i]))
    if not better.any():
        return None
    return int(np.argmax(np.where(better, reward, -np.inf)))


def r_loss(relevant: FloatArray, champion: FloatArray, *, net: bool = False) -> FloatArray:
    """R-Loss@k: relevant documents of the champion's top k that the challenger lost.

    Parameters
    ----------
    relevant : (n_systems, n_topics) float array
        Number of relevant documents in each system's top k.
    champion : (n_topics,) float array
        The champion's.
    net : bool
        Let topics that gain documents make up for those that lose some; by default a topic counts
        max(0, lost).

    Notes
    -----
    Collins-Thompson 2009; Benham 2023, Section 2.5.2 leaves open which of the two is meant.
    """
    lost = champion - relevant
    out: FloatArray = np.nansum(lost if net else np.maximum(lost, 0.0), axis=-1)
    return out
