"""A pool of unlabelled queries: what rankings show for each, and what is believed of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Offsets = npt.NDArray[np.int64]
Items = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Queries with the union of the items that their rankings show.

    Compressed rows: the items of query x are ``item_offset[x]`` to ``item_offset[x + 1]``.

    Parameters
    ----------
    topics : tuple of str
        Query ids, unique.
    rankings : tuple of str
        Names of the rankings, in the order of the file.
    item_offset : (n_topics + 1,) int array
        Where the items of each query begin.
    docs : tuple of str
        Document id of each item.
    offsets, items : one array a ranking
        ``items[r][offsets[r][x]:offsets[r][x + 1]]`` are the items that ranking r shows for query
        x, best first, counted over the whole pool.
    probability : (n_items, n_grades) array
        p(y | x, z). A broadcast row stands for the uniform distribution.
    columns : mapping
        Further numeric columns by name, one value an item, NaN where the table has none.
    """

    topics: tuple[str, ...]
    rankings: tuple[str, ...]
    item_offset: Offsets = field(repr=False)
    docs: tuple[str, ...] = field(repr=False)
    offsets: tuple[Offsets, ...] = field(repr=False)
    items: tuple[Items, ...] = field(repr=False)
    probability: FloatArray = field(repr=False)
    columns: Mapping[str, FloatArray] = field(default_factory=dict, repr=False)

    @property
    def grades(self) -> int:
        """Number of grades, the maximum grade plus one."""
        return int(self.probability.shape[1])

    @property
    def supplied(self) -> bool:
        """Whether the probabilities are of items, not all grades taken as equally likely."""
        return self.probability.strides[0] != 0

    @property
    def topic_of_item(self) -> Offsets:
        """Query of each item."""
        return np.repeat(np.arange(len(self.topics)), np.diff(self.item_offset))

    def shown(self, depth: int | None) -> npt.NDArray[np.bool_]:
        """Whether each item is within the first `depth` of any ranking."""
        mask = np.zeros(len(self.docs), dtype=np.bool_)
        for offset, items in zip(self.offsets, self.items, strict=True):
            rank = np.arange(len(items)) - np.repeat(offset[:-1], np.diff(offset))
            mask[items if depth is None else items[rank < depth]] = True
        return mask

    def with_probability(self, probability: FloatArray) -> "Pool":
        """The same pool under another model of relevance."""
        return Pool(
            self.topics,
            self.rankings,
            self.item_offset,
            self.docs,
            self.offsets,
            self.items,
            probability,
            self.columns,
        )
