"""Labelled documents with features, grouped by query."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.errors import AlignmentError, InputError

FloatArray = npt.NDArray[np.float32]
OffsetArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureData:
    """Documents x features with relevance labels; the documents of a query are adjacent.

    Parameters
    ----------
    features : (n_documents, n_features) float32 array
        NaN marks a value that is not known.
    labels : (n_documents,) float32 array
        Relevance, not negative.
    queries : tuple of str
        Query ids in order, unique.
    offsets : (n_queries + 1,) int array
        First document of each query; the last entry is the number of documents.
    documents : tuple of str, optional
        Document ids; where absent, documents are called ``<query>-<position>``.
    weights : (n_documents,) float32 array, optional
        Sample weights.
    """

    features: FloatArray = field(repr=False)
    labels: FloatArray = field(repr=False)
    queries: tuple[str, ...]
    offsets: OffsetArray = field(repr=False)
    documents: tuple[str, ...] = field(default=(), repr=False)
    weights: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        features = np.asarray(self.features)
        if features.dtype != np.float32 or not features.flags.c_contiguous:
            features = np.ascontiguousarray(features, dtype=np.float32)
        if features.ndim != 2:
            raise InputError(
                f"features must be documents x features, but have {features.ndim} axes"
            )
        labels = np.ascontiguousarray(self.labels, dtype=np.float32)
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        n = features.shape[0]
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "offsets", offsets)
        if labels.shape != (n,):
            raise InputError(f"there are {labels.size} labels for {n} documents")
        if n == 0:
            raise InputError("there are no documents")
        if offsets.size != len(self.queries) + 1 or offsets[0] != 0 or offsets[-1] != n:
            raise InputError(
                f"the query sizes add up to {int(offsets[-1])}, but there are {n} documents"
            )
        if (np.diff(offsets) <= 0).any():
            raise InputError("every query needs at least one document")
        if len(set(self.queries)) != len(self.queries):
            raise InputError("a query id occurs more than once")
        bad = ~(labels >= 0) | np.isinf(labels)
        if bad.any():
            i = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"label {labels[i]} of document {i + 1} is not a finite number >= 0. "
                "Hint: shift or clip the labels"
            )
        if self.documents and len(self.documents) != n:
            raise InputError(f"there are {len(self.documents)} document ids for {n} documents")
        if self.weights is not None:
            weights = np.ascontiguousarray(self.weights, dtype=np.float32)
            if weights.shape != (n,):
                raise InputError(f"there are {weights.size} weights for {n} documents")
            bad = ~(weights >= 0) | np.isinf(weights)
            if bad.any():
                i = int(np.flatnonzero(bad)[0])
                raise InputError(f"weight {weights[i]} of document {i + 1} is not a number >= 0")
            object.__setattr__(self, "weights", weights)

    @classmethod
    def from_groups(
        cls,
        features: npt.ArrayLike,
        labels: npt.ArrayLike,
        *,
        group: Sequence[int] | npt.NDArray[np.integer] | None = None,
        qid: Sequence[object] | npt.NDArray[np.generic] | None = None,
        weights: npt.ArrayLike | None = None,
    ) -> "FeatureData":
        """Build from query sizes, or from one query id a document (adjacent ids)."""
        features = np.asarray(features)
        if (group is None) == (qid is None):
            raise InputError("give either group (query sizes) or qid (one id a document)")
        if group is not None:
            sizes = np.asarray(group, dtype=np.int64)
            offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
            queries = tuple(f"q{i}" for i in range(sizes.size))
        else:
            assert qid is not None
            queries, offsets = adjacent_queries([str(q) for q in np.asarray(qid).tolist()])
        return cls(
            np.asarray(features, dtype=np.float32),
            np.asarray(labels, dtype=np.float32),
            queries,
            offsets,
            weights=None if weights is None else np.asarray(weights, dtype=np.float32),
        )

    @property
    def sizes(self) -> OffsetArray:
        """Documents of each query."""
        return np.diff(self.offsets)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    def document_names(self) -> tuple[str, ...]:
        """The ids of the file, or ``<query>-<position>`` where it gives none."""
        if self.documents:
            return self.documents
        return tuple(
            f"{q}-{i + 1}"
            for q, size in zip(self.queries, self.sizes.tolist(), strict=True)
            for i in range(size)
        )

    def select(self, positions: npt.ArrayLike) -> "FeatureData":
        """The queries at the given positions, in that order."""
        chosen = np.asarray(positions, dtype=np.int64)
        rows = np.concatenate(
            [np.arange(self.offsets[q], self.offsets[q + 1]) for q in chosen.tolist()]
        )
        return FeatureData(
            self.features[rows],
            self.labels[rows],
            tuple(self.queries[q] for q in chosen.tolist()),
            np.concatenate([[0], np.cumsum(self.sizes[chosen])]).astype(np.int64),
            tuple(self.documents[r] for r in rows.tolist()) if self.documents else (),
            None if self.weights is None else self.weights[rows],
        )

    def widened(self, n_features: int) -> "FeatureData":
        """The same with zero columns up to `n_features` (sparse files end at their last value)."""
        if n_features == self.n_features:
            return self
        if n_features < self.n_features:
            raise AlignmentError(
                f"the data have {self.n_features} features, but only {n_features} are known. "
                "Hint: train and rank with files of one feature set"
            )
        wide = np.zeros((self.features.shape[0], n_features), dtype=np.float32)
        wide[:, : self.n_features] = self.features
        return FeatureData(
            wide, self.labels, self.queries, self.offsets, self.documents, self.weights
        )


def concatenate(parts: Sequence[FeatureData]) -> FeatureData:
    """Several collections as one; query ids must not repeat."""
    width = max(p.n_features for p in parts)
    wide = [p.widened(width) for p in parts]
    with_documents = all(p.documents for p in wide)
    weights = None
    if any(p.weights is not None for p in wide):
        weights = np.concatenate(
            [np.ones(len(p.labels), np.float32) if p.weights is None else p.weights for p in wide]
        )
    return FeatureData(
        np.concatenate([p.features for p in wide]),
        np.concatenate([p.labels for p in wide]),
        tuple(q for p in wide for q in p.queries),
        np.concatenate([[0], np.cumsum(np.concatenate([p.sizes for p in wide]))]).astype(np.int64),
        tuple(d for p in wide for d in p.documents) if with_documents else (),
        weights,
    )


def adjacent_queries(ids: Sequence[str]) -> tuple[tuple[str, ...], OffsetArray]:
    """Query ids and offsets from one id a document, which must come in unbroken blocks."""
    queries: list[str] = []
    starts: list[int] = []
    seen: set[str] = set()
    for i, name in enumerate(ids):
        if queries and name == queries[-1]:
            continue
        if name in seen:
            raise InputError(
                f"query {name!r} is scattered: document {i + 1} belongs to it, but other queries "
                "lie between. Hint: sort the rows by query id (a stable sort keeps the rest)"
            )
        seen.add(name)
        queries.append(name)
        starts.append(i)
    return tuple(queries), np.array([*starts, len(ids)], dtype=np.int64)
