"""How far a sample is from a normal distribution: the measures of thesis Algorithm 3.1."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# George and Mallery's rule of thumb for skewness and excess kurtosis
ORDINARY = 2.0


@dataclass(frozen=True, slots=True)
class Normality:
    """Of each series; NaN where it has no spread or fewer than three values.

    Parameters
    ----------
    w, w_p : Shapiro and Wilk's W and its p-value
    d, d_naive_p, d_lilliefors_p : the Kolmogorov-Smirnov distance to the normal with the sample's
        mean and standard deviation; its p-value as if those were known, and Lilliefors'
    skewness, excess_kurtosis : thesis Eqs. 3.14 and 3.15 minus 3
    """

    w: FloatArray
    w_p: FloatArray
    d: FloatArray
    d_naive_p: FloatArray
    d_lilliefors_p: FloatArray
    skewness: FloatArray
    excess_kurtosis: FloatArray


def measure_normality(x: npt.ArrayLike) -> Normality:
    """Measure each series of (n_series, n_topics), NaN cells left out."""
    series = np.atleast_2d(np.asarray(x, dtype=np.float64))
    out = np.full((7, len(series)), np.nan)
    for i, row in enumerate(series):
        values = np.sort(row[~np.isnan(row)])
        n = len(values)
        size = float(np.abs(values).max(initial=0.0))
        if n < 3 or values[-1] - values[0] <= 1e-12 * size:
            continue
        w, w_p = shapiro_wilk(values)
        d = kolmogorov_distance(values)
        centred = values - values.mean()
        second = float((centred**2).mean())
        out[:, i] = (
            w,
            w_p,
            d,
            kolmogorov_p(d, n),
            lilliefors_p(d, n),
            float((centred**3).mean()) / second**1.5,  # Eq. 3.14
            float((centred**4).mean()) / second**2 - 3.0,  # Eq. 3.15
        )
    return Normality(*out)


def shapiro_wilk(ordered: FloatArray) -> tuple[float, float]:
    """W and its p-value for sorted values (Royston 1995, algorithm AS R94; n up to 5,000)."""
    from scipy.special import ndtr, ndtri

    n = len(ordered)
    m = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    norm = float(np.sqrt((m**2).sum()))
    a = m / norm
    if n == 3:
        a = np.array([-np.sqrt(0.5), 0.0, np.sqrt(0.5)])
    else:
        u = 1 / np.sqrt(n)
        last = np.polyval([-2.706056, 4.434685, -2.07119, -0.147981, 0.221157, a[-1]], u)
        if n > 5:
            next_to = np.polyval([-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, a[-2]], u)
            rest = (norm**2 - 2 * m[-1] ** 2 - 2 * m[-2] ** 2) / (1 - 2 * last**2 - 2 * next_to**2)
            a = m / np.sqrt(rest)
            a[-2], a[1] = next_to, -next_to
        else:
            a = m / np.sqrt((norm**2 - 2 * m[-1] ** 2) / (1 - 2 * last**2))
        a[-1], a[0] = last, -last
    centred = ordered - ordered.mean()
    w = min(float((a @ centred) ** 2 / (centred**2).sum()), 1.0)
    if n == 3:
        # exact: W of three values is at least 3/4
        p = 6 / np.pi * (np.arcsin(np.sqrt(w)) - np.arcsin(np.sqrt(0.75)))
        return w, float(np.clip(p, 0.0, 1.0))
    if w == 1.0:
        return w, 1.0
    y = np.log(1 - w)
    if n <= 11:
        gamma = -2.273 + 0.459 * n
        if y >= gamma:
            return w, 0.0
        y = -np.log(gamma - y)
        mean = np.polyval([-6.714e-4, 0.025054, -0.39978, 0.544], n)
        sd = np.exp(np.polyval([-0.0020322, 0.062767, -0.77857, 1.3822], n))
    else:
        log_n = np.log(n)
        mean = np.polyval([0.0038915, -0.083751, -0.31082, -1.5861], log_n)
        sd = np.exp(np.polyval([0.0030302, -0.082676, -0.4803], log_n))
    return w, float(ndtr(-(y - mean) / sd))


def kolmogorov_distance(ordered: FloatArray) -> float:
    """Largest distance of the sample's steps to the normal with its mean and deviation."""
    from scipy.special import ndtr

    n = len(ordered)
    expected = ndtr((ordered - ordered.mean()) / ordered.std(ddof=1))
    steps = np.arange(n + 1) / n
    return float(max((steps[1:] - expected).max(), (expected - steps[:-1]).max()))


def kolmogorov_p(d: float, n: int) -> float:
    """Two-sided p-value for a distribution known beforehand.

    Exact to 13 digits up to 1,000 values (Marsaglia, Tsang and Wang 2003; Smirnov's sum in the far
    tail, where P(D >= d) is twice the one-sided probability to eleven digits), beyond that the
    limit with Vrbik's (2018) correction for n, good to four digits. scipy's "exact" is Pelz and
    Good's approximation beyond 140 values, good to five.

    Not valid for a mean and a deviation taken from the sample, as Algorithm 3.1 has it: far too
    large (errata thesis-20).
    """
    from scipy.special import kolmogorov, smirnov

    if n * d * d > 4:
        return float(min(2 * smirnov(n, min(d, 1.0)), 1.0))
    if n > 1000:
        z = d * np.sqrt(n)
        return float(kolmogorov(z + 1 / (6 * np.sqrt(n)) + (z - 1) / (4 * n)))
    k = int(n * d) + 1
    size, h = 2 * k - 1, k - n * d
    matrix = np.tri(size, size, 1)
    powers = h ** np.arange(1, size + 1)
    matrix[:, 0] -= powers
    matrix[-1, :] -= powers[::-1]
    matrix[-1, 0] += max(2 * h - 1, 0.0) ** size
    row, column = np.indices((size, size))
    gap = np.maximum(row - column + 1, 0)
    factorial = np.cumprod(np.concatenate([[1.0], np.arange(1.0, size + 1)]))
    matrix /= factorial[gap]
    power, exponent = _scaled_power(matrix, n)
    value = power[k - 1, k - 1]
    # times n! / n^n, in logarithms
    log_ratio = float(np.log(np.arange(1, n + 1) / n).sum())
    below = np.exp(np.log(max(value, 1e-300)) + exponent * np.log(2.0) + log_ratio)
    return float(np.clip(1.0 - below, 0.0, 1.0))


def _scaled_power(matrix: FloatArray, n: int) -> tuple[FloatArray, int]:
    """matrix^n as (array, power of two to multiply by), safe from overflow."""
    result, shift = np.eye(len(matrix)), 0
    base, base_shift = matrix, 0
    while n:
        if n & 1:
            result, shift = result @ base, shift + base_shift
        base, base_shift = base @ base, 2 * base_shift
        n >>= 1
        for _ in range(2):
            top = int(np.frexp(np.abs(base).max())[1])
            base, base_shift = base * 2.0**-top, base_shift + top
            top = int(np.frexp(np.abs(result).max())[1])
            result, shift = result * 2.0**-top, shift + top
    return result, shift


def lilliefors_p(d: float, n: int) -> float:
    """P-value when mean and deviation are the sample's: Dallal and Wilkinson 1986, Stephens 1974.

    Good to the second decimal below 0.1 and coarser above, for five values or more.
    """
    stretched, size = (d, n) if n <= 100 else (d * (n / 100) ** 0.49, 100)
    root = size + 2.78019
    p = np.exp(
        -7.01256 * stretched**2 * root
        + 2.99587 * stretched * np.sqrt(root)
        - 0.122119
        + 0.974598 / np.sqrt(size)
        + 1.67997 / size
    )
    if p <= 0.1:
        return float(p)
    k = (np.sqrt(n) - 0.01 + 0.85 / np.sqrt(n)) * d
    pieces = (
        (0.302, (1.0,)),
        (0.5, (81.218052, -138.55152, 80.709644, -19.828315, 2.76773)),
        (0.9, (-32.355711, 94.029866, -97.490286, 40.662806, -4.901232)),
        (1.31, (2.423045, -12.234627, 23.186922, -19.558097, 6.198765)),
    )
    for limit, coefficients in pieces:
        if k <= limit:
            return float(np.clip(np.polyval(coefficients, k), 0.0, 1.0))
    return 0.0
