"""The measures that active evaluation knows, with their gains and cut-offs."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.errors import MeasureError

FloatArray = npt.NDArray[np.float64]

NAMES = ("DCG", "ERR", "nDCG", "RBP", "INST")
GAINS = ("exp", "linear", "thesis")
_SHAPE = re.compile(r"(?P<name>[A-Za-z]+)(\((?P<options>[^)]*)\))?(@(?P<depth>\d+))?")


@dataclass(frozen=True, slots=True)
class GradedMeasure:
    """One measure of a ranking under graded labels.

    Parameters
    ----------
    name : str
        DCG (Sawade et al. 2012, Eq. 1), ERR (Eq. 2), nDCG, RBP, or INST.
    depth : int, optional
        Cut-off: items below it do not count and need no label.
    gain : str
        ``exp``: the paper's 2^y - 1 for DCG and (2^y - 1) / 2^ymax for ERR; ``linear``: y for DCG,
        y / ymax otherwise; ``thesis``: with r = y / ymax, r for DCG and (2^r - 1) / 2 for ERR
        (errata Active-7, thesis-2).
    persistence : float
        p of RBP.
    wanted : float
        T of INST.
    """

    name: str
    depth: int | None = None
    gain: str = "exp"
    persistence: float = 0.8
    wanted: float = 3.0

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise MeasureError(
                f"active evaluation knows {', '.join(NAMES)}, not {self.name!r}. "
                "Hint: ERR@10, DCG, RBP(p=0.8)"
            )
        if self.gain not in GAINS:
            raise MeasureError(f"gain must be one of {', '.join(GAINS)}, got {self.gain!r}")
        if self.depth is not None and self.depth < 1:
            raise MeasureError(f"the cut-off must be at least 1, got {self.depth}")
        if not 0 < self.persistence < 1:
            raise MeasureError(f"p of RBP must lie between 0 and 1, got {self.persistence}")
        if not 0.5 <= self.wanted < float("inf"):
            raise MeasureError(f"INST needs T of at least 1/2, but got T={self.wanted:g}")

    def __str__(self) -> str:
        options = {"RBP": f"(p={self.persistence:g})", "INST": f"(T={self.wanted:g})"}
        cut = "" if self.depth is None else f"@{self.depth}"
        return f"{self.name}{options.get(self.name, '')}{cut}"

    @property
    def linear(self) -> bool:
        """Whether the measure is a sum of discounted gains."""
        return self.name in ("DCG", "nDCG", "RBP")

    @property
    def normalised(self) -> bool:
        """Whether a value is a quotient of two sums over labels; it lies between 0 and 1."""
        return self.name in ("nDCG", "INST")

    @property
    def judged_depth(self) -> int | None:
        """How deep labels are needed: the ideal list of nDCG needs all of them."""
        return None if self.name == "nDCG" else self.depth

    def gains(self, grades: int) -> FloatArray:
        """Gain of the grades 0, 1, ..., `grades` - 1."""
        y = np.arange(grades, dtype=np.float64)
        top = float(y[-1])
        scaled: FloatArray = y / top
        whole: FloatArray = 2**y - 1
        if self.name == "ERR":
            if self.gain == "thesis":
                return np.asarray((2**scaled - 1) / 2)  # thesis Eq. 2.10 (errata thesis-2)
            return scaled if self.gain == "linear" else whole / 2**top  # Sawade et al. 2012, Eq. 2
        if self.name in ("RBP", "INST"):
            return whole / 2**top if self.gain == "exp" else scaled
        if self.gain == "exp":
            return whole  # Sawade et al. 2012, Eq. 1
        return scaled if self.gain == "thesis" else y

    def discounts(self, length: int) -> FloatArray:
        """Weight of each rank of a list of `length`, cut at the depth."""
        n = length if self.depth is None else min(length, self.depth)
        rank = np.arange(1, n + 1, dtype=np.float64)
        if self.name == "RBP":
            weight: FloatArray = (1 - self.persistence) * self.persistence ** (rank - 1)
            return weight
        if self.name == "ERR":
            return 1 / rank
        return np.asarray(1 / np.log2(rank + 1))  # Sawade et al. 2012, Eq. 1


def parse_measure(text: str, *, gain: str | None = None) -> GradedMeasure:
    """``ERR``, ``DCG@10``, ``RBP(p=0.8)``, with an optional ``gain=...`` among the options."""
    match = _SHAPE.fullmatch(str(text).strip())
    if match is None:
        raise MeasureError(f"cannot read the measure {text!r}. Hint: ERR@10, DCG, RBP(p=0.8)")
    by_fold = {name.casefold(): name for name in NAMES}
    name = by_fold.get(match["name"].casefold(), match["name"])
    numbers = {"p": 0.8, "T": 3.0}
    # the paper's gains, except for RBP and INST, whose gains are linear in the whole package
    default_gain = "linear" if name in ("RBP", "INST") else "exp"
    for option in filter(None, (part.strip() for part in (match["options"] or "").split(","))):
        key, _, value = option.partition("=")
        if (name, key.strip()) in (("RBP", "p"), ("INST", "T")):
            try:
                numbers[key.strip()] = float(value)
            except ValueError:
                raise MeasureError(f"{key.strip()}={value} is not a number") from None
        elif key.strip() == "gain":
            default_gain = value.strip().strip("'\"")
        else:
            raise MeasureError(f"{name} has no option {key.strip()!r}. Hint: RBP(p=0.8), gain=exp")
    depth = int(match["depth"]) if match["depth"] else None
    return GradedMeasure(name, depth, gain or default_gain, numbers["p"], numbers["T"])
