"""Are the differences of systems normal, and which interval suits them (thesis Algorithm 3.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import AlignmentError, InputError
from surefoot.inference.normality import ORDINARY, measure_normality
from surefoot.io.groups import read_groups
from surefoot.io.scores import read_scores
from surefoot.overlays.value import Linear
from surefoot.results.normality import NormalityResult
from surefoot.workflows.comparison import check_draws, prepare
from surefoot.workflows.verdicts import times


def normality(
    scores: Any,
    *,
    champion: str | None = None,
    groups: Any = None,
    pairs: int = 50,
    r: float | Sequence[float] = (1, 2, 5, 10),
    drop_lowest: float = 0.25,
    seed: int = 0,
) -> NormalityResult:
    """Measure the normality of risk-adjusted differences.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores, anything that `read_scores` takes.
    champion : str, optional
        Compare every other system with it; without, random pairs of systems are taken.
    groups : path, frame or dict, optional
        A ``system, group`` table: random pairs come from different groups.
    pairs : int
        Random pairs, drawn with replacement.
    r : float or list
        Losses count r times.
    drop_lowest : float
        Share of the systems with the lowest means that random pairs leave out.
    seed : int

    References
    ----------
    Thesis Algorithm 3.1: 50 random pairs, r from 1 to 10, the lowest quarter left out.
    """
    check_draws(seed, pairs=pairs)
    matrix = read_scores(scores)
    values = (float(r),) if isinstance(r, (int, float)) else tuple(float(v) for v in r)
    for v in values:
        if not 1 <= v < float("inf"):
            raise InputError(f"r must be a number not less than 1, but got {v:g}")
    if champion is not None:
        compared = prepare(matrix, champion)
        chosen = [
            (matrix.systems[i], c.name) for c in compared.champions for i in compared.challengers
        ]
        delta = np.concatenate(
            [matrix.values[compared.challengers] - c.scores for c in compared.champions]
        )
    else:
        rows = _random_pairs(matrix, groups, pairs, drop_lowest, seed)
        chosen = [(matrix.systems[a], matrix.systems[b]) for a, b in rows]
        first, second = np.array(rows).T
        delta = matrix.values[first] - matrix.values[second]
    x = np.concatenate([Linear(v - 1)(delta) for v in values])
    found = measure_normality(x)
    which = [q * len(chosen) + p for p in range(len(chosen)) for q in range(len(values))]
    topics = (~np.isnan(x)).sum(axis=1)
    advice = recommend(found.skewness, topics, found.w)
    return NormalityResult(
        system=tuple(chosen[i % len(chosen)][0] for i in which),
        other=tuple(chosen[i % len(chosen)][1] for i in which),
        form="alpha",
        r=np.array([values[i // len(chosen)] for i in which]),
        w=found.w[which],
        w_p=found.w_p[which],
        d=found.d[which],
        d_naive_p=found.d_naive_p[which],
        d_lilliefors_p=found.d_lilliefors_p[which],
        skewness=found.skewness[which],
        excess_kurtosis=found.excess_kurtosis[which],
        topics=topics[which],
        note=tuple(_why(found.w[i], int(topics[i])) for i in which),
        recommendation=advice,
        headline=(advice, *_by_r(values, found.w_p, found.skewness, len(chosen))),
        settings={
            "champion": champion,
            "pairs": len(chosen),
            "r": list(values),
            "drop_lowest": drop_lowest if champion is None else 0.0,
            "seed": seed,
            "recommendation": advice,
            "measure": matrix.measure,
        },
    )


def recommend(
    skewness: np.ndarray[Any, np.dtype[np.float64]],
    topics: np.ndarray[Any, np.dtype[np.int64]],
    w: np.ndarray[Any, np.dtype[np.float64]],
) -> str:
    """Which interval to trust: the skewness of the MEAN decides, not that of the differences.

    The mean of n differences has their skewness over sqrt(n), and the error of Student's coverage
    grows with it (Johnson 1978); the thresholds are read off docs/method/calibration.md.
    """
    known = ~np.isnan(w)
    if not known.any():
        return "The differences have no spread: every interval is a point."
    of_mean = np.abs(skewness[known]) / np.sqrt(topics[known])
    worst = float(np.quantile(of_mean, 0.9))
    few = int(topics[known].min())
    if worst < 0.1:
        return (
            "Student's interval and t-test can be trusted here: the differences are nearly "
            f"symmetric for {few} topics. The studentized bootstrap says the same."
        )
    if worst < 0.5:
        return (
            "Trust the studentized bootstrap interval: the differences are skewed, and Student's "
            "interval misses the true mean on one side more often than on the other."
        )
    return (
        f"Trust the studentized bootstrap interval most, with care: for {few} topics the "
        "differences are so skewed that every interval falls short of its confidence. "
        "Take more topics."
    )


def _by_r(
    values: Sequence[float],
    w_p: np.ndarray[Any, np.dtype[np.float64]],
    skewness: np.ndarray[Any, np.dtype[np.float64]],
    n: int,
) -> tuple[str, ...]:
    out = []
    for q, v in enumerate(values):
        p, skew = w_p[q * n : (q + 1) * n], skewness[q * n : (q + 1) * n]
        known = ~np.isnan(p)
        if known.any():
            out.append(
                f"With losses counted {times(v - 1)}, {int((p[known] <= 0.05).sum())} of "
                f"{int(known.sum())} pairs are not normal (Shapiro-Wilk, 5 %); "
                f"{int((np.abs(skew[known]) > ORDINARY).sum())} have a skewness beyond 2, "
                f"the median is {np.median(skew[known]):.2f}."
            )
    return tuple(out)


def _why(w: float, topics: int) -> str:
    """Why there are no numbers."""
    if not np.isnan(w):
        return ""
    few = f"{topics} topics are too few, three are needed"
    return few if topics < 3 else "the difference is the same on every topic"


def _random_pairs(
    matrix: ScoreMatrix, groups: Any, pairs: int, drop_lowest: float, seed: int
) -> list[tuple[int, int]]:
    """Algorithm 3.1, lines 3-5: a random system, then one of another group."""
    if not 0 <= drop_lowest < 1:
        raise InputError(f"the share to leave out must lie in [0, 1), but got {drop_lowest}")
    means = np.nan_to_num(matrix.means(), nan=-np.inf)
    kept = np.argsort(means, kind="stable")[int(drop_lowest * len(means)) :]
    group: Mapping[str, str] = {s: s for s in matrix.systems}
    if groups is not None:
        group = read_groups(groups)
        absent = [matrix.systems[i] for i in kept if matrix.systems[i] not in group]
        if absent:
            raise AlignmentError(
                f"{len(absent)} systems have no group, for example {absent[0]!r}. "
                "Hint: the groups table needs a row `system, group` for each"
            )
    label = [group[matrix.systems[i]] for i in kept]
    if len(set(label)) < 2:
        raise InputError("random pairs need systems of two groups at least")
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(pairs):
        a = int(rng.integers(len(kept)))
        others = [k for k in range(len(kept)) if label[k] != label[a]]
        out.append((int(kept[a]), int(kept[others[int(rng.integers(len(others)))]])))
    return out
