"""How many artifact systems a verdict needs: tables with them added best-first or worst-first."""

from collections.abc import Sequence

import numpy as np

from surefoot.data.scores import ScoreMatrix

STEPS = (1, 5, 10, 20, 40)  # thesis, Sect. 4.2.5
ORDERS = ("best", "worst")


def nested_tables(
    scores: ScoreMatrix, named: Sequence[str], *, order: str, steps: Sequence[int] = STEPS
) -> list[tuple[int, ScoreMatrix]]:
    """Tables of the named systems and the first m artifacts, for each m that there are enough of.

    Parameters
    ----------
    named : sequence of str
        Champion and challengers; every other system is an artifact.
    order : str
        ``best``: most effective artifacts first; ``worst``: least effective first.
    """
    for name in named:
        scores.index(name)
    means = scores.means()
    artifacts = [i for i, name in enumerate(scores.systems) if name not in set(named)]
    sign = -1.0 if order == "best" else 1.0
    ranked = sorted(artifacts, key=lambda i: (np.nan_to_num(sign * means[i], nan=np.inf), i))
    return [
        (m, scores.select(systems=[*named, *(scores.systems[i] for i in ranked[:m])]))
        for m in steps
        if 0 <= m <= len(ranked)
    ]
