"""What it costs to label a query."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.data.pool import Pool
from surefoot.errors import InputError

FloatArray = npt.NDArray[np.float64]

KINDS = ("documents", "log-length", "flat")
PER = ("auto", "topic", "item")


@dataclass(slots=True)
class CostTally:
    """Collects the price of every query, block by block.

    Parameters
    ----------
    kind : str, optional
        ``documents``: one a document; ``log-length``: the logarithm of the column `length`
        (Sawade et al. 2012, Section 5; lengths below 2 count as 2); ``flat``; or the name of a
        column. By default the column `cost` where there is one, else ``documents``.
    depth : int, optional
        Documents below the cut-off need no label and cost nothing.
    per : str
        Whether a column is a price per ``topic`` or per ``item``; ``auto`` takes it for a price per
        topic when it never varies within one.
    """

    kind: str | None = None
    depth: int | None = None
    per: str = "auto"
    _by_topic: list[FloatArray] = field(default_factory=list)
    _by_item: list[FloatArray] = field(default_factory=list)

    def add(self, pool: Pool) -> None:
        """Take in the next block."""
        if self.per not in PER:
            raise InputError(f"cost per must be one of {', '.join(PER)}, got {self.per!r}")
        if self.kind is None:
            self.kind = "cost" if "cost" in pool.columns else "documents"
        m = len(pool.topics)
        owner, shown = pool.topic_of_item, pool.shown(self.depth)
        if self.kind == "flat":
            self._by_topic.append(np.ones(m))
            return
        if self.kind == "documents":
            price = np.ones(len(pool.docs))
        elif self.kind == "log-length":
            price = np.log(np.maximum(_column(pool, "length"), 2.0))
        else:
            price = _column(pool, self.kind)
            if self.per == "auto" and not _constant_by_topic(price, owner, m):
                self.per = "item"
            if self.per != "item":
                by_topic = np.full(m, np.nan)
                present = ~np.isnan(price)
                by_topic[owner[present]] = price[present]
                self._by_topic.append(by_topic)
        by_item = np.bincount(owner[shown], weights=price[shown], minlength=m)
        self._by_item.append(by_item.astype(np.float64))

    @property
    def words(self) -> str:
        """What the prices are, once `total` is known."""
        if self.kind in KINDS:
            return str(self.kind)
        return f"column {self.kind} per {'document' if self.per == 'item' else 'query'}"

    def total(self, topics: Sequence[str]) -> FloatArray:
        """Price of each query of all blocks, in the unit of the table."""
        in_column = self.kind not in KINDS
        by_topic = self.kind == "flat" or (in_column and self.per != "item")
        if in_column and self.per == "auto":
            self.per = "topic"
        raw = np.concatenate(self._by_topic if by_topic else self._by_item)
        wrong = ~(np.isfinite(raw) & (raw > 0))
        if wrong.any():
            x = int(wrong.argmax())
            got = "an empty cell" if np.isnan(raw[x]) else f"{raw[x]:g}"
            raise InputError(
                f"the cost ({self.kind}) of topic {topics[x]!r} must be above 0, got {got}"
            )
        return raw


def normalise(raw: FloatArray, p: FloatArray) -> tuple[FloatArray, float]:
    """Costs with a mean of one over the pool, and its unit (Sawade et al. 2012, Section 5)."""
    unit = float(raw @ p)
    return raw / unit, unit


def query_costs(
    pool: Pool, kind: str | None = None, *, depth: int | None = None, per: str = "auto"
) -> FloatArray:
    """Price of each query of a whole pool; arguments as `CostTally`."""
    tally = CostTally(kind, depth, per)
    tally.add(pool)
    return tally.total(pool.topics)


def _constant_by_topic(column: FloatArray, owner: npt.NDArray[np.int64], m: int) -> bool:
    """Whether no query has two different values of a column."""
    present = ~np.isnan(column)
    low, high = np.full(m, np.inf), np.full(m, -np.inf)
    np.minimum.at(low, owner[present], column[present])
    np.maximum.at(high, owner[present], column[present])
    return not (high > low).any()


def _column(pool: Pool, name: str) -> FloatArray:
    if name not in pool.columns:
        known = ", ".join(pool.columns) or "none"
        raise InputError(
            f"the pool has no numeric column {name!r} for the cost (its further columns: {known}). "
            f"Hint: --cost {'|'.join(KINDS)} or a column"
        )
    return pool.columns[name]
