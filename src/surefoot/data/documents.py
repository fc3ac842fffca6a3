"""Document ids of many topics in one block of bytes, so that no Python object is kept for each."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


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
