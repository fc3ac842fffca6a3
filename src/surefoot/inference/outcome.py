"""What a significance test of several series of differences answers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# digits of the largest difference that count when differences are compared with each other or zero
_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test of each series.

    Parameters
    ----------
    statistic, p_value : (n_series,) float arrays
        The p-value is two-sided; NaN only where `note` says why.
    note : tuple of str
        How the p-value was had, or why it cannot be; empty where there is nothing to say.
    """

    statistic: FloatArray
    p_value: FloatArray
    note: tuple[str, ...]


def rounded(x: FloatArray) -> FloatArray:
    """Differences rounded to ten digits of the largest of their series.

    Differences that are equal on paper differ in their last bits (.8 - .1 and .7 - .0), which
    breaks ties at random: Wilcoxon's W+ of thesis Table 2.6 would be 16, not 14 (errata thesis-11).
    """
    with np.errstate(invalid="ignore"):
        size = np.nan_to_num(np.abs(x), nan=0.0).max(axis=1, keepdims=True, initial=0.0)
    size[size == 0] = 1.0
    unit = 10.0 ** (np.ceil(np.log10(size)) - _DIGITS)
    values: FloatArray = np.round(x / unit) * unit + 0.0  # no minus zeros
    return values


def without_topics(outcome: Outcome, series: FloatArray) -> Outcome:
    """The same, but undefined where a series has no value at all: that is no evidence of anything.

    Parameters
    ----------
    series : (n_series, n_topics) float array
        NaN for missing.
    """
    empty = np.asarray(np.isnan(series).all(axis=1))
    if not empty.any():
        return outcome
    return Outcome(
        np.where(empty, np.nan, outcome.statistic),
        np.where(empty, np.nan, outcome.p_value),
        tuple(
            "no topic has a score of both systems" if gone else note
            for gone, note in zip(empty, outcome.note, strict=True)
        ),
    )
