"""Document ids of many topics in one block of bytes, so that no Python object is kept for each."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Ids packed end to end: id i is ``block[ends[i - 1] : ends[i]]`` in UTF-8.

    Bytes that are not UTF-8 survive a round trip (``surrogateescape``).
    """

    block: npt.NDArray[np.uint8] = field(repr=False)
    ends: npt.NDArray[np.int64] = field(repr=False)

    @classmethod
    def pack(cls, ids: Iterable[str]) -> "Documents":
        """Pack ids in the order given."""
        encoded = [i.encode("utf-8", "surrogateescape") for i in ids]
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)

    def __len__(self) -> int:
        return len(self.ends)

    def strings(self, start: int, stop: int) -> list[str]:
        """Ids start, ..., stop - 1."""
        ends = self.ends[start:stop].tolist()
        begin = int(self.ends[start - 1]) if start else 0
        text = self.block[begin : ends[-1] if ends else begin].tobytes()
        out = []
        previous = begin
        for end in ends:
            out.append(text[previous - begin : end - begin].decode("utf-8", "surrogateescape"))
            previous = end
        return out


def check_finite(table: Mapping[str, Mapping[str, float]], what: str) -> None:
    """Refuse a value that is not a finite number, naming its topic and document."""
    for topic, by_document in table.items():
        if not isinstance(by_document, Mapping):
            raise InputError(
                f"topic {topic!r} has {by_document!r} where {{document: {what}}} is expected"
            )
        for document, value in by_document.items():
            try:
                finite = math.isfinite(value)
            except (TypeError, OverflowError):
                finite = False
            if not finite:
                raise InputError(
                    f"the {what} of document {document!r} for topic {topic!r} is not a finite "
                    f"number: {value!r}"
                )
