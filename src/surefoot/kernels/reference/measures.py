"""Ranking measures for one topic, written as the papers print them; for tests alone.

A ranking is a list of grades in rank order, None for an unjudged document; `judged` holds all
grades of the topic.
"""

import math
from collections.abc import Callable, Sequence

Gain = Callable[[float], float]


def filled(grades: Sequence[float | None], gain: Gain, default: float) -> list[float]:
    """Gains in rank order, with unjudged documents at `default`."""
    return [default if g is None else gain(g) for g in grades]


def precision(r: Sequence[float], k: int) -> float:
    """Thesis Eq. 2.1, of binary relevance."""
    return sum(r[:k]) / k


def recall(r: Sequence[float], k: int, R: int) -> float:
    """Thesis Eq. 2.2."""
    return sum(r[:k]) / R if R else 0.0


def reciprocal_rank(r: Sequence[float]) -> float:
    """Thesis Eq. 2.4."""
    return next((1 / i for i, x in enumerate(r, start=1) if x), 0.0)


def average_precision(r: Sequence[float], R: int) -> float:
    """Thesis Eq. 2.16, of binary relevance (errata thesis-6)."""
    return sum(x * precision(r, i) for i, x in enumerate(r, start=1)) / R if R else 0.0


def r_precision(r: Sequence[float], R: int) -> float:
    """Precision at R."""
    return precision(r, R) if R else 0.0


def bpref(grades: Sequence[float | None], judged: Sequence[float], level: float) -> float:
    """Thesis Eq. 2.20, of binary relevance; negative grades take no part (trec_eval)."""
    R = sum(g >= level for g in judged)
    N = sum(0 <= g < level for g in judged)
    r = [1 if g >= level else 0 for g in grades if g is not None and (g >= 0 or g >= level)]
    total = 0.0
    for i, x in enumerate(r):
        above = sum(1 - y for y in r[:i])
        if x:
            total += 1 - min(above, R) / min(N, R) if above else 1
    return total / R if R else 0.0


def success(r: Sequence[float], k: int, at_least: int) -> float:
    """Whether the first k hold `at_least` relevant ones."""
    return float(sum(r[:k]) >= at_least)


def discount(i: int, kind: str) -> float:
    """Thesis Eq. 2.14, or LETOR's."""
    if kind == "letor":
        return 1.0 if i <= 2 else 1 / math.log2(i)
    return 1 / math.log2(i + 1)


def dcg(g: Sequence[float], k: int, kind: str = "log2") -> float:
    """Thesis Eq. 2.15."""
    return sum(x * discount(i, kind) for i, x in enumerate(g[:k], start=1))


def ndcg(g: Sequence[float], ideal: Sequence[float], k: int, kind: str = "log2") -> float:
    """Thesis Eq. 2.19; `ideal` are the gains of all judged documents."""
    best = dcg(sorted(ideal, reverse=True), k, kind)
    return dcg(g, k, kind) / best if best else 0.0


def rbp(g: Sequence[float], p: float) -> float:
    """Thesis Eqs. 2.6 and 2.8."""
    return sum((1 - p) * p ** (i - 1) * x for i, x in enumerate(g, start=1))


def rbp_upper(g: Sequence[float], p: float) -> float:
    """Thesis Eq. 2.9: full gain beyond the last rank as well."""
    return rbp(g, p) + p ** len(g)


def err(g: Sequence[float]) -> float:
    """Thesis Eqs. 2.11 and 2.12, read as the product of (1 - g)."""
    return sum(math.prod(1 - y for y in g[: i - 1]) * x / i for i, x in enumerate(g, start=1))


def inst(g: Sequence[float], T: float, default: float, N: int) -> tuple[float, float]:
    """Moffat et al. 2015, Algorithm 1, truncated at depth N; the score and the sum of weights."""
    score, weight, total, remaining = 0.0, 1.0, 0.0, T
    for i in range(1, N + 1):
        r = g[i - 1] if i <= len(g) else default
        remaining -= r
        score += r * weight
        total += weight
        weight *= ((i + T + remaining - 1) / (i + T + remaining)) ** 2  # Eq. 1
    return score / total, total
