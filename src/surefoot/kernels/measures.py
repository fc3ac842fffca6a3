"""Ranking measures over grades in rank order: arrays in, arrays out."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot import _kernels

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
CodeArray = npt.NDArray[np.unsignedinteger]

# order of the enumerations in cpp/measures.cpp
TIES = ("as_is", "average", "expected", "best", "worst")
GAINS = ("linear", "exponential", "binary", "table", "thesis", "judged")

_EVERY_RANK = 2**62
_NONE = np.empty(0)


class Ranked(NamedTuple):
    """One run over all topics; topic i owns rows ``offsets[i]:offsets[i + 1]``.

    `code` (one byte or four, an index into `levels`, 0 = unjudged) and `score` are in rank order;
    `judged` holds all grades of the topic, highest first.
    """

    offsets: IntArray
    code: CodeArray
    levels: FloatArray
    score: FloatArray
    judged_offsets: IntArray
    judged: FloatArray


class Gains(NamedTuple):
    """How a grade becomes a gain; `full` is what an unjudged document could be worth."""

    kind: str = "binary"
    top: float = 1.0
    scale: float = 1.0
    level: float = 1.0
    full: float = 1.0
    grades: FloatArray = _NONE
    values: FloatArray = _NONE


def measure_topics(
    name: str,
    ranked: Ranked,
    *,
    gains: Gains,
    ties: str = "as_is",
    depth: int = 0,
    cutoff: int = 0,
    parameter: FloatArray | float = 0.0,
    discount: str | None = None,
    at_least: int = 1,
    threads: int = 1,
) -> FloatArray:
    """Scores of one measure on every topic.

    Parameters
    ----------
    name : str
        Which formula; the names are those of cpp/measures.cpp.
    ranked : Ranked
        The run and its judgments.
    gains : Gains
        From grades to gains.
    ties : str
        One of `TIES`; "as_is" takes the order of the rows.
    depth, cutoff : int
        Ranks that exist at all, and ranks that the measure counts; 0 for all.
    parameter : float or (n_topics) array
        p of RBP, T of INST.
    discount : None, "log2" or "letor"
        Rank discount of cumulated gain.
    at_least : int
        Relevant documents wanted (k-call).
    threads : int
        0 for all cores.

    Returns
    -------
    (n_topics, 4) array
        Value and upper bound; for INST also the expected viewing depth at each.
    """
    out = np.empty((len(ranked.offsets) - 1, 4))
    _kernels.measure_topics(
        name,
        *_arguments(ranked, gains, ties, depth, cutoff, parameter, discount, at_least),
        threads,
        out,
    )
    return out


def contributions_by_rank(
    name: str,
    ranked: Ranked,
    *,
    gains: Gains,
    ties: str = "as_is",
    depth: int = 0,
    cutoff: int = 0,
    parameter: FloatArray | float = 0.0,
    discount: str | None = None,
    threads: int = 1,
) -> tuple[FloatArray, FloatArray]:
    """Weight and gain of every row of `ranked`, zero beyond the last rank that counts."""
    weight = np.zeros(len(ranked.code))
    gain = np.zeros(len(ranked.code))
    _kernels.contributions_by_rank(
        name,
        *_arguments(ranked, gains, ties, depth, cutoff, parameter, discount, 1),
        threads,
        weight,
        gain,
    )
    return weight, gain


def inst_user(
    gain: FloatArray, T: float, *, tail_gain: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """W(i), C(i) and L(i) of INST's user over the ranks of `gain`."""
    gain = np.ascontiguousarray(gain, dtype=np.float64)
    w, c, stop = np.empty_like(gain), np.empty_like(gain), np.empty_like(gain)
    _kernels.inst_user(gain, T, tail_gain, w, c, stop)
    return w, c, stop


def _arguments(
    ranked: Ranked,
    gains: Gains,
    ties: str,
    depth: int,
    cutoff: int,
    parameter: FloatArray | float,
    discount: str | None,
    at_least: int,
) -> tuple[object, ...]:
    n_topics = len(ranked.offsets) - 1
    if ties != "as_is" and len(ranked.score) != len(ranked.code):
        raise ValueError("ties need the scores of the documents")
    return (
        *ranked,
        TIES.index(ties),
        depth or _EVERY_RANK,
        cutoff or _EVERY_RANK,
        GAINS.index(gains.kind),
        *gains[1:],
        discount is not None,
        discount == "letor",
        at_least,
        np.ascontiguousarray(np.broadcast_to(parameter, n_topics), dtype=np.float64),
    )
