"""Topics that a paired comparison needs, and the power it reaches, by formula.

`effect` is the mean of the paired differences over their standard deviation (thesis Eq. 2.27).
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.inference.noncentral_t import noncentral_t_sf

FloatArray = npt.NDArray[np.float64]

# no comparison is planned with more topics than this
MOST_TOPICS = 10_000_000


def webber_power(n_topics: float, effect: float, *, level: float = 0.05) -> float:
    """Normal approximation: Phi(sqrt(n) effect - z) (Webber et al. 2008; thesis Eq. 2.24)."""
    from scipy.special import ndtr, ndtri

    return float(ndtr(np.sqrt(n_topics) * abs(effect) - ndtri(1 - level / 2)))


def webber_topics(effect: float, *, power: float = 0.8, level: float = 0.05) -> int:
    """Smallest n by the normal approximation (Webber et al. 2008; thesis Eq. 2.25)."""
    from scipy.special import ndtri

    _check(effect, power, level)
    return int(np.ceil(((ndtri(power) + ndtri(1 - level / 2)) / effect) ** 2))


def nagata_topics(effect: float, *, power: float = 0.8, level: float = 0.05) -> int:
    """Nagata's approximation to the noncentral t (Sakai 2016; thesis Eq. 2.26, corrected).

    n = ((z_(1-level/2) + z_power) / effect)^2 + z_(1-level/2)^2 / 2. As printed, with the thesis'
    own z notation, the z's are subtracted: 6.9 topics instead of 33.3 for an effect of one half
    (errata thesis-17).
    """
    from scipy.special import ndtri

    _check(effect, power, level)
    z = ndtri(1 - level / 2)
    return int(np.ceil(((z + ndtri(power)) / effect) ** 2 + z * z / 2))


def nagata_power(n_topics: float, effect: float, *, level: float = 0.05) -> float:
    """The power at which `nagata_topics` asks for n topics."""
    from scipy.special import ndtr, ndtri

    z = ndtri(1 - level / 2)
    return float(ndtr(np.sqrt(max(n_topics - z * z / 2, 0.0)) * abs(effect) - z))


def t_power(n_topics: float, effect: float, *, level: float = 0.05) -> float:
    """Exact power of the two-sided paired t-test on normal differences: noncentral t."""
    from scipy.special import stdtrit

    df = n_topics - 1
    critical = stdtrit(df, 1 - level / 2)
    shift = np.sqrt(n_topics) * abs(effect)
    # beyond -critical on one side, beyond critical on the other
    return float(noncentral_t_sf(critical, df, shift) + noncentral_t_sf(critical, df, -shift))


def t_topics(effect: float, *, power: float = 0.8, level: float = 0.05) -> int:
    """Smallest n with that exact power."""
    _check(effect, power, level)
    return smallest(lambda n: t_power(n, effect, level=level) >= power)


def smallest(enough: Callable[[int], bool], *, start: int = 2) -> int:
    """Smallest number of topics, from 2, that is enough; `enough` must not turn false again."""
    low, high = 1, max(start, 2)
    while not enough(high):
        low, high = high, 2 * high
        if high > MOST_TOPICS:
            raise InputError(
                f"more than {MOST_TOPICS:,} topics would be needed: the effect is too small"
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def within_system_sd(scores: npt.ArrayLike) -> float:
    """Standard deviation of scores over topics, pooled within systems (thesis Eq. 2.28).

    It is of the SCORES, not of their differences as the thesis has it: the variance of a paired
    difference is at most about twice its square, so that an effect in this unit is a cautious one
    (errata thesis-18).
    """
    x = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    present = ~np.isnan(x)
    n = present.sum(axis=1, keepdims=True)
    mean = np.where(present, x, 0.0).sum(axis=1, keepdims=True) / np.maximum(n, 1)
    squares = np.where(present, x - mean, 0.0) ** 2
    free = np.maximum(n - 1, 0).sum()
    return float(np.sqrt(squares.sum() / free)) if free else float("nan")


def _check(effect: float, power: float, level: float) -> None:
    if not 0 < power < 1:
        raise InputError(f"the power must lie between 0 and 1, but got {power}")
    if not 0 < level < 1:
        raise InputError(f"the significance level must lie between 0 and 1, but got {level}")
    if not np.isfinite(effect) or effect == 0:
        raise InputError(
            f"the effect must be a number other than zero, but got {effect:g}. "
            "Hint: no number of topics finds a difference of nothing"
        )
