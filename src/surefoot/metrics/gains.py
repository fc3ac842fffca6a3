"""From grades to gains: linear, exponential, binary, or a map of one's own."""

import numpy as np

from surefoot.errors import MeasureError
from surefoot.kernels.measures import Gains

# "linear", "exp", "binary", or pairs of grade and gain
GainName = str | tuple[tuple[float, float], ...]

NAMES = ("linear", "exp", "binary")


def check_gain(gain: GainName) -> None:
    """Refuse an unknown gain or a negative one."""
    if isinstance(gain, str):
        if gain not in NAMES:
            raise MeasureError(
                f"gain must be one of {', '.join(NAMES)} or a map such as {{1:3,2:9}}, "
                f"but got {gain!r}"
            )
        return
    for grade, value in gain:
        if not value >= 0 or value == float("inf"):
            raise MeasureError(f"the gain of grade {grade:g} must not be negative, got {value:g}")


def gain_text(gain: GainName) -> str:
    """A gain as the grammar reads it."""
    if isinstance(gain, str):
        return f"'{gain}'"
    return "{" + ",".join(f"{grade!r}:{value!r}" for grade, value in gain) + "}"


def top_grade(max_rel: float | None, max_grade: float) -> float:
    """The largest grade: the measure's own, else the collection's, else 1."""
    if max_rel is not None:
        return max_rel
    return max_grade if max_grade > 0 else 1.0


def gains_of(gain: GainName, *, top: float, level: float, unit: bool) -> Gains:
    """Gains for the kernels.

    Parameters
    ----------
    gain : str or tuple of pairs
        Which gain. Grades that a map leaves out keep their linear gain, as in trec_eval.
    top : float
        The largest grade; what an unjudged document could have.
    level : float
        Relevance level of the binary gain.
    unit : bool
        Whether gains must lie in [0, 1] (RBP and INST: Moffat et al. 2015, section 3).
    """
    if gain == "binary":
        return Gains(kind="binary", level=level)
    if gain == "exp":
        full = 2.0**top - 1.0
        return Gains("exponential", top, 1.0 / full if unit else 1.0, level, 1.0 if unit else full)
    scale = 1.0 / top if unit else 1.0
    if isinstance(gain, str):
        return Gains("linear", top, scale, level, top * scale)
    if unit and any(value > 1 for _, value in gain):
        raise MeasureError("gains of RBP and INST must lie in [0, 1]")
    listed = dict(gain)
    full = max([*listed.values(), *([] if top in listed else [top * scale])])
    return Gains(
        "table",
        top,
        scale,
        level,
        1.0 if unit else full,
        np.array(list(listed), dtype=np.float64),
        np.array(list(listed.values()), dtype=np.float64),
    )
