"""The overlays' sums over topics, as the papers write them."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def difference_moments(
    values: FloatArray, baseline: FloatArray, tolerance: float, threshold: float
) -> FloatArray:
    """Rows as `surefoot.kernels.overlays.MOMENTS`."""
    out = []
    for row in values:
        keep = ~np.isnan(row) & ~np.isnan(baseline)
        d, b = row[keep] - baseline[keep], baseline[keep]
        gains, losses = d[d > 0], d[d < 0]
        out.append(
            [
                len(d),
                (d > tolerance).sum(),
                (d < -tolerance).sum(),
                (-d > threshold * np.abs(b) + 1e-12).sum(),
                len(gains),
                len(losses),
                *(f for g in (gains, losses) for f in _mean_and_squares(g)),
            ]
        )
    return np.array(out, dtype=np.float64)


def _mean_and_squares(group: FloatArray) -> tuple[float, float]:
    if len(group) == 0:
        return 0.0, 0.0
    return float(group.mean()), float(((group - group.mean()) ** 2).sum())


def z_sums(values: FloatArray, population: FloatArray) -> FloatArray:
    """(sum of z > 0, sum of z < 0) a system, z = (x - e) / sqrt(e), e = S_i T_j / N.

    Dincer et al. 2016, Eqs. 4-7, for complete scores of members of the population.
    """
    topic_total = population.sum(axis=0)
    grand = population.sum()
    expected = np.outer(values.sum(axis=1), topic_total) / (grand or 1.0)
    z = np.zeros(values.shape)
    np.divide(values - expected, np.sqrt(expected), out=z, where=expected > 0)
    return np.stack([np.where(z > 0, z, 0).sum(axis=1), np.where(z < 0, z, 0).sum(axis=1)], axis=1)
