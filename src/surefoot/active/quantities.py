"""What a study estimates: the rankings, and the differences of the first from each other."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number to estimate: a signed sum over the rankings."""

    name: str
    weights: FloatArray
    place: int  # among the rankings, followed by the differences from the first


def quantities(measure: str, rankings: tuple[str, ...], *, compare: bool) -> list[Quantity]:
    """The differences of the first ranking against each other, then each ranking."""
    eye = np.eye(len(rankings))
    alone = [Quantity(f"{measure}[{name}]", eye[r], r) for r, name in enumerate(rankings)]
    if not compare:
        return alone
    pairs = [
        Quantity(
            f"{measure}[{rankings[0]}]-{measure}[{name}]", eye[0] - eye[r], len(rankings) + r - 1
        )
        for r, name in enumerate(rankings)
        if r > 0
    ]
    return pairs + alone
