"""Groups of topics: the same overlay on each part of the traffic."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from surefoot.errors import AlignmentError

IntArray = npt.NDArray[np.int64]

WHOLE = "all"  # how outputs name the topics of every slice together


def slice_columns(
    topics: Sequence[str], slices: Mapping[str, Sequence[str]]
) -> dict[str, IntArray]:
    """Column numbers of each slice's topics, slices in their given order.

    A topic may belong to several slices or none. A slice without any topic of the table is left
    out; when all are, the slices belong to other data and that is an error.
    """
    if WHOLE in slices:
        raise AlignmentError(
            f"a slice cannot be called {WHOLE!r}: that is the name of all topics together. "
            "Hint: rename it"
        )
    position = {t: j for j, t in enumerate(topics)}
    out = {}
    for name, members in slices.items():
        columns = [position[t] for t in dict.fromkeys(members) if t in position]
        if columns:
            out[name] = np.array(columns, dtype=np.int64)
    if not out:
        example = next((t for members in slices.values() for t in members), "")
        raise AlignmentError(
            f"none of the topics of the slices (for example {example!r}) is among the "
            f"{len(topics)} of the scores (for example {topics[0]!r})"
        )
    return out
