"""Judgments and runs to per-topic scores."""

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.qrels import Qrels
from surefoot.data.rankings import JudgedRankings
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import AlignmentError, InputError, MeasureError, UnreliableWarning
from surefoot.io.dialects import is_record
from surefoot.io.join import index_of, judge_run, resolve_threads
from surefoot.io.misfit import nothing_judged
from surefoot.io.trec import read_qrels, run_name
from surefoot.metrics.geometric_mean import FLOOR
from surefoot.metrics.grammar import Requested, parse_measures
from surefoot.metrics.judged import Judged
from surefoot.metrics.judged_only import judged_only as without_unjudged
from surefoot.metrics.measure import ORDERING_TIES, Conditions, Measure, TopicScores
from surefoot.metrics.relevance_loss import RelevanceLoss
from surefoot.render.progress import progress as show_progress
from surefoot.results.evaluation import Evaluation
from surefoot.workflows.evaluation_remarks import Scored, headline, notes, strangers

FloatArray = npt.NDArray[np.float64]

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "RBP(p=0.8)")


def evaluate(
    qrels: Any,
    runs: Any,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    complete: bool = False,
    level: float = 1.0,
    depth: int = 0,
    judged_only: bool = False,
    ties: str = "trec",
    per_topic: bool = False,
    baseline: str | None = None,
    duplicates: str = "error",
    remarks: bool = False,
    threads: int = 0,
    progress: bool | None = False,
) -> Evaluation:
    """Score runs against judgments, with bounds for the unjudged documents.

    Parameters
    ----------
    qrels
        Judgments: anything that `read_qrels` takes.
    runs
        One run, a sequence of runs, or ``{system: run}``; a run is anything that `read_run` takes.
    measures : str, Measure or sequence
        Names such as ``"nDCG@10"``, ``"RBP(p=0.8)"`` or trec_eval's ``"ndcg_cut_10"``.
    complete : bool
        Average over all topics of the judgments, a topic that the run lacks counting 0 (trec_eval
        -c); otherwise over the topics that both have.
    level : float
        Documents are relevant from this grade on (trec_eval -l).
    depth : int
        Look at the first `depth` documents of a topic only (trec_eval -M); 0 for all.
    judged_only : bool
        Drop unjudged documents first (trec_eval -J).
    ties : str
        "trec", "file", "rank", "docid", "average", "expected", "best" or "worst".
    per_topic : bool
        Whether the rows of the result list every topic.
    baseline : str, optional
        Name of the run that R-Loss compares with.
    duplicates : str
        "error", or keep the "first" or the "last".
    remarks : bool
        Also find out, for the headline, how much ties and unjudged documents matter.
    threads : int
        0 for all cores.

    Returns
    -------
    Evaluation
        Rows `system, measure, topic, value, lower, upper`; `.matrix(measure)` for comparisons.
    """
    requested = parse_measures([measures] if isinstance(measures, (str, Measure)) else measures)
    conditions = Conditions(level, ties, depth)
    named = named_runs(runs)
    judgments = read_qrels(qrels, duplicates=duplicates)
    index_of(judgments)  # once, before several threads ask for it
    keeps_scores = remarks or ties not in ORDERING_TIES
    reader = _Reader(judgments, ties, judged_only, duplicates, keeps_scores)
    reference = None
    if any(isinstance(r.measure, RelevanceLoss) for r in requested):
        reference = _reference(reader, named, baseline, requested)

    def one(item: tuple[str | None, Any], threads: int) -> Scored:
        return _score(reader, item, requested, conditions, reference, remarks, threads)

    with show_progress("evaluating", show=progress) as update:
        scored = []
        for done, result in enumerate(_in_order(one, named, threads), start=1):
            scored.append(result)
            update(done, len(named))
    return _assemble(
        judgments,
        requested,
        scored,
        conditions,
        complete=complete,
        judged_only=judged_only,
        per_topic=per_topic,
        baseline=baseline,
    )


def evaluate_matrix(qrels: Any, runs: Any, measure: str, *, threads: int = 0) -> ScoreMatrix:
    """Scores of each run on each topic of the judgments under one measure, ready to compare.

    A topic that a run lacks scores 0, as for a user who gets no answer, and a warning says so; a
    topic that no run has is not part of the experiment and is left out.
    """
    requested = parse_measures([measure])
    if len(requested) != 1:
        raise MeasureError(f"a comparison needs one measure, but {measure!r} names several")
    if requested[0].measure.SUMMARY != "mean":
        raise MeasureError(f"{measure} is not a score to compare systems by. Hint: nDCG@10")
    evaluation = evaluate(qrels, runs, measure, complete=True, threads=threads)
    answered: npt.NDArray[np.bool_] = np.logical_not(evaluation.missing.all(axis=0))
    gaps = evaluation.missing[:, answered]
    if gaps.any():
        warnings.warn(_gaps(evaluation.systems, gaps), UnreliableWarning, stacklevel=2)
    for stranger in evaluation.strangers:
        warnings.warn(stranger, UnreliableWarning, stacklevel=2)
    if not answered.all():
        warnings.warn(
            f"{np.count_nonzero(~answered)} of {len(answered)} judged topics are in none of the "
            "runs and are left out",
            UnreliableWarning,
            stacklevel=2,
        )
    kept = [t for t, a in zip(evaluation.topics, answered, strict=True) if a]
    return evaluation.matrix().select(topics=kept)


def _gaps(systems: Sequence[str], gaps: npt.NDArray[np.bool_]) -> str:
    missing = gaps.sum(axis=1)
    worst = int(np.argmax(missing))
    others = np.count_nonzero(missing) - 1
    more = f" ({others} more runs have gaps)" if others > 0 else ""
    return (
        f"{systems[worst]} has no documents for {missing[worst]} of {gaps.shape[1]} topics, which "
        f"count as 0{more}"
    )


# -- one run ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reader:
    """Joins a run with the judgments."""

    qrels: Qrels
    ties: str
    judged_only: bool
    duplicates: str
    scores: bool

    def read(self, run: Any, threads: int) -> JudgedRankings:
        """All documents of a run."""
        return judge_run(
            self.qrels,
            run,
            ties=self.ties if self.ties in ORDERING_TIES else "trec",
            duplicates=self.duplicates,
            scores=self.scores,
            threads=threads,
        )

    def select(self, judged: JudgedRankings) -> JudgedRankings:
        """The documents that count."""
        return without_unjudged(judged) if self.judged_only else judged


def _score(
    reader: _Reader,
    item: tuple[str | None, Any],
    requested: Sequence[Requested],
    conditions: Conditions,
    reference: JudgedRankings | None,
    remarks: bool,
    threads: int,
) -> Scored:
    name, run = item
    judged = reader.read(run, threads)
    stranger = None
    if judged.code.size and not judged.code.any():
        stranger = nothing_judged(reader.qrels, judged)
    judged = reader.select(judged)
    here = Conditions(conditions.level, conditions.ties, conditions.depth, threads)
    scores = [_topic_scores(r.measure, judged, here, reference) for r in requested]
    span, share = None, None
    if remarks:
        share = float(Judged(cutoff=10).score(judged, here).value[judged.in_run].mean())
    if remarks and conditions.ties != "rank" and _has_ties(judged):
        span = []
        for r in requested:
            ends = [
                _topic_scores(
                    r.measure,
                    judged,
                    Conditions(conditions.level, ties, conditions.depth, threads),
                    reference,
                ).value[judged.in_run]
                for ties in ("worst", "best")
            ]
            span.append((float(ends[0].mean()), float(ends[1].mean())))
    system = name or judged.name
    return Scored(system, judged.in_run, scores, judged.extra_topics, span, share, stranger)


def _has_ties(judged: JudgedRankings) -> bool:
    tied = np.diff(judged.score) == 0
    borders = judged.offsets[1:-1] - 1  # the last row of a topic and the first of the next
    tied[borders[(borders >= 0) & (borders < len(tied))]] = False
    return bool(tied.any())


def _topic_scores(
    measure: Measure,
    judged: JudgedRankings,
    conditions: Conditions,
    reference: JudgedRankings | None,
) -> TopicScores:
    if isinstance(measure, RelevanceLoss) and reference is not None:
        return measure.score_pair(reference, judged, conditions)
    return measure.score(judged, conditions)


def _in_order(one: Any, items: Sequence[Any], threads: int) -> Iterator[Scored]:
    """Results in the order of the runs; only as many runs in memory as there are threads."""
    threads = resolve_threads(threads)
    if threads == 1 or len(items) == 1:
        for item in items:
            yield one(item, threads)
        return
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(min(threads, len(items)))
    try:
        yield from pool.map(lambda item: one(item, 1), items)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def named_runs(runs: Any) -> list[tuple[str | None, Any]]:
    """Each run, with its name where it goes by another than its own."""
    if isinstance(runs, (Mapping, list, tuple)) and not runs:
        raise InputError("there is no run to evaluate")
    if isinstance(runs, Mapping):
        first = next(iter(runs.values()), None)
        nested = isinstance(first, Mapping) and isinstance(next(iter(first.values()), 0), Mapping)
        if nested or not isinstance(first, Mapping):
            return [(str(name), run) for name, run in runs.items()]
        return [(None, runs)]
    if not isinstance(runs, (list, tuple)):
        return [(None, runs)]
    if is_record(runs[0]):
        return [(None, runs)]
    # two files of one name in different folders go by their paths
    names = [run_name(str(r)) if isinstance(r, (str, os.PathLike)) else None for r in runs]
    repeated = {n for n in names if n is not None and names.count(n) > 1}
    return [(str(r) if n in repeated else None, r) for n, r in zip(names, runs, strict=True)]


def _reference(
    reader: _Reader,
    named: Sequence[tuple[str | None, Any]],
    baseline: str | None,
    requested: Sequence[Requested],
) -> JudgedRankings:
    if baseline is None:
        loss = next(r.label for r in requested if isinstance(r.measure, RelevanceLoss))
        raise MeasureError(f"{loss} compares with a second run. Hint: --baseline NAME")
    by_name: dict[str, Any] = {}
    for name, run in named:
        if isinstance(run, (str, os.PathLike)):
            by_name[run_name(str(run))] = run
        if name is not None:
            by_name[name] = run
        if hasattr(run, "name"):
            by_name[str(run.name)] = run
    if baseline not in by_name:
        if Path(baseline).exists():
            return reader.select(reader.read(baseline, 1))
        raise AlignmentError(
            f"the baseline {baseline!r} is neither one of the runs nor a file. "
            f"Hint: the runs are {', '.join(map(repr, by_name))}"
        )
    return reader.select(reader.read(by_name[baseline], 1))


# -- all runs --------------------------------------------------------------------------------------


def _assemble(
    qrels: Qrels,
    requested: Sequence[Requested],
    scored: Sequence[Scored],
    conditions: Conditions,
    *,
    complete: bool,
    judged_only: bool,
    per_topic: bool,
    baseline: str | None,
) -> Evaluation:
    systems = _unique([s.name for s in scored])
    shape = (len(scored), len(requested), len(qrels.topics))
    arrays = {name: np.empty(shape) for name in ("value", "lower", "upper")}
    means = {name: np.empty(shape[:2]) for name in arrays}
    for i, run in enumerate(scored):
        for j, scores in enumerate(run.scores):
            counts = np.ones(shape[2], dtype=np.bool_) if complete else run.in_run
            for name in arrays:
                # a topic without a ranking scores what an empty ranking scores, with nothing unseen
                row = np.where(run.in_run, getattr(scores, name), scores.value)
                arrays[name][i, j] = np.where(counts, row, np.nan)
                means[name][i, j] = _summary(requested[j].measure, row[counts])
    missing = np.array([~s.in_run for s in scored])
    measures = tuple(str(r.measure) for r in requested)
    has_bounds = tuple(r.measure.has_bounds for r in requested)
    settings = {
        "qrels": qrels.name,
        "measures": list(measures),
        "topics": len(qrels.topics),
        "complete": complete,
        "level": conditions.level,
        "depth": conditions.depth,
        "judged_only": judged_only,
        "ties": conditions.ties,
        "max_grade": qrels.max_grade,
    }
    if baseline is not None:
        settings["baseline"] = baseline
    return Evaluation(
        settings=settings,
        headline=headline(systems, requested, measures, scored, means),
        notes=notes(systems, scored, qrels, complete),
        strangers=strangers(systems, scored),
        systems=systems,
        measures=measures,
        labels=tuple(r.label for r in requested),
        topics=qrels.topics,
        has_bounds=has_bounds,
        mean=means["value"],
        mean_lower=means["lower"],
        mean_upper=means["upper"],
        missing=missing,
        per_topic=per_topic,
        value=arrays["value"],
        lower=arrays["lower"],
        upper=arrays["upper"],
    )


def _summary(measure: Measure, values: FloatArray) -> float:
    if measure.SUMMARY == "sum":
        return float(values.sum())
    if measure.SUMMARY == "geometric":
        return float(np.exp(np.log(np.maximum(values, FLOOR)).mean()))  # thesis Eq. 2.17
    return float(values.mean())


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    """Names made different by a number where two runs share one."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return tuple(out)
