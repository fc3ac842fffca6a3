"""Two-way analysis of variance, systems by topics, one score a cell."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AnovaTable:
    """Rows systems, topics, residual, total.

    Parameters
    ----------
    source : tuple of str
    sum_of_squares, df, mean_square, f, p_value, eta_squared : (4,) float arrays
        NaN where a row has no such entry; `eta_squared` is partial.
    """

    source: tuple[str, ...]
    sum_of_squares: FloatArray
    df: FloatArray
    mean_square: FloatArray
    f: FloatArray
    p_value: FloatArray
    eta_squared: FloatArray


def anova(scores: npt.ArrayLike) -> AnovaTable:
    """Additive two-way table of complete (n_systems, n_topics) scores.

    References
    ----------
    Thesis Eq. 2.33 without the interaction, which one score a cell cannot tell from the error
    (errata thesis-19). The residual is Eq. 2.31 with a plus before the grand mean: with the printed
    minus, additive data leave 9.01 instead of 0 (errata thesis-16).
    """
    from scipy.special import fdtrc

    x = np.asarray(scores, dtype=np.float64)
    if np.isnan(x).any():
        raise InputError("the analysis of variance needs a score in every cell")
    n_systems, n_topics = x.shape
    if n_systems < 2 or n_topics < 2:
        raise InputError(
            f"the analysis of variance needs two systems and two topics, "
            f"but got {n_systems} and {n_topics}"
        )
    grand = x.mean()
    systems = x.mean(axis=1, keepdims=True)
    topics = x.mean(axis=0, keepdims=True)
    residual = x - systems - topics + grand  # Eq. 2.31, sign corrected
    squares = np.array(
        [
            n_topics * ((systems - grand) ** 2).sum(),
            n_systems * ((topics - grand) ** 2).sum(),
            (residual**2).sum(),
            ((x - grand) ** 2).sum(),
        ]
    )
    # additive or constant tables leave rounding where there is nothing
    squares[squares <= 1e-24 * max(float((x**2).sum()), 1e-300)] = 0.0
    df = np.array(
        [n_systems - 1, n_topics - 1, (n_systems - 1) * (n_topics - 1), n_systems * n_topics - 1],
        dtype=np.float64,
    )
    mean_square = squares / df
    mean_square[3] = np.nan
    f, p, eta = np.full((3, 4), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        f[:2] = mean_square[:2] / mean_square[2]
        eta[:2] = squares[:2] / (squares[:2] + squares[2])
    p[:2] = np.where(np.isinf(f[:2]), 0.0, fdtrc(df[:2], df[2], np.nan_to_num(f[:2], posinf=0.0)))
    return AnovaTable(
        ("systems", "topics", "residual", "total"), squares, df, mean_square, f, p, eta
    )
