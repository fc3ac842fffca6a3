"""What in a table of scores makes a model of it doubtful, in words."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

FloatArray = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]

# scores of exactly 0 or 1 gather on a system or topic when chance would do so less often than this
# (Holm over all of them), and matter when they are this share of its scores
CHANCE = 0.001
MATTER = {"system": 0.1, "topic": 0.5}


def confounded(system: Index, topic: Index) -> tuple[str, ...]:
    """Say which spread the scores cannot tell from noise, so that its prior decides."""
    if np.unique(topic).size == 1:
        return ("with one topic noise and differences between systems cannot be told apart",)
    if np.unique(system).size == 1:
        return ("with one system noise and differences between topics cannot be told apart",)
    return ()


def without_noise(system: Index, topic: Index, y: FloatArray) -> bool:
    """Whether the scores are exactly a system effect plus a topic effect."""
    systems, topics = np.unique(system).size, np.unique(topic).size
    if y.size <= systems + topics - 1:
        return False  # too few cells to tell
    rest = y - y.mean()
    for _ in range(30):
        for index in (system, topic):
            count = np.maximum(np.bincount(index), 1)
            rest = rest - (np.bincount(index, weights=rest) / count)[index]
    return float(np.abs(rest).max()) <= 1e-9 * float(np.ptp(y))


def gathered(
    kind: str, names: Sequence[str], index: Index, y: FloatArray, value: float
) -> tuple[str, ...]:
    """Say on which systems or topics scores of exactly 0 or 1 gather.

    An inflated family gives them one probability for all, so it tells the risk of such a system too
    low and such a topic as easier than it is.
    """
    n = np.bincount(index, minlength=len(names)).astype(float)
    here = np.bincount(index, weights=(y == value), minlength=len(names))
    if not 0 < here.sum() < n.sum():
        return ()
    # P(as many or more) of a binomial with the rate of all others
    rate = (here.sum() - here + 0.5) / (n.sum() - n + 1)
    p = np.where(here > 0, special.betainc(np.maximum(here, 1), n - here + 1, rate), 1.0)
    order = np.argsort(p, kind="stable")
    holm = np.empty_like(p)
    holm[order] = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    found = np.flatnonzero((holm < CHANCE) & (here >= MATTER[kind] * n))
    if not found.size:
        return ()
    worst = int(found[np.argmax(here[found] / n[found])])
    more = found.size - 1
    others = f" and {more} other {kind}{'s' if more > 1 else ''}" if more else ""
    told = {
        ("system", 0.0): "so their risk is told too low",
        ("system", 1.0): "so their risk is told too high",
        ("topic", 0.0): "so it takes hard topics for easier ones",
        ("topic", 1.0): "so it takes easy topics for harder ones",
    }[kind, value]
    return (
        f"scores of exactly {value:g} gather on {kind} {names[worst]!r} ({here[worst]:.0f} of its "
        f"{n[worst]:.0f}){others}, but this family gives them one probability for all {kind}s, "
        f"{told}. Hint: --family gaussian",
    )
