"""Judgments: which document has which grade for which topic."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.documents import Documents, check_finite


@dataclass(frozen=True, slots=True, eq=False)
class Qrels:
    """Judgments of all topics, topic after topic.

    Parameters
    ----------
    topics : tuple of str
        Topic ids in the order of their first appearance.
    offsets : (n_topics + 1) int array
        Topic i owns rows ``offsets[i]`` to ``offsets[i + 1]`` of `grades` and `documents`.
    grades : float array
        Grade of each judged document; negative and fractional grades are kept as they are.
    documents : Documents
        Ids of the judged documents.
    name : str
        Where they came from, for messages.
    """

    topics: tuple[str, ...]
    offsets: npt.NDArray[np.int64] = field(repr=False)
    grades: npt.NDArray[np.float64] = field(repr=False)
    documents: Documents = field(repr=False)
    name: str = "the judgments"
    dropped: int = 0  # duplicates that were not kept
    # index of the judged documents, built by the first join and reused by the others
    joined: list[Any] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        counts = f"{len(self.topics)} topics, {len(self.grades)} judgments"
        return f"<Qrels {self.name!r}: {counts}>"

    @classmethod
    def from_dict(
        cls, judgments: Mapping[str, Mapping[str, float]], *, name: str = "the judgments"
    ) -> "Qrels":
        """Build from ``{topic: {document: grade}}``."""
        check_finite(judgments, "grade")
        counts = [len(by_document) for by_document in judgments.values()]
        return cls(
            tuple(str(t) for t in judgments),
            np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
            np.array([float(g) for d in judgments.values() for g in d.values()], np.float64),
            Documents.pack(str(i) for d in judgments.values() for i in d),
            name=name,
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """``{topic: {document: grade}}``."""
        out = {}
        for i, topic in enumerate(self.topics):
            rows = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
            ids = self.documents.strings(rows.start, rows.stop)
            out[topic] = dict(zip(ids, self.grades[rows].tolist(), strict=True))
        return out

    @property
    def max_grade(self) -> float:
        """The highest grade of the whole collection; zero where nothing is judged above it."""
        return float(max(self.grades.max(initial=0.0), 0.0))

    def __len__(self) -> int:
        return len(self.grades)
