"""GeoRisk: the geometric mean of effectiveness and ZRisk."""

import numpy as np
import numpy.typing as npt

from surefoot.overlays.z_risk import Deviations, z_risk

FloatArray = npt.NDArray[np.float64]


def geo_risk(d: Deviations, alpha: float) -> FloatArray:
    """sqrt(mean score x Phi(ZRisk / c)); higher is better, NaN for a negative mean score.

    Notes
    -----
    Dincer et al. 2016, Section 3.3. The thesis' minus form is its negative at alpha = r - 1 (Benham
    2023, Eq. 3.5); the GeoRisk columns printed in Tables 3.3 and 4.5 there put the sign of ZRisk
    inside Phi instead and cannot be reached from Eq. 3.5.
    """
    from scipy.special import ndtr

    per_topic = np.full(d.count.shape, np.nan)
    np.divide(z_risk(d, alpha), d.count, out=per_topic, where=d.count > 0)
    product = d.mean * ndtr(per_topic)
    out = np.full(product.shape, np.nan)
    np.sqrt(product, out=out, where=product >= 0)
    return out
