"""A run: for each topic, documents with the scores that a system gave them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.data.documents import Documents, check_finite


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Retrieved documents of all topics, topic after topic, in the order of the file.

    Parameters
    ----------
    topics : tuple of str
        Topic ids in the order of their first appearance.
    offsets : (n_topics + 1) int array
        Topic i owns rows ``offsets[i]`` to ``offsets[i + 1]`` of the other columns.
    scores : float array
        What the system ranks by, higher is better.
    ranks : float array
        The rank column; the position in the file where there is none.
    documents : Documents
        Ids of the retrieved documents.
    name : str
        The file's name without its folder and endings, or what the caller says.
    tag : str
        The last column of the file.
    other_tags : bool
        Whether the file has other tags too.
    dropped : int
        Duplicates that were not kept.
    """

    topics: tuple[str, ...]
    offsets: npt.NDArray[np.int64] = field(repr=False)
    scores: npt.NDArray[np.float64] = field(repr=False)
    ranks: npt.NDArray[np.float64] = field(repr=False)
    documents: Documents = field(repr=False)
    name: str = "run"
    tag: str = ""
    other_tags: bool = False
    dropped: int = 0

    def __repr__(self) -> str:
        counts = f"{len(self.topics)} topics, {len(self.scores)} documents"
        return f"<Run {self.name!r}: {counts}>"

    @classmethod
    def from_dict(
        cls, scores: Mapping[str, Mapping[str, float]], *, name: str = "run", tag: str = ""
    ) -> "Run":
        """Build from ``{topic: {document: score}}``."""
        check_finite(scores, "score")
        counts = [len(by_document) for by_document in scores.values()]
        return cls(
            tuple(str(t) for t in scores),
            np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64),
            np.array([float(s) for d in scores.values() for s in d.values()], np.float64),
            np.array([r + 1.0 for n in counts for r in range(n)], np.float64),
            Documents.pack(str(i) for d in scores.values() for i in d),
            name=name,
            tag=tag,
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """``{topic: {document: score}}``."""
        out = {}
        for i, topic in enumerate(self.topics):
            rows = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
            ids = self.documents.strings(rows.start, rows.stop)
            out[topic] = dict(zip(ids, self.scores[rows].tolist(), strict=True))
        return out

    def __len__(self) -> int:
        return len(self.scores)
