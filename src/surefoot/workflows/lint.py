"""Look judgments and runs through for what is wrong or suspicious."""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from surefoot.data.qrels import Qrels
from surefoot.data.rankings import JudgedRankings
from surefoot.data.run import Run
from surefoot.errors import AlignmentError, InputError, ParseError
from surefoot.io.join import judge_run
from surefoot.io.misfit import misfit_notes, names
from surefoot.io.trec import read_qrels, read_run
from surefoot.metrics.tie_spread import tie_spread
from surefoot.results.lint import Finding, LintReport

# (severity, check, message)
Remark = tuple[str, str, str]


def lint(qrels: Any, runs: Sequence[Any] = ()) -> LintReport:
    """Say what is wrong or suspicious in judgments and runs.

    Parameters
    ----------
    qrels : path, "-", dict or frame
        Anything that `read_qrels` takes.
    runs : sequence of paths, dicts or frames
        Anything that `read_run` takes.

    Returns
    -------
    LintReport
        One finding a row. Errors keep a file from being used at all; a parser stops at the first
        bad line of a file, so mend it and look again.
    """
    findings: list[Finding] = []

    def add(source: Any, remarks: Iterator[Remark]) -> None:
        findings.extend(Finding(_name(source), *remark) for remark in remarks)

    judgments, remarks = _opened(read_qrels, qrels)
    add(qrels, iter(remarks))
    if judgments is not None:
        add(qrels, _judgments(judgments))
    seen: list[_Seen] = []
    for source in runs:
        run, remarks = _opened(read_run, source)
        add(source, iter(remarks))
        if run is None:
            continue
        add(source, _run_alone(run))
        if judgments is not None:
            add(source, _run_judged(judgments, run))
        seen.append(_Seen(source, run))
        add(source, _run_among(seen))
    for source, remark in _depths(seen):
        add(source, iter([remark]))
    return LintReport(
        findings=tuple(findings),
        settings={"files": 1 + len(runs)},
        headline=(_verdict(findings, len(runs)),),
    )


def _name(source: Any) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else type(source).__name__


def _n(count: Any, what: str) -> str:
    """A count with its noun."""
    return f"{int(count):,} {what}{'' if count == 1 else 's'}"


def _verdict(findings: Sequence[Finding], n_runs: int) -> str:
    count = Counter(finding.severity for finding in findings)
    files = f"the judgments and {_n(n_runs, 'run')}" if n_runs else "the judgments"
    if count["error"]:
        return f"{_n(count['error'], 'error')} in {files}: mend them before evaluating."
    if count["warning"]:
        return f"Usable, with {_n(count['warning'], 'thing')} to look at in {files}."
    return f"Nothing wrong in {files}."


def _opened(read: Any, source: Any) -> tuple[Any, list[Remark]]:
    """The data, or what keeps the file from being read; duplicates are counted and passed over."""
    try:
        return read(source), []
    except ParseError as error:
        message = _without_path(error)
        if " occurs twice for topic " not in message:
            return None, [("error", "line", message)]
    except InputError as error:
        return None, [("error", "file", str(error))]
    data = read(source, duplicates="first")
    extra = f"{data.dropped - 1} more" if data.dropped > 1 else "no other"
    return data, [("error", "duplicates", f"{message} ({extra} in this file)")]


def _without_path(error: ParseError) -> str:
    return str(error).removeprefix(f"{error.path}:")


# -- judgments -----------------------------------------------------------------------------------


def _judgments(qrels: Qrels) -> Iterator[Remark]:
    per_topic = np.diff(qrels.offsets)
    low, high = float(qrels.grades.min()), float(qrels.grades.max())
    yield (
        "note",
        "size",
        f"{len(qrels.topics)} topics, {len(qrels)} judgments, "
        f"{per_topic.min()} to {per_topic.max()} a topic, "
        f"grades {low:g} to {high:g}",
    )
    topic = np.repeat(np.arange(len(qrels.topics)), per_topic)
    relevant = np.bincount(topic, qrels.grades >= 1, minlength=len(qrels.topics))
    if (relevant == 0).any():
        without = [t for t, n in zip(qrels.topics, relevant, strict=True) if n == 0]
        yield (
            "warning",
            "no_relevant",
            f"{len(without)} topics have no document of grade 1 or more ({names(without)}): "
            "every system scores zero there",
        )
    negative = int((qrels.grades < 0).sum())
    if negative:
        yield (
            "note",
            "negative_grades",
            f"{negative} judgments have a negative grade (down to {low:g}): "
            "they count as judged and not relevant",
        )
    fractional = int((qrels.grades != np.floor(qrels.grades)).sum())
    if fractional:
        yield "note", "fractional_grades", f"{fractional} judgments have a fractional grade"
        below = int(((qrels.grades > 0) & (qrels.grades < 1)).sum())
        if below:
            yield (
                "warning",
                "grades_below_one",
                f"{below} grades lie between 0 and 1: binary measures count them as not relevant "
                "unless the relevance level is lowered (rel=...)",
            )
    if not (qrels.grades < 1).any():
        yield (
            "note",
            "only_relevant",
            "only relevant documents are judged, so that a judged document is always relevant: "
            "bpref and Judged@k say little here",
        )


# -- one run -------------------------------------------------------------------------------------


def _run_alone(run: Run) -> Iterator[Remark]:
    counts = np.diff(run.offsets)
    yield (
        "note",
        "size",
        f"{len(run.topics)} topics, {len(run)} documents, "
        f"{counts.min()} to {counts.max()} a topic, tag {run.tag!r}",
    )
    if run.other_tags:
        yield "warning", "tags", f"the tag changes within the file; the first is {run.tag!r}"
    topic = np.repeat(np.arange(len(run.topics)), counts)
    inside = topic[1:] == topic[:-1]
    starts = run.offsets[:-1]
    equal = np.maximum.reduceat(run.scores, starts) == np.minimum.reduceat(run.scores, starts)
    constant = [run.topics[i] for i in np.flatnonzero(equal & (counts > 1))]
    if constant:
        yield (
            "warning",
            "constant_scores",
            f"all scores are equal in {len(constant)} of {len(run.topics)} topics "
            f"({names(constant)}): the order is up to the tie policy",
        )
    rising = inside & (run.scores[1:] > run.scores[:-1])
    rank_rises = inside & (run.ranks[1:] > run.ranks[:-1])
    if inside.any() and rising.sum() > 0.9 * inside.sum() and rank_rises.sum() > 0.9 * inside.sum():
        yield (
            "warning",
            "ascending_scores",
            "scores rise down the ranking: are they distances? A higher score must be better",
        )
    else:
        yield from _rank_column(run, topic)
    single = run.scores.astype(np.float32)
    order = np.lexsort((run.scores, topic))
    close = (np.diff(topic[order]) == 0) & (np.diff(single[order]) == 0)
    rounded = close & (np.diff(run.scores[order]) != 0)
    if rounded.any():
        touched = np.unique(topic[order][1:][rounded])
        yield (
            "note",
            "float32_ties",
            f"{_n(rounded.sum(), 'pair')} of neighbouring scores in {_n(len(touched), 'topic')} "
            "differ only beyond single precision: programs that keep floats see ties there",
        )


def _rank_column(run: Run, topic: Any) -> Iterator[Remark]:
    """Does the rank column order documents as their scores do?"""
    order = np.lexsort((run.ranks, topic))
    same = np.diff(topic[order]) == 0
    wrong = same & (np.diff(run.scores[order]) > 0)
    if wrong.any():
        touched = np.unique(topic[order][1:][wrong])
        yield (
            "warning",
            "ranks",
            f"the rank column disagrees with the scores in {len(touched)} of {len(run.topics)} "
            f"topics ({names(run.topics[i] for i in touched)}): scores decide unless --ties rank",
        )
    equal = same & (np.diff(run.ranks[order]) == 0)
    if equal.any():
        yield "note", "equal_ranks", f"{int(equal.sum())} documents share a rank with another"


def _run_judged(qrels: Qrels, run: Run) -> Iterator[Remark]:
    """A run beside the judgments."""
    try:
        joined = judge_run(qrels, run)
    except AlignmentError as error:
        yield "error", "misfit", str(error)
        return
    for note in misfit_notes(qrels, joined):
        yield "warning", "misfit", note
    rank = np.arange(len(joined.code)) - np.repeat(joined.offsets[:-1], np.diff(joined.offsets))
    top = rank < 10
    unjudged = float((joined.code[top] == 0).mean()) if top.any() else 0.0
    if unjudged > 0:
        yield (
            "warning" if unjudged > 0.1 else "note",
            "unjudged",
            f"{unjudged:.1%} of the documents at ranks 1 to 10 are unjudged: "
            "look at the bounds, not only at the scores",
        )
    yield from _ties(joined)


def _ties(joined: JudgedRankings) -> Iterator[Remark]:
    topic = np.repeat(np.arange(len(joined.topics)), np.diff(joined.offsets))
    tied = (np.diff(topic) == 0) & (np.diff(joined.score) == 0)
    if not tied.any():
        return
    documents = int((np.concatenate([tied, [False]]) | np.concatenate([[False], tied])).sum())
    share = documents / len(joined.score)
    where = _n(len(np.unique(topic[1:][tied])), "topic")
    text = f"{_n(documents, 'document')} ({share:.1%}) in {where} are tied"
    effects = []
    worst = 0.0
    present = max(int(joined.in_run.sum()), 1)
    for name, spread in tie_spread(joined).items():
        moved = int((spread > 1e-12).sum())
        mean = float(spread.sum() / present)
        worst = max(worst, mean)
        if moved:
            effects.append(
                f"{name} of {_n(moved, 'topic')} by up to {spread.max():.4f} "
                f"(its mean by {mean:.4f})"
            )
    severity = "warning" if worst > 0.005 else "note"
    effect = f"their order can change {' and '.join(effects)}" if effects else ""
    yield severity, "ties", f"{text}; {effect or 'their order changes neither AP nor nDCG@10'}"


# -- a run among others --------------------------------------------------------------------------


class _Seen:
    """What is kept of a run to compare others with."""

    def __init__(self, source: Any, run: Run) -> None:
        self.source = source
        self.name = run.name
        self.tag = run.tag
        self.depth = int(np.diff(run.offsets).max())
        digest = hashlib.blake2b("\0".join(run.topics).encode("utf-8", "surrogateescape"))
        digest.update(run.offsets.tobytes())
        digest.update(run.documents.ends.tobytes())
        digest.update(run.documents.block.tobytes())
        self.documents = digest.digest()


def _run_among(seen: Sequence[_Seen]) -> Iterator[Remark]:
    last = seen[-1]
    for other in seen[:-1]:
        if other.documents == last.documents:
            yield (
                "warning",
                "identical",
                f"has the same documents in the same order as {_name(other.source)}",
            )
            return
    if last.tag and any(other.tag == last.tag for other in seen[:-1]):
        yield "note", "same_tag", f"another run has the tag {last.tag!r} too"


def _depths(seen: Sequence[_Seen]) -> Iterator[tuple[Any, Remark]]:
    if len(seen) < 2:
        return
    usual, _ = Counter(s.depth for s in seen).most_common(1)[0]
    for s in seen:
        # a few documents more or less are no different depth
        if not 0.8 * usual <= s.depth <= 1.25 * usual:
            yield (
                s.source,
                (
                    "warning",
                    "depth",
                    f"has at most {s.depth} documents a topic where most runs have {usual}: "
                    "measures without a cut-off are not comparable",
                ),
            )
