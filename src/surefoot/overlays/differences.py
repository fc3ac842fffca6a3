"""Differences to a champion, summed over topics once for every overlay and every alpha."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.kernels.overlays import MOMENTS, difference_moments

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Differences:
    """Counts and centred moments of the wins and the losses of each system.

    Everything that URisk, TRisk and their relatives need, for any alpha, in ten numbers a system.
    Two sets of topics can be summed apart and merged.

    Parameters
    ----------
    count : (n,) array
        Topics on which both the system and the champion have a score.
    wins, losses : (n,) arrays
        Topics that differ by more than the tolerance.
    loss_over : (n,) array
        Topics that lose more than a share (by default 20 %) of the champion's score.
    positive, negative : (n,) arrays
        Topics with a difference above and below zero.
    mean_positive, m2_positive, mean_negative, m2_negative : (n,) arrays
        Mean and sum of squared deviations from it, within each of these two groups.
    """

    count: FloatArray
    wins: FloatArray
    losses: FloatArray
    loss_over: FloatArray
    positive: FloatArray
    negative: FloatArray
    mean_positive: FloatArray
    m2_positive: FloatArray
    mean_negative: FloatArray
    m2_negative: FloatArray

    @property
    def ties(self) -> FloatArray:
        """Topics that differ by no more than the tolerance."""
        return self.count - self.wins - self.losses

    def merge(self, other: "Differences") -> "Differences":
        """The sums over the topics of both; no topic may be in both."""
        parts = {name: getattr(self, name) + getattr(other, name) for name in MOMENTS}
        for sign in ("positive", "negative"):
            n1, n2 = getattr(self, sign), getattr(other, sign)
            shift = getattr(other, f"mean_{sign}") - getattr(self, f"mean_{sign}")
            total = np.maximum(n1 + n2, 1.0)
            # Chan, Golub and LeVeque 1979
            parts[f"mean_{sign}"] = np.where(
                n1 > 0,
                getattr(self, f"mean_{sign}") + shift * n2 / total,
                getattr(other, f"mean_{sign}"),
            )
            parts[f"m2_{sign}"] += shift**2 * n1 * n2 / total
        return Differences(**parts)


def differences(
    values: FloatArray,
    champion: FloatArray,
    *,
    tolerance: float = 0.0,
    loss_threshold: float = 0.2,
    threads: int = 0,
) -> Differences:
    """Sum the differences of each system to the champion over the topics that both have.

    Parameters
    ----------
    values : (n_systems, n_topics) or (n_topics,) float array
        Scores of the challengers, NaN where missing.
    champion : (n_topics,) float array
        Scores of the champion.
    tolerance : float
        A difference of at most this size counts as a tie.
    loss_threshold : float
        `loss_over` counts losses of more than this share of the champion's score.
    """
    moments = difference_moments(
        np.atleast_2d(values),
        champion,
        tolerance=tolerance,
        threshold=loss_threshold,
        threads=threads,
    )
    return Differences(**{name: moments[:, k].copy() for k, name in enumerate(MOMENTS)})
