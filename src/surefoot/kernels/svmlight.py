"""SVMlight / LETOR text to arrays."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot import _kernels as _module

# said outright: this module is imported while the package's own names are still being resolved
_kernels: Any = _module


class Rows(NamedTuple):
    """One row a document; query i begins at row ``first[i]``, and is named again after a gap."""

    features: npt.NDArray[np.float32]
    labels: npt.NDArray[np.float32]
    queries: list[str]
    first: npt.NDArray[np.int64]
    documents: list[str]  # "" where the line names none


class Fault(NamedTuple):
    """What is wrong with the first line that is."""

    line: int
    message: str


def read_svmlight(text: bytes) -> Rows | Fault:
    """All documents of a text, or its first fault."""
    found = _kernels.read_svmlight(text)
    return Fault(*found) if len(found) == 2 else Rows(*found)
