"""TREC text: readers that take bytes or open files and give arrays.

A reader is fed blocks of text (`feed`) or stretches of an open file (`feed_file`), in order, and
then finished. It raises `TextError(fault, line, text, whole, count)` at the first line that is
wrong: `fault` is a `Fault`, `text` the field, `whole` the line it is in (the topic, for a
duplicate), `count` the number of fields, or of the field from zero.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from surefoot import _kernels as _module

# said outright: this module is imported while the package's own names are still being resolved
_kernels: Any = _module

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.unsignedinteger]

TextError: type[Exception] = _kernels.TextError
ScatteredTopics: type[Exception] = _kernels.ScatteredTopics

DUPLICATES = ("error", "first", "last")
TIES = ("trec", "docid", "file", "rank")


class Fault(IntEnum):
    """What can be wrong with a line; the same numbers as in cpp/text_lines.hpp."""

    FIELD_COUNT = 1
    MALFORMED_NUMBER = 2
    NOT_FINITE = 3
    TOO_LARGE = 4
    CONTROL_CHARACTER = 5
    DUPLICATE = 6
    TOPIC_TOO_LARGE = 7
    LINE_TOO_LONG = 8


class Reader(Protocol):
    """What all readers share."""

    @property
    def lines(self) -> int:
        """Lines read so far, blank ones too."""

    @property
    def rows(self) -> int:
        """Rows that they hold; zero for an empty file."""

    def feed(self, data: bytes, /) -> None:
        """Take the next block of text."""

    def feed_file(self, file: int, offset: int, length: int, /) -> int:
        """Take the next stretch of an open file; returns the bytes read, or minus an errno."""

    def finish(self) -> None:
        """There is no more text."""


class RunJoiner(Reader, Protocol):
    """Joins a run with the judgments topic by topic; raises `ScatteredTopics` where it cannot."""

    @property
    def tag(self) -> bytes:
        """Last column of the first line."""

    @property
    def extra_topics(self) -> int:
        """Topics without judgments."""

    def expect(self, size: int, /) -> None:
        """Make room for a text of this many bytes."""

    def join_columns(
        self,
        topic_block: Bytes,
        topic_ends: Ints,
        offsets: Ints,
        document_block: Bytes,
        document_ends: Ints,
        scores: Floats,
        ranks: Floats,
        /,
    ) -> None:
        """Take a run that is in memory already, grouped by topic and without duplicates."""


class Keeper(Reader, Protocol):
    """Keeps all rows, grouped by topic in the order of first appearance."""

    @property
    def tag(self) -> bytes:
        """Last column of the first line of a run."""

    @property
    def other_tags(self) -> bool:
        """Whether a run has other tags too."""

    @property
    def dropped(self) -> int:
        """Duplicates that were not kept."""

    @property
    def scattered(self) -> bool:
        """Whether a topic came back after another one."""

    def add_rows(
        self,
        topic_block: Bytes,
        topic_ends: Ints,
        document_block: Bytes,
        document_ends: Ints,
        values: Floats,
        ranks: Floats,
        /,
    ) -> None:
        """Take rows of a table, one topic and one document each."""

    def kept(self) -> tuple[list[bytes], Ints, Bytes, Ints, Floats, Floats]:
        """Topics, offsets, document block, document ends, values, ranks; once only."""


def qrels_keeper(duplicates: str) -> Keeper:
    """A reader of judgments (topic, iteration, document, grade)."""
    keeper: Keeper = _kernels.QrelsKeeper(DUPLICATES.index(duplicates))
    return keeper


def run_keeper(duplicates: str) -> Keeper:
    """A reader of runs (topic, Q0, document, rank, score, tag) that keeps everything."""
    keeper: Keeper = _kernels.RunKeeper(DUPLICATES.index(duplicates))
    return keeper


def judged_index(
    topic_block: Bytes,
    topic_ends: Ints,
    offsets: Ints,
    document_block: Bytes,
    document_ends: Ints,
    grades: Floats,
) -> Any:
    """Judgments by topic and document, for `run_joiner`; any number of joiners may share one.

    Its `levels` are the grades that occur, by their codes; code 0 is no judgment.
    """
    return _kernels.JudgedIndex(
        topic_block, topic_ends, offsets, document_block, document_ends, grades
    )


def sorted_grades(offsets: Ints, grades: Floats) -> Floats:
    """The grades of each topic, highest first."""
    out: Floats = _kernels.sorted_grades(offsets, grades)
    return out


def run_joiner(index: Any, *, ties: str, depth: int, duplicates: str, scores: bool) -> RunJoiner:
    """A reader of runs that keeps codes of grades, and scores if wanted, in rank order; no ids."""
    joiner: RunJoiner = _kernels.RunJoiner(
        index, TIES.index(ties), depth, DUPLICATES.index(duplicates), scores
    )
    return joiner


def assemble(parts: Sequence[RunJoiner], n_topics: int) -> tuple[Ints, Codes, Floats, Flags]:
    """Offsets, codes of grades, scores and presence by topic of the judgments, by all parts."""
    arrays: tuple[Ints, Codes, Floats, Flags] = _kernels.assemble(list(parts), n_topics)
    return arrays


def rank_rows(
    offsets: Ints,
    document_block: Bytes,
    document_ends: Ints,
    scores: Floats,
    ranks: Floats,
    *,
    ties: str,
) -> Ints:
    """Row numbers of each topic in rank order."""
    rows: Ints = _kernels.rank_rows(
        offsets, document_block, document_ends, scores, ranks, TIES.index(ties)
    )
    return rows


def next_topic(file: int, offset: int, size: int) -> int:
    """Where, at or behind `offset` of an open file, the next topic begins."""
    position: int = _kernels.next_topic(file, offset, size)
    return position


def lines_before(file: int, offset: int) -> int:
    """Number of line ends in the first `offset` bytes of an open file."""
    count: int = _kernels.lines_before(file, offset)
    return count
