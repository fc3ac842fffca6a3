"""INST, whose user adapts to what the ranking has delivered so far."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.kernels.measures import Gains, inst_user
from surefoot.metrics.cumulated_gain import check_top
from surefoot.metrics.gains import GainName, check_gain
from surefoot.metrics.measure import Conditions, Measure, TopicScores, bounded
from surefoot.metrics.rbp import unit_gains

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inst(Measure):
    """``INST(T=3)``: the rate of gain for a user who wants T useful documents.

    Moffat et al. 2015, Algorithm 1, with both infinite tails summed in closed form instead of being
    cut at ``limit(T)`` (docs/method/inst.md). Any real T of at least 1/2. Gain is grade / largest
    grade; the upper bound gives full gain to unjudged documents and to the unseen tail.
    """

    NAME: ClassVar[str] = "INST"
    SHOWN: ClassVar[tuple[str, ...]] = ("T",)
    HAS_BOUNDS: ClassVar[bool] = True

    T: float = float("nan")
    gain: GainName = "linear"
    rel: float | None = None
    max_rel: float | None = None
    cutoff: int | None = None

    def __post_init__(self) -> None:
        self.check_cutoff(required=False)
        if self.T != self.T:
            raise MeasureError(
                "INST needs T, the number of useful documents that the user wants. Hint: INST(T=3)"
            )
        check_wanted(self.T)
        check_gain(self.gain)
        check_top(self.max_rel)

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """INST on every topic."""
        return bounded(self.table(judged, conditions, self.T))

    def table(
        self, judged: JudgedRankings, conditions: Conditions, wanted: FloatArray | float
    ) -> FloatArray:
        """Score, upper bound and the expected viewing depth at each, for one T or one a topic."""
        if conditions.ties == "expected":
            raise MeasureError(
                "INST has no closed form for the mean over all orders of tied documents. "
                "Hint: --ties average, which its paper prefers"
            )
        gains = self.gains(judged, conditions)
        return self.kernel("inst", judged, conditions, gains=gains, parameter=wanted)

    def gains(self, judged: JudgedRankings, conditions: Conditions) -> Gains:
        """Gains of these judgments."""
        return unit_gains(self.gain, self.rel, self.max_rel, judged, conditions)


def check_wanted(T: float) -> None:
    """Refuse a T for which the user model is no probability (errata INST-5)."""
    if not 0.5 <= T < float("inf"):
        raise MeasureError(f"INST needs T of at least 1/2, but got T={T:g}")


def user_model(
    gain: npt.ArrayLike, T: float, *, default: float = 0.0, ranks: int = 0
) -> dict[str, FloatArray]:
    """W(i), C(i) and L(i) of INST's user (Moffat et al. 2015, Eqs. 1-4).

    Parameters
    ----------
    gain : (n) array
        Gains in rank order, NaN for an unjudged document.
    T : float
        Useful documents wanted.
    default : 0 or 1
        What unjudged documents and the ranks beyond the list are worth.
    ranks : int
        How many ranks to return; 0 for those of `gain`.

    Returns
    -------
    dict
        Arrays `W`, `C` and `L` over the ranks.
    """
    check_wanted(T)
    if default not in (0.0, 1.0):
        raise MeasureError(f"default must be 0 or 1, but got {default:g}")
    shown = np.asarray(gain, dtype=np.float64)
    ranks = ranks or len(shown)
    filled = np.full(max(ranks, len(shown)), default, dtype=np.float64)
    filled[: len(shown)] = np.where(np.isnan(shown), default, shown)
    weight, go_on, last = inst_user(filled, T, tail_gain=default)
    return {"W": weight[:ranks], "C": go_on[:ranks], "L": last[:ranks]}
