"""How far a measure or an overlay orders systems the same way on other topics."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError

FloatArray = npt.NDArray[np.float64]
# systems x topics (column numbers) -> one score a system
Scorer = Callable[[npt.NDArray[np.int64]], FloatArray]


@dataclass(frozen=True, slots=True)
class Stability:
    """Error and swap rates at one number of topics.

    Parameters
    ----------
    topics : int
        Topics in each sample.
    trials : int
        Samples drawn.
    error_rate : float
        Share of comparisons that contradict the majority of the samples (Buckley and Voorhees
        2000).
    tie_rate : float
        Share of comparisons within the fuzziness.
    swap_rate : float
        Share of pairs whose order differs between two disjoint samples (Voorhees and Buckley 2002);
        NaN where there are not topics enough for two.
    sure_difference : float
        Least difference on one sample from which at most 5 % of the pairs swap on the other; NaN
        where none is large enough.
    """

    topics: int
    trials: int
    error_rate: float
    tie_rate: float
    swap_rate: float
    sure_difference: float


def stability(
    score: Scorer,
    n_topics: int,
    *,
    topics: int,
    trials: int = 100,
    fuzziness: float = 0.05,
    seed: int = 0,
) -> Stability:
    """Compare the orders that `score` gives on random samples of topics.

    Parameters
    ----------
    score : callable
        Takes column numbers, returns one score a system, higher better.
    n_topics : int
        Topics there are.
    topics : int
        Topics in a sample, at most `n_topics`.
    trials : int
        Number of samples, and of pairs of disjoint samples.
    fuzziness : float
        Scores within this share of the larger one are tied.
    seed : int
        Sample i depends on the seed and i alone.
    """
    if not 1 <= topics <= n_topics:
        raise InputError(f"a sample must have 1 to {n_topics} topics, but {topics} were asked for")
    more = less = ties = 0.0
    minority: FloatArray | None = None
    above: FloatArray | None = None
    swapped: list[FloatArray] = []
    sizes: list[FloatArray] = []
    for trial in range(trials):
        order = np.random.default_rng([seed, trial]).permutation(n_topics)
        scores = score(order[:topics])
        first, second = np.triu_indices(len(scores), 1)
        a, b = scores[first], scores[second]
        with np.errstate(invalid="ignore"):  # an infinite t against another
            gap = np.where(a == b, 0.0, np.abs(a - b))
        tied = (gap <= fuzziness * np.maximum(np.abs(a), np.abs(b))) & np.isfinite(gap)
        wins, losses = ((a > b) & ~tied).astype(float), ((a < b) & ~tied).astype(float)
        above = wins if above is None else above + wins
        minority = losses if minority is None else minority + losses
        ties += float(tied.sum())
        if 2 * topics <= n_topics:
            other = score(order[topics : 2 * topics])
            c, d = other[first], other[second]
            swapped.append((((a > b) & (c < d)) | ((a < b) & (c > d))).astype(float))
            sizes.append(gap)
    assert above is not None
    assert minority is not None
    more, less = float(above.sum()), float(minority.sum())
    total = more + less + ties
    nothing = float("nan")
    return Stability(
        topics,
        trials,
        float(np.minimum(above, minority).sum()) / total if total else nothing,
        ties / total if total else nothing,
        float(np.concatenate(swapped).mean()) if swapped and total else nothing,
        _sure(np.concatenate(sizes), np.concatenate(swapped)) if swapped and total else nothing,
    )


def _sure(size: FloatArray, swapped: FloatArray, most: float = 0.05) -> float:
    """Least difference such that pairs at least as different swap in at most 5 % of cases."""
    order = np.argsort(-size, kind="stable")
    rate = np.cumsum(swapped[order]) / np.arange(1, len(order) + 1)
    # a threshold takes all pairs of equal size or none
    last = np.append(np.diff(size[order]) != 0, True)
    fine = np.flatnonzero((rate <= most) & last)
    return float(size[order][fine[-1]]) if len(fine) else float("nan")
