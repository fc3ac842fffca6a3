"""WAIC and PSIS-LOO from pointwise log likelihoods that arrive a chunk of draws at a time.

Only running sums and the tail of each observation are kept, so memory does not grow with the draws.

References
----------
Watanabe (2010), Asymptotic equivalence of Bayes cross validation and WAIC, JMLR 11.
Vehtari, Gelman, Gabry (2017), Practical Bayesian model evaluation using leave-one-out
cross-validation and WAIC, Statistics and Computing 27.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.psis import FloatArray, smooth_tail, tail_length
from surefoot.results.criterion import Criterion, CriterionDifference


class _LogSum:
    """A running log of sums of exponentials, one a column."""

    def __init__(self, n: int) -> None:
        self.top = np.full(n, -np.inf)
        self.total = np.zeros(n)

    def add(self, values: FloatArray) -> None:
        """Add every row of (rows, n)."""
        if not len(values):
            return
        top = np.maximum(self.top, values.max(axis=0))
        safe = np.where(np.isfinite(top), top, 0.0)
        self.total = self.total * np.exp(self.top - safe) + np.exp(values - safe).sum(axis=0)
        self.top = top

    def log(self) -> FloatArray:
        """The log of each sum."""
        with np.errstate(divide="ignore"):
            out: FloatArray = np.where(np.isfinite(self.top), self.top, 0.0) + np.log(self.total)
        return out


def waic(chunks: Iterable[npt.ArrayLike]) -> Criterion:
    """Widely applicable information criterion.

    Parameters
    ----------
    chunks : iterable of (n_draws_in_chunk, n_observations) arrays
        Log likelihood of each observation under each posterior draw.

    Notes
    -----
    elpd_i = log mean_s p(y_i | s) - var_s log p(y_i | s); Vehtari et al. (2017), Eqs 11-13. The
    value is -2 times their sum, as brms and the thesis (Table 5.2) print it.
    """
    stream = _WaicStream()
    for chunk in chunks:
        stream.add(np.asarray(chunk, dtype=np.float64))
    return stream.result()


def loo(
    chunks: Iterable[npt.ArrayLike], *, n_draws: int, relative_efficiency: float = 1.0
) -> Criterion:
    """Leave-one-out cross-validation by Pareto-smoothed importance sampling.

    Parameters
    ----------
    chunks : iterable of (n_draws_in_chunk, n_observations) arrays
        Log likelihood of each observation under each posterior draw.
    n_draws : int
        Number of draws in all chunks together; it decides how long a tail is kept.
    relative_efficiency : float
        Effective draws per draw where the draws come from a Markov chain.
    """
    stream = _LooStream(n_draws, relative_efficiency)
    for chunk in chunks:
        stream.add(np.asarray(chunk, dtype=np.float64))
    return stream.result()


def criteria(
    chunks: Iterable[npt.ArrayLike], *, n_draws: int, relative_efficiency: float = 1.0
) -> tuple[Criterion, Criterion]:
    """WAIC and PSIS-LOO in one pass over the draws; arguments as in `loo`."""
    for_waic, for_loo = _WaicStream(), _LooStream(n_draws, relative_efficiency)
    for chunk in chunks:
        values = np.asarray(chunk, dtype=np.float64)
        for_waic.add(values)
        for_loo.add(values)
    return for_waic.result(), for_loo.result()


def join(parts: Sequence[Criterion]) -> Criterion:
    """One criterion from those of parts of the observations, in order."""
    khat = [part.khat for part in parts if part.khat is not None]
    pointwise = np.concatenate([part.pointwise for part in parts])
    effective = sum(part.effective_parameters for part in parts)
    return _criterion(parts[0].name, pointwise, effective, np.concatenate(khat) if khat else None)


def difference(first: Criterion, second: Criterion) -> CriterionDifference:
    """First minus second model, fitted to the same observations in the same order.

    The standard error is that of paired pointwise terms (Vehtari et al. 2017, Eq. 24).
    """
    if first.name != second.name or first.pointwise.shape != second.pointwise.shape:
        raise ValueError("criteria must be of one kind and of the same observations")
    pointwise = -2.0 * (first.pointwise - second.pointwise)
    return CriterionDifference(first.name, float(pointwise.sum()), _standard_error(pointwise))


class _WaicStream:
    def __init__(self) -> None:
        self.count = 0

    def add(self, values: FloatArray) -> None:
        rows, columns = values.shape
        if rows == 0:
            return
        if self.count == 0:
            self.density = _LogSum(columns)
            self.mean = np.zeros(columns)
            self.squares = np.zeros(columns)
        self.density.add(values)
        # Chan, Golub, LeVeque (1983): merging means and sums of squares
        mean = values.mean(axis=0)
        delta = mean - self.mean
        total = self.count + rows
        self.squares += ((values - mean) ** 2).sum(axis=0) + delta**2 * self.count * rows / total
        self.mean += delta * rows / total
        self.count = total

    def result(self) -> Criterion:
        if self.count < 2:
            raise ValueError(f"WAIC needs at least 2 draws, got {self.count}")
        variance = self.squares / (self.count - 1)
        pointwise = self.density.log() - np.log(self.count) - variance
        return _criterion("waic", pointwise, float(variance.sum()))


class _LooStream:
    """Keeps, of each observation, the largest inverse densities and the sum of all others."""

    def __init__(self, n_draws: int, relative_efficiency: float) -> None:
        self.keep = tail_length(n_draws, relative_efficiency) + 1
        self.n_draws = n_draws
        self.count = 0

    def add(self, values: FloatArray) -> None:
        rows, columns = values.shape
        if rows == 0:
            return
        if self.count == 0:
            self.body = _LogSum(columns)
            self.density = _LogSum(columns)
            self.largest = np.empty((columns, 0))
        self.count += rows
        self.density.add(values)
        # log importance weights of leaving i out are minus the log likelihoods
        both = np.concatenate([self.largest, -values.T], axis=1)
        evicted = both.shape[1] - self.keep
        if evicted > 0:
            both.partition(evicted, axis=1)
            self.body.add(both[:, :evicted].T)
            both = both[:, evicted:]
        self.largest = np.ascontiguousarray(both)

    def result(self) -> Criterion:
        if self.count != self.n_draws:
            raise ValueError(f"n_draws is {self.n_draws}, but the chunks held {self.count} draws")
        if self.count < self.keep:
            raise ValueError(f"LOO needs more draws than {self.count}")
        self.largest.sort(axis=1)
        self.body.add(self.largest[:, :1].T)  # the cutoff itself belongs to the body
        top = self.largest[:, -1]
        tail = self.largest[:, 1:] - top[:, None]
        smoothed, khat = smooth_tail(tail, self.largest[:, 0] - top)
        in_body = self.count - tail.shape[1]
        # elpd_i = log(sum_s w_s p_s / sum_s w_s), and w_s p_s = 1 where w_s is not smoothed
        weighted = in_body + np.exp(smoothed - tail).sum(axis=1)
        weights = np.exp(self.body.log() - top) + np.exp(smoothed).sum(axis=1)
        pointwise = np.log(weighted) - top - np.log(weights)
        in_sample = self.density.log() - np.log(self.count)
        return _criterion("loo", pointwise, float((in_sample - pointwise).sum()), khat)


def _criterion(
    name: str, pointwise: FloatArray, effective: float, khat: FloatArray | None = None
) -> Criterion:
    deviance = -2.0 * pointwise
    return Criterion(
        name, float(deviance.sum()), _standard_error(deviance), effective, pointwise, khat
    )


def _standard_error(terms: FloatArray) -> float:
    """Of a sum of independent terms (Vehtari et al. 2017, Eq. 23)."""
    return float(np.sqrt(len(terms) * terms.var(ddof=1))) if len(terms) > 1 else float("nan")
