"""INST of one run, with one T for all topics or a T for each."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import AlignmentError, InputError, MeasureError, ParseError
from surefoot.io.join import judge_run
from surefoot.io.sources import read_text
from surefoot.io.trec import read_qrels
from surefoot.kernels.measures import Gains
from surefoot.metrics.inst import Inst, check_wanted
from surefoot.metrics.measure import ORDERING_TIES, Conditions, exact
from surefoot.results.inst_report import InstReport


def inst_eval(
    qrels: Any,
    run: Any,
    *,
    T: float | None = None,
    T_per_topic: str | os.PathLike[str] | Mapping[str, float] | None = None,
    complete: bool = False,
    depth: int = 0,
    per_topic: bool = False,
    ties: str = "average",
) -> InstReport:
    """INST, its upper bound and residual for a user who wants T useful documents.

    Parameters
    ----------
    qrels, run
        Anything that `read_qrels` and `read_run` take.
    T : float, optional
        Useful documents wanted, at least 1/2.
    T_per_topic : path or mapping, optional
        T of each topic instead; a file has 'topic T' lines. Topics without one are left out.
    complete : bool
        Count topics that the run lacks as 0; otherwise leave them out.
    depth : int
        Look at the first `depth` documents; what is below is unseen, as the tail is. 0 for all.
    per_topic : bool
        Whether the lines of the report list every topic.
    ties : str
        "average" gives tied documents their mean gain, as the paper prefers.
    """
    if (T is None) == (T_per_topic is None):
        raise MeasureError("INST needs either T or a T for each topic, not both")
    judgments = read_qrels(qrels)
    judged = judge_run(judgments, run, ties=ties if ties in ORDERING_TIES else "trec", threads=0)
    notes = []
    if T is not None:
        check_wanted(T)
        wanted = np.full(len(judged.topics), T)
    else:
        table = read_wanted(T_per_topic)
        wanted = np.array([table.get(t, np.nan) for t in judged.topics])
    counts = judged.in_run | complete
    without = counts & np.isnan(wanted)
    notes += _about("no T", judged.topics, without, "left out")
    counts &= ~without
    if not counts.any():
        raise AlignmentError("no query has a ranking, judgments and a T")
    absent = ~judged.in_run
    effect = "counted as 0" if complete else "left out. Hint: -c counts it as 0"
    notes += _about("no results", judged.topics, absent & ~without, effect)
    if judged.extra_topics:
        notes.append(f"{judged.extra_topics} queries of the run have no judgments, left out")

    conditions = Conditions(ties=ties, depth=depth, threads=0)
    measure = Inst(T=1.0 if T is None else T)
    scores = measure.table(judged, conditions, np.where(np.isnan(wanted), 1.0, wanted))
    scores[absent, :2] = 0.0  # as in the reference program: nothing shown, nothing unseen
    # the reference program's relevant documents: any positive grade
    positive = Gains(kind="binary", level=np.nextafter(0, 1))
    everything = Conditions(threads=0)
    found = exact(measure.kernel("counted", judged, everything, gains=positive)).value
    topic = np.repeat(np.arange(len(judged.topics)), np.diff(judged.qrel_offsets))
    relevant = np.bincount(topic[judged.qrel_grade > 0], minlength=len(judged.topics))
    rows = np.array(sorted(np.flatnonzero(counts).tolist(), key=lambda i: judged.topics[i]))
    return InstReport(
        settings={"T": T, "ties": ties, "depth": depth, "complete": complete},
        headline=(),
        topics=tuple(judged.topics[i] for i in rows),
        retrieved=np.diff(judged.offsets)[rows].astype(np.float64),
        relevant=relevant[rows].astype(np.float64),
        relevant_retrieved=found[rows],
        low=scores[rows, 0],
        high=scores[rows, 1],
        depth_low=scores[rows, 2],
        depth_high=scores[rows, 3],
        per_topic=per_topic,
        notes=tuple(notes),
    )


def read_wanted(
    source: str | os.PathLike[str] | Mapping[str, float] | None,
) -> dict[str, float]:
    """T of each topic, from a mapping or a file of 'topic T' lines."""
    if isinstance(source, Mapping):
        for value in source.values():
            check_wanted(value)
        return {str(t): float(v) for t, v in source.items()}
    path = os.fspath(source or "")
    table: dict[str, float] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2:
            raise ParseError(path, number, f"is not 'topic T': {line.strip()!r}")
        try:
            value = float(fields[1]) if "_" not in fields[1] else float("nan")
            check_wanted(value)
        except ValueError:
            raise ParseError(
                path, number, f"T must be a number of at least 1/2, but got {fields[1]!r}"
            ) from None
        if fields[0] in table:
            raise ParseError(path, number, f"topic {fields[0]!r} has a T already")
        table[fields[0]] = value
    if not table:
        raise InputError(f"{path}: there is no line. Hint: one 'topic T' a line")
    return table


def _about(
    what: str, topics: Sequence[str], chosen: npt.NDArray[np.bool_], effect: str
) -> list[str]:
    """One line on all queries that lack something."""
    names = [topics[int(i)] for i in np.flatnonzero(chosen)]
    if not names:
        return []
    if len(names) == 1:
        return [f"{what} for query {names[0]}, {effect}"]
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return [f"{what} for {len(names)} queries ({shown}), {effect}"]
