"""The randomisation test: exchange the two systems on topics at random."""

import numpy as np
import numpy.typing as npt

from surefoot.inference.outcome import Outcome, without_topics
from surefoot.inference.resampling import Progress
from surefoot.kernels.permute import sign_flips

FloatArray = npt.NDArray[np.float64]

# work between two looks at the keyboard: flips x topics x series
_WORK_PER_CHUNK = 2e9


def randomization_test(
    x: npt.ArrayLike,
    *,
    n_permutations: int = 20_000,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> Outcome:
    """Two-sided sign-flip test of the mean of each series, (n_series, n_topics).

    Where all 2^n sign patterns are no more than `n_permutations`, all are gone through and the
    p-value is exact; otherwise it is (1 + beyond) / (1 + drawn).

    References
    ----------
    Fisher 1935; Smucker, Allan and Carterette 2007.
    """
    series = np.atleast_2d(np.asarray(x, dtype=np.float64))
    filled = np.where(np.isnan(series), 0.0, series)
    flips = Flips(filled, n_permutations=n_permutations, seed=seed)
    exceed, _ = flips.run(np.ones(len(filled)), threads=threads, progress=progress)
    n = (~np.isnan(series)).sum(axis=1)
    mean = filled.sum(axis=1) / np.maximum(n, 1)
    p = flips.p_values(exceed)
    note = ("exact" if flips.exact else "",) * len(series)
    return without_topics(Outcome(mean, p, note), series)


class Flips:
    """Sign flips of whole topics, shared by all series; exact where they can be enumerated."""

    def __init__(self, x: FloatArray, *, n_permutations: int, seed: int) -> None:
        # a topic without any difference has no sign to flip
        self.x = np.ascontiguousarray(x[:, (x != 0).any(axis=0)])
        n = self.x.shape[1]
        self.exact = n <= 40 and 2**n <= n_permutations
        self.count = 2**n if self.exact else n_permutations
        self.seed = seed

    def run(
        self, scale: FloatArray, *, threads: int, progress: Progress | None
    ) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """How many flips reach each series' observed sum, and the scaled maximum of each flip."""
        exceed = np.zeros(len(self.x), dtype=np.int64)
        largest = np.zeros(self.count)
        if self.x.shape[1] == 0:
            return exceed + self.count, largest
        slack = 1e-12 * np.abs(self.x).sum(axis=1)
        limit = np.abs(self.x.sum(axis=1)) - slack
        step = max(64, int(_WORK_PER_CHUNK / self.x.size))
        for first in range(0, self.count, step):
            count = min(step, self.count - first)
            sign_flips(
                self.x,
                limit=limit,
                scale=scale,
                seed=self.seed,
                first=first,
                count=count,
                exact=self.exact,
                exceed=exceed,
                largest=largest,
                threads=threads,
            )
            if progress is not None:
                progress(first + count, self.count)
        return exceed, largest

    def p_values(self, exceed: npt.NDArray[np.int64]) -> FloatArray:
        """Share of the flips; the observed arrangement counts when flips are drawn."""
        own = 0 if self.exact else 1
        return np.asarray((exceed + own) / (self.count + own), dtype=np.float64)
