"""Runs joined with judgments: from files to ranked grades in one pass."""

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.data.documents import Documents
from surefoot.data.qrels import Qrels
from surefoot.data.rankings import TIES, JudgedRankings
from surefoot.data.run import Run
from surefoot.errors import AlignmentError, InputError
from surefoot.io.faults import parse_error
from surefoot.io.misfit import no_common_topic
from surefoot.io.sources import Source, cannot_read, feed_stretch
from surefoot.io.trec import (
    check_duplicates_option,
    empty,
    keep_run,
    read_qrels,
    read_run,
    read_through,
    run_name,
)
from surefoot.kernels import text as kernel

_PART = 1 << 23  # bytes of a file that are worth a thread


def judge_run(
    qrels: Any,
    run: Any,
    *,
    ties: str = "trec",
    depth: int = 0,
    duplicates: str = "error",
    scores: bool = True,
    threads: int = 1,
) -> JudgedRankings:
    """Join one run with the judgments and put it in rank order.

    Parameters
    ----------
    qrels, run
        Anything that `read_qrels` and `read_run` take.
    ties : "trec", "file", "rank" or "docid"
        Order by score descending, equal scores by document id descending ("trec", bytes compared),
        ascending ("docid") or as in the file ("file"); "rank" orders by the rank column instead.
        Scores are compared as doubles: programs that keep them as floats see ties where there are
        none.
    depth : int
        Keep the first `depth` documents of each topic; 0 keeps all.
    duplicates : "error", "first" or "last"
        What to do where a document is retrieved twice for a topic.
    scores : bool
        Whether to keep the scores, which only ties need once the documents are in order.
    threads : int
        0 for all cores. A big file is cut between topics.
    """
    if ties not in TIES:
        raise InputError(f"ties must be one of {', '.join(TIES)}, but got {ties!r}")
    if depth < 0:
        raise InputError(f"depth must be an integer not less than 0, but got {depth}")
    check_duplicates_option(duplicates)
    qrels = read_qrels(qrels)
    join = _Join(qrels, ties, depth, duplicates, scores)
    if not isinstance(run, (str, os.PathLike)):
        return join.run(read_run(run, duplicates=duplicates))
    return join.source(Source(os.fspath(run)), resolve_threads(threads))


def resolve_threads(threads: int) -> int:
    """0 means every core that this process may use."""
    if threads > 0:
        return threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def index_of(qrels: Qrels) -> tuple[Any, kernel.Floats]:
    """The compiled index of the judgments and their sorted grades, made once."""
    if not qrels.joined:
        topics = Documents.pack(qrels.topics)
        documents = qrels.documents
        index = kernel.judged_index(
            topics.block, topics.ends, qrels.offsets, documents.block, documents.ends, qrels.grades
        )
        qrels.joined.append((index, kernel.sorted_grades(qrels.offsets, qrels.grades)))
    entry: tuple[Any, kernel.Floats] = qrels.joined[0]
    return entry


class _Join:
    """One way to join: the judgments and the options."""

    def __init__(self, qrels: Qrels, ties: str, depth: int, duplicates: str, scores: bool) -> None:
        self.qrels = qrels
        self.ties = ties
        self.depth = depth
        self.duplicates = duplicates
        self.scores = scores
        self.index, self.sorted_grades = index_of(qrels)
        self.levels = self.index.levels

    def joiner(self, size: int = 0) -> kernel.RunJoiner:
        """A joiner for a text of `size` bytes, where that is known."""
        joiner = kernel.run_joiner(
            self.index,
            ties=self.ties,
            depth=self.depth,
            duplicates=self.duplicates,
            scores=self.scores,
        )
        joiner.expect(size)
        return joiner

    def source(self, source: Source, threads: int) -> JudgedRankings:
        """A run file, by the fast road where its topics are not scattered."""
        from surefoot.io.dialects import is_table

        def whole() -> Run:
            return keep_run(source, duplicates=self.duplicates)

        if is_table(source):
            return self.run(whole())
        try:
            parts = self._parts(source, threads)
            return self._rankings(parts, run_name(source.path), whole)
        except kernel.ScatteredTopics:
            return self.run(whole())

    def run(self, run: Run) -> JudgedRankings:
        """A run in memory."""
        joiner = self.joiner()
        topics = Documents.pack(run.topics)
        documents = run.documents
        joiner.join_columns(
            topics.block,
            topics.ends,
            run.offsets,
            documents.block,
            documents.ends,
            run.scores,
            run.ranks,
        )
        return self._rankings([joiner], run.name, lambda: run, tag=run.tag)

    def _parts(self, source: Source, threads: int) -> list[kernel.RunJoiner]:
        size = Path(source.path).stat().st_size if source.is_plain_file else 0
        n_parts = min(4 * threads, size // _PART)
        if threads == 1 or n_parts < 2:
            joiner = self.joiner(size)
            read_through(joiner, source, "run")
            if joiner.rows == 0:
                raise empty(source, "run")
            return [joiner]
        try:
            file = os.open(source.path, os.O_RDONLY)
        except OSError as error:
            raise cannot_read(source.path, error) from None
        try:
            return self._threaded(source.path, file, size, n_parts, threads)
        finally:
            os.close(file)

    def _threaded(
        self, path: str, file: int, size: int, n_parts: int, threads: int
    ) -> list[kernel.RunJoiner]:
        """Parts of one file, cut where a topic begins."""
        cuts = [kernel.next_topic(file, size * i // n_parts, size) for i in range(n_parts)]
        cuts = sorted({*cuts, size})

        def part(begin: int, end: int) -> kernel.RunJoiner:
            joiner = self.joiner(end - begin)
            try:
                feed_stretch(joiner, file, path, begin, end)
                joiner.finish()
            except kernel.TextError as error:
                before = kernel.lines_before(file, begin)
                raise parse_error(error, path, "run", lines_before=before) from None
            return joiner

        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            futures = [pool.submit(part, a, b) for a, b in itertools.pairwise(cuts)]
            try:
                # in the order of the file, so that the first error is the one reported
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _rankings(
        self, parts: list[kernel.RunJoiner], name: str, whole: Any, tag: str | None = None
    ) -> JudgedRankings:
        qrels = self.qrels
        extra = sum(part.extra_topics for part in parts)
        if tag is None:
            tag = parts[0].tag.decode("utf-8", "replace")
        offsets, code, score, in_run = kernel.assemble(parts, len(qrels.topics))
        if not in_run.any():
            raise AlignmentError(no_common_topic(qrels, whole()))
        return JudgedRankings(
            qrels.topics,
            offsets,
            code,
            self.levels,
            score,
            in_run,
            qrels.offsets,
            self.sorted_grades,
            qrels.max_grade,
            name=name,
            tag=tag,
            ties=self.ties,
            depth=self.depth,
            extra_topics=extra,
            read_ids=lambda: self._ids(whole()),
        )

    def _ids(self, run: Run) -> Callable[[int], list[str]]:
        """Document ids in rank order of a topic of the judgments."""
        order = kernel.rank_rows(
            run.offsets,
            run.documents.block,
            run.documents.ends,
            run.scores,
            run.ranks,
            ties=self.ties,
        )
        row_of = {topic: i for i, topic in enumerate(run.topics)}

        def of_topic(index: int) -> list[str]:
            i = row_of.get(self.qrels.topics[index])
            if i is None:
                return []
            begin, end = int(run.offsets[i]), int(run.offsets[i + 1])
            ids = run.documents.strings(begin, end)
            rows = order[begin : min(end, begin + self.depth) if self.depth else end] - begin
            return [ids[row] for row in rows.tolist()]

        return of_topic
