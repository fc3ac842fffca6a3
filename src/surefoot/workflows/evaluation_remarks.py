"""What an evaluation says in plain sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.data.qrels import Qrels
from surefoot.metrics.grammar import Requested
from surefoot.metrics.measure import TopicScores

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """What is kept of one run."""

    name: str
    in_run: npt.NDArray[np.bool_]
    scores: list[TopicScores]
    extra_topics: int
    # per measure, the means under the kindest and the unkindest order of tied documents
    tie_span: list[tuple[float, float]] | None
    judged_share: float | None  # of the first 10 documents, mean over topics
    stranger: str | None  # why it may be that none of its documents is judged


def headline(
    systems: Sequence[str],
    requested: Sequence[Requested],
    measures: Sequence[str],
    scored: Sequence[Scored],
    means: Mapping[str, FloatArray],
) -> tuple[str, ...]:
    """The finding, then how much unjudged and tied documents matter."""
    lines = []
    value = means["value"]
    best = int(np.argmax(value[:, 0]))
    n_topics = int(scored[best].in_run.sum())
    if len(systems) > 1:
        lines.append(
            f"{systems[best]} has the highest {measures[0]}, {value[best, 0]:.4f}, of "
            f"{len(systems)} systems on {n_topics} topics."
        )
    else:
        lines.append(f"{systems[0]} on {n_topics} topics.")
    gap = means["upper"] - value
    if gap.max(initial=0.0) > 0:
        i, j = divmod(int(np.argmax(gap)), gap.shape[1])
        lines.append(
            f"Unjudged documents: {measures[j]} of {systems[i]} could be as high as "
            f"{means['upper'][i, j]:.4f} if all of them were fully relevant (+ in the table)."
        )
    shares = [
        (1 - s.judged_share, systems[i]) for i, s in enumerate(scored) if s.judged_share is not None
    ]
    if shares and max(shares)[0] > 0:
        least, most = min(shares), max(shares)
        spread = f"{least[0]:.1%} ({least[1]}) to {most[0]:.1%} ({most[1]})"
        shown = spread if len(shares) > 1 else f"{most[0]:.1%}"
        lines.append(f"Unjudged among the first 10 documents: {shown}.")
    without = [m for m, r in zip(measures, requested, strict=True) if not r.measure.has_bounds]
    without = [m for m in without if not m.startswith("Num")]
    if without and len(without) < len(measures):
        lines.append(f"No bounds exist for {', '.join(without)}: the ideal is itself unjudged.")
    spans = [
        (high - low, systems[i], measures[j], low, high)
        for i, run in enumerate(scored)
        for j, (low, high) in enumerate(run.tie_span or [])
    ]
    if spans:
        width, system, measure, low, high = max(spans)
        lines.append(
            f"Ties: the order of documents with equal scores moves {measure} of {system} between "
            f"{low:.4f} and {high:.4f}."
            if width > 5e-5
            else "Ties: the order of documents with equal scores changes nothing."
        )
    return tuple(lines)


def notes(
    systems: Sequence[str], scored: Sequence[Scored], qrels: Qrels, complete: bool
) -> tuple[str, ...]:
    """A line for every run whose topics are not those of the judgments."""
    lines = []
    for system, run in zip(systems, scored, strict=True):
        absent = [t for t, there in zip(qrels.topics, run.in_run, strict=True) if not there]
        if absent:
            shown = ", ".join(absent[:5]) + (", ..." if len(absent) > 5 else "")
            effect = (
                "they count as 0"
                if complete
                else f"averaged over the other {len(qrels.topics) - len(absent)}. "
                "Hint: -c counts them as 0"
            )
            lines.append(
                f"{system} has no documents for {len(absent)} of {len(qrels.topics)} judged "
                f"topics ({shown}); {effect}"
            )
        if run.extra_topics:
            doubt = (
                ". Hint: are these the judgments of this collection?"
                if 2 * len(absent) >= len(qrels.topics)
                else ""
            )
            lines.append(
                f"{system} has {run.extra_topics} topics without judgments, which are "
                f"ignored{doubt}"
            )
    return (*lines, *strangers(systems, scored))


def strangers(systems: Sequence[str], scored: Sequence[Scored]) -> tuple[str, ...]:
    """A line for every run without a judged document."""
    return tuple(
        f"{system} retrieves no judged document. Hint: {run.stranger}"
        for system, run in zip(systems, scored, strict=True)
        if run.stranger is not None
    )
