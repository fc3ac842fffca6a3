"""What every measure is: a frozen value with a name, that scores judged rankings."""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.data.rankings import JudgedRankings
from surefoot.errors import MeasureError
from surefoot.kernels.measures import Gains, Ranked, measure_topics
from surefoot.metrics.gains import GainName, gain_text

FloatArray = npt.NDArray[np.float64]

# The first four order tied documents; the others settle what a tie means (docs/method/measures.md).
ORDERING_TIES = ("trec", "file", "rank", "docid")
TIES = (*ORDERING_TIES, "average", "expected", "best", "worst")


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is decided for all measures of an evaluation.

    Parameters
    ----------
    level : float
        A document is relevant from this grade on, unless the measure says ``rel=``.
    ties : str
        One of `TIES`.
    depth : int
        Ranks that exist at all; 0 for all.
    threads : int
        0 for all cores.
    """

    level: float = 1.0
    ties: str = "trec"
    depth: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise MeasureError(f"ties must be one of {', '.join(TIES)}, but got {self.ties!r}")
        if self.depth < 0:
            raise MeasureError(f"depth must be an integer not less than 0, but got {self.depth}")

    @property
    def kernel_ties(self) -> str:
        """The kernel's word for `ties`: an ordering policy has sorted the rows already."""
        return "as_is" if self.ties in ORDERING_TIES else self.ties


@dataclass(frozen=True, slots=True)
class TopicScores:
    """One measure of one run, topic after topic.

    `lower` and `upper` are the score with every unjudged document worthless and with every one
    worth a full gain; equal to `value` where the measure has no residual.
    """

    value: FloatArray = field(repr=False)
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A measure with its options; ``parse(str(m)) == m``.

    Subclasses are frozen dataclasses whose fields are the options; the field `cutoff` is what
    follows the ``@``.
    """

    NAME: ClassVar[str] = ""
    # options that the name shows even at their default
    SHOWN: ClassVar[tuple[str, ...]] = ()
    # utility measures have bounds over the unjudged documents; recall-based ones cannot
    HAS_BOUNDS: ClassVar[bool] = False
    # how topics become one number: a mean, or a sum for counts
    SUMMARY: ClassVar[str] = "mean"

    @property
    def has_bounds(self) -> bool:
        """Whether unjudged documents leave a residual."""
        return self.HAS_BOUNDS

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Scores on every topic of the judgments."""
        raise NotImplementedError

    def __str__(self) -> str:
        shown = []
        cutoff = None
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name == "cutoff":
                cutoff = value
            elif option.name in self.SHOWN or value != option.default:
                shown.append(f"{option.name}={option_text(option.name, value)}")
        text = f"{self.NAME}({','.join(shown)})" if shown else self.NAME
        return text if cutoff is None else f"{text}@{cutoff}"

    def check_cutoff(self, *, required: bool) -> None:
        """Refuse a rank cut-off that is missing or not a rank."""
        cutoff = getattr(self, "cutoff", None)
        if cutoff is None and required:
            raise MeasureError(
                f"{self.NAME} needs the number of ranks to look at. Hint: {self.NAME}@10"
            )
        if cutoff is not None and cutoff < 1:
            raise MeasureError(f"{self.NAME}@k needs k of at least 1, but got {cutoff}")

    def kernel(
        self,
        name: str,
        judged: JudgedRankings,
        conditions: Conditions,
        *,
        gains: Gains,
        parameter: FloatArray | float = 0.0,
        discount: str | None = None,
        at_least: int = 1,
    ) -> FloatArray:
        """Run a compiled formula under the measure's cut-off and the evaluation's conditions."""
        return measure_topics(
            name,
            ranked(judged),
            gains=gains,
            ties=conditions.kernel_ties,
            depth=conditions.depth,
            cutoff=getattr(self, "cutoff", None) or 0,
            parameter=parameter,
            discount=discount,
            at_least=at_least,
            threads=conditions.threads,
        )


def ranked(judged: JudgedRankings) -> Ranked:
    """The arrays of `judged`, as the kernels take them."""
    return Ranked(
        judged.offsets,
        judged.code,
        judged.levels,
        judged.score,
        judged.qrel_offsets,
        judged.qrel_grade,
    )


def bounded(table: FloatArray) -> TopicScores:
    """Scores with bounds: unjudged documents without and with full gain."""
    value, upper = np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1])
    return TopicScores(value, value, np.maximum(value, upper))


def exact(table: FloatArray) -> TopicScores:
    """Scores of a measure without a residual."""
    value = np.ascontiguousarray(table[:, 0])
    return TopicScores(value, value, value)


def relevant_from(rel: float | None, conditions: Conditions) -> Gains:
    """Binary gain: relevant from the measure's own level on, else from the evaluation's."""
    return Gains(kind="binary", level=conditions.level if rel is None else rel)


def option_text(name: str, value: Any) -> str:
    """An option's value as the grammar reads it."""
    if name == "gain":
        gain: GainName = value
        return gain_text(gain)
    if isinstance(value, str):
        return f"'{value}'"
    return f"{value:.15g}" if float(f"{value:.15g}") == value else repr(value)
