"""One run joined with the judgments: what every measure is computed from."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

TIES = ("trec", "file", "rank", "docid")


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRankings:
    """Grades in rank order, topic after topic of the judgments.

    Parameters
    ----------
    topics : tuple of str
        All topics of the judgments, in the order of the judgments. Topics that only the run has
        cannot be evaluated; `extra_topics` counts them.
    offsets : (n_topics + 1) int array
        Topic i owns ``code[offsets[i]:offsets[i + 1]]``; nothing where the run lacks the topic.
    code : int array of one or four bytes
        Which of `levels` the grade of each retrieved document is, in rank order.
    levels : float array
        The grades that occur in the judgments, after a NaN for documents without judgment.
    score : float array
        Its score; documents with equal scores are a tie, ordered by `ties`. Empty where the
        rankings were made without scores.
    in_run : (n_topics) bool array
        Whether the run has the topic.
    qrel_offsets, qrel_grade : int and float arrays
        All judged grades of each topic, highest first.
    max_grade : float
        Highest grade of the whole collection.
    name, tag : str
        The run's name and its last column.
    ties : str
        How documents with equal scores are ordered: "trec" (document id descending), "docid"
        (ascending), "rank" (the whole order is the rank column's) or "file".
    depth : int
        Documents kept a topic; 0 for all.
    extra_topics : int
        Topics of the run that have no judgments.
    """

    topics: tuple[str, ...]
    offsets: npt.NDArray[np.int64] = field(repr=False)
    code: npt.NDArray[np.unsignedinteger] = field(repr=False)
    levels: npt.NDArray[np.float64] = field(repr=False)
    score: npt.NDArray[np.float64] = field(repr=False)
    in_run: npt.NDArray[np.bool_] = field(repr=False)
    qrel_offsets: npt.NDArray[np.int64] = field(repr=False)
    qrel_grade: npt.NDArray[np.float64] = field(repr=False)
    max_grade: float
    name: str = "run"
    tag: str = ""
    ties: str = "trec"
    depth: int = 0
    extra_topics: int = 0
    # the ids are read again only when somebody asks for them; then a topic's are in rank order
    read_ids: Callable[[], Callable[[int], list[str]]] | None = field(default=None, repr=False)
    _ids: list[Callable[[int], list[str]]] = field(default_factory=list, repr=False)

    @property
    def grade(self) -> npt.NDArray[np.float64]:
        """Grade of each retrieved document in rank order, NaN for an unjudged one."""
        grade: npt.NDArray[np.float64] = self.levels[self.code]
        return grade

    def doc_ids(self, topic_index: int) -> list[str]:
        """Document ids of one topic in rank order."""
        if not self._ids:
            if self.read_ids is None:
                raise LookupError("these rankings were made without document ids")
            self._ids.append(self.read_ids())
        return self._ids[0](topic_index)

    def __len__(self) -> int:
        return len(self.topics)


def coded(
    grade: npt.ArrayLike,
) -> tuple[npt.NDArray[np.unsignedinteger], npt.NDArray[np.float64]]:
    """Grades as `code` and `levels`."""
    grade = np.asarray(grade, dtype=np.float64)
    judged = ~np.isnan(grade)
    known, place = np.unique(grade[judged], return_inverse=True)
    code = np.zeros(len(grade), dtype=np.uint32)
    code[judged] = place + 1
    narrow = code.astype(np.uint8) if len(known) < 256 else code
    return narrow, np.concatenate([[np.nan], known])
