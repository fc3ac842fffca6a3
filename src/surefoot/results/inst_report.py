"""INST of one run as the reference program reports it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstReport(Result):
    """INST on every topic that counts, in the order of the topic ids.

    Parameters
    ----------
    topics : tuple of str
        Topics evaluated.
    retrieved, relevant, relevant_retrieved : (n_topics) arrays
        Counts.
    low, high : (n_topics) arrays
        INST with unjudged documents worthless and fully useful; the residual is the difference.
    depth_low, depth_high : (n_topics) arrays
        Ranks that the user is expected to look at under either (the first is the larger).
    per_topic : bool
        Whether the lines list every topic before the mean.
    notes : tuple of str
        Topics that could not be evaluated.
    """

    command: ClassVar[str] = "inst_eval"

    topics: tuple[str, ...]
    retrieved: FloatArray = field(repr=False)
    relevant: FloatArray = field(repr=False)
    relevant_retrieved: FloatArray = field(repr=False)
    low: FloatArray = field(repr=False)
    high: FloatArray = field(repr=False)
    depth_low: FloatArray = field(repr=False)
    depth_high: FloatArray = field(repr=False)
    per_topic: bool = False
    notes: tuple[str, ...] = ()

    def columns(self) -> dict[str, Column]:
        """One row a topic."""
        return {
            "topic": self.topics,
            "num_ret": self.retrieved,
            "num_rel": self.relevant,
            "num_rel_ret": self.relevant_retrieved,
            "inst_min": self.low,
            "inst_max": self.high,
            "inst_res": self.high - self.low,
            "depth_at_min": self.depth_low,
            "depth_at_max": self.depth_high,
        }

    def lines(self) -> Iterator[str]:
        """``name<TAB>topic<TAB>value``, with the reference program's tabs; means under `all`."""
        rows = np.column_stack(
            [self.retrieved, self.relevant, self.relevant_retrieved, self.low, self.high]
        )
        if self.per_topic:
            for topic, row in zip(self.topics, rows, strict=True):
                yield from _block(topic, row)
        if len(rows):
            yield f"num_q\t\tall\t{len(rows)}"
            yield from _block("all", rows.mean(axis=0))


def _block(topic: str, row: FloatArray) -> Iterator[str]:
    retrieved, relevant, relevant_retrieved, low, high = row.tolist()
    yield f"num_ret\t\t{topic}\t{int(retrieved)}"
    yield f"num_rel\t\t{topic}\t{int(relevant)}"
    yield f"num_rel_ret\t{topic}\t{int(relevant_retrieved)}"
    yield f"inst_min\t{topic}\t{low:.4f}"
    yield f"inst_max\t{topic}\t{high:.4f}"
    yield f"inst_res\t{topic}\t{high - low:.4f}"
