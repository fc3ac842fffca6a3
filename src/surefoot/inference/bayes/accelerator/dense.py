"""Observations as dense arrays."""

import numpy as np
import numpy.typing as npt

from surefoot.kernels.hierarchy import Observations

FloatArray = npt.NDArray[np.float64]


def dense(data: Observations) -> dict[str, FloatArray]:
    """Observations as (systems, topics, ranks) arrays and a mask; one rank but for zoib_rank."""
    cell = data.system.astype(np.int64) * data.n_topics + data.topic
    order = np.argsort(cell, kind="stable")
    ordered = cell[order]
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(begins, len(ordered)))
    depth = np.arange(len(ordered)) - np.repeat(begins, sizes)
    shape = (data.n_systems, data.n_topics, int(sizes.max()))
    at = (data.system[order], data.topic[order], depth)
    out = {name: np.zeros(shape) for name in ("first", "second", "mask", "covariate")}
    out["first"][at] = data.first[order]
    out["second"][at] = data.second[order]
    out["mask"][at] = 1.0
    if data.covariate is not None:
        out["covariate"][at] = data.covariate[order]
    return out
