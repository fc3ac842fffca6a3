"""Replicates of a statistic over one set of resampled topics that all series share."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.inference.statistics import AnyStatistic, FunctionOfMeans
from surefoot.kernels.resample import bootstrap_means, resample_indices

FloatArray = npt.NDArray[np.float64]
Progress = Callable[[float, float], None]

# work between two looks at the keyboard: resamples x topics x (series + 8)
_WORK_PER_CHUNK = 5e8
# with more topics than this, a black-box statistic is jackknifed by groups of topics
_JACKKNIFE_GROUPS = 1000


@dataclass(frozen=True, slots=True)
class Replicates:
    """Bootstrap replicates of each series, measured from the estimate.

    Parameters
    ----------
    estimate : (n_series,) float array
    deviations : (n_series, n_resamples) float array
        Replicate minus estimate.
    student : (n_series, n_resamples) float array or None
        Deviation over the standard error of the resample.
    standard_error : (n_series,) float array
        Of the estimate: s / sqrt(n) for the mean, else the user's or the jackknife's.
    acceleration : (n_series,) float array
        Efron's a from the jackknife.
    """

    estimate: FloatArray
    deviations: FloatArray = field(repr=False)
    student: FloatArray | None = field(repr=False)
    standard_error: FloatArray
    acceleration: FloatArray


def replicate(
    x: FloatArray,
    *,
    statistic: AnyStatistic | FunctionOfMeans | None = None,
    standard_error: AnyStatistic | None = None,
    studentised: bool = True,
    n_resamples: int,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> Replicates:
    """Resample the topics of all series together.

    Parameters
    ----------
    x : (n_series, n_topics) float array
        Without NaN, at least two topics.
    statistic : callable, optional
        (k, n_topics) samples to (k,) values; the mean when left out.
    standard_error : callable, optional
        The same shapes; the standard error of a statistic other than the mean, for studentising.
    """
    report = progress or _silent
    if statistic is None:
        return _of_means(x, studentised, n_resamples, seed, threads, report)
    if isinstance(statistic, FunctionOfMeans):
        return _of_function(x, statistic, n_resamples, seed, threads, report)
    return _of_anything(x, statistic, standard_error, studentised, n_resamples, seed, report)


def _silent(done: float, total: float) -> None:
    pass


def _fill_means(
    centred: FloatArray,
    studentised: bool,
    n_resamples: int,
    seed: int,
    threads: int,
    report: Progress,
) -> tuple[FloatArray, FloatArray | None]:
    """Run the kernel in pieces, so that Ctrl-C is heard; the pieces do not change the result."""
    means = np.empty((len(centred), n_resamples))
    student = np.empty((len(centred), n_resamples)) if studentised else None
    n_series, n_topics = centred.shape
    # drawing a topic costs as much as adding up some series
    step = max(64, int(_WORK_PER_CHUNK / ((n_series + 8) * n_topics)))
    for first in range(0, n_resamples, step):
        count = min(step, n_resamples - first)
        bootstrap_means(
            centred,
            seed=seed,
            first=first,
            count=count,
            column=first,
            means=means,
            student=student,
            threads=threads,
        )
        report(first + count, n_resamples)
    return means, student


def _of_means(
    x: FloatArray, studentised: bool, n_resamples: int, seed: int, threads: int, report: Progress
) -> Replicates:
    n = x.shape[1]
    estimate = x.mean(axis=1)
    centred = x - estimate[:, None]
    deviations, student = _fill_means(centred, studentised, n_resamples, seed, threads, report)
    second = (centred**2).sum(axis=1)
    # leaving topic i out moves the mean by -(x_i - mean)/(n - 1): the jackknife in closed form
    return Replicates(
        estimate,
        deviations,
        student,
        np.sqrt(second / (n * (n - 1))),
        acceleration(centred),
    )


def _of_function(
    x: FloatArray,
    statistic: FunctionOfMeans,
    n_resamples: int,
    seed: int,
    threads: int,
    report: Progress,
) -> Replicates:
    n = x.shape[1]
    estimate = np.empty(len(x))
    deviations = np.empty((len(x), n_resamples))
    influence = np.empty_like(x)
    for i, series in enumerate(x):
        features = statistic.features(series)
        means = features.mean(axis=1)
        moved, _ = _fill_means(
            features - means[:, None], False, n_resamples, seed, threads, _silent
        )
        estimate[i] = statistic.combine(means[:, None], n)[0]
        deviations[i] = statistic.combine(means[:, None] + moved, n) - estimate[i]
        left_out = statistic.combine((means[:, None] * n - features) / (n - 1), n - 1)
        influence[i] = left_out.mean() - left_out
        report(i + 1, len(x))
    return Replicates(
        estimate, deviations, None, _jackknife_error(influence), acceleration(influence)
    )


def _of_anything(
    x: FloatArray,
    statistic: AnyStatistic,
    standard_error: AnyStatistic | None,
    studentised: bool,
    n_resamples: int,
    seed: int,
    report: Progress,
) -> Replicates:
    n = x.shape[1]
    estimate = np.asarray(statistic(x), dtype=np.float64)
    deviations = np.empty((len(x), n_resamples))
    student = np.empty_like(deviations) if studentised and standard_error is not None else None
    step = max(1, 2_000_000 // n)
    for first in range(0, n_resamples, step):
        rows = resample_indices(n, min(step, n_resamples - first), seed=seed, first=first)
        piece = slice(first, first + len(rows))
        for i, series in enumerate(x):
            samples = series[rows]
            deviations[i, piece] = statistic(samples) - estimate[i]
            if student is not None and standard_error is not None:
                with np.errstate(divide="ignore", invalid="ignore"):
                    ratio = deviations[i, piece] / standard_error(samples)
                student[i, piece] = np.where(deviations[i, piece] == 0, 0.0, ratio)
        report(first + len(rows), n_resamples)
    influence = _jackknife(x, statistic)
    error = _jackknife_error(influence)
    if standard_error is not None:
        error = np.asarray(standard_error(x), dtype=np.float64)
    return Replicates(estimate, deviations, student, error, acceleration(influence))


def _jackknife(x: FloatArray, statistic: AnyStatistic) -> FloatArray:
    """Influence of each topic, or of each of 1,000 groups of topics: linear in topics."""
    n = x.shape[1]
    groups = min(n, _JACKKNIFE_GROUPS)
    edges = np.linspace(0, n, groups + 1).round().astype(int)
    left_out = np.empty((len(x), groups))
    for g in range(groups):
        keep = np.concatenate([x[:, : edges[g]], x[:, edges[g + 1] :]], axis=1)
        left_out[:, g] = statistic(keep)
    influence: FloatArray = left_out.mean(axis=1, keepdims=True) - left_out
    return influence


def _jackknife_error(influence: FloatArray) -> FloatArray:
    groups = influence.shape[1]
    error: FloatArray = np.sqrt((groups - 1) / groups * (influence**2).sum(axis=1))
    return error


def acceleration(influence: FloatArray) -> FloatArray:
    """Efron's a from centred influence values (thesis Eq. 3.20); 0 where they are all 0."""
    cubes = (influence**3).sum(axis=1)
    squares = (influence**2).sum(axis=1)
    out: FloatArray = np.zeros(len(influence))
    np.divide(cubes, 6.0 * squares**1.5, out=out, where=squares > 0)
    return out
