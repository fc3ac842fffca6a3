"""INST of known gains."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def inst(gains: FloatArray, T: float) -> FloatArray:
    """INST of every row, the tail beyond the row worth nothing.

    The score is a quotient of sum_i w_i g_i and sum_i w_i, w_i the product of C(1) ... C(i - 1)
    (Moffat et al. 2015, Eqs 1-4; the tail of the second sum in closed form, errata INST-3). All
    gains before a rank change its weight, so that, unlike RBP's, its moments have no closed form
    under independent labels.

    Parameters
    ----------
    gains : (n_rows, n_ranks) array
        Within [0, 1]; 0 where a row is shorter.
    T : float
        Useful documents wanted.
    """
    from scipy.special import polygamma

    rows, n = gains.shape
    u = np.arange(1, n + 1) + 2 * T - gains.cumsum(axis=1)
    weight = np.ones((rows, n + 1))
    weight[:, 1:] = np.cumprod(((u - 1) / u) ** 2, axis=1)
    end = n + 2 * T - gains.sum(axis=1)
    tail = weight[:, n] * end**2 * polygamma(1, end)
    weight = weight[:, :n]
    score: FloatArray = (weight * gains).sum(axis=1) / (weight.sum(axis=1) + tail)
    return score
