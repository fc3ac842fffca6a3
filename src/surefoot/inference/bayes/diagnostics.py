"""R-hat and effective sample size of Markov chains.

References
----------
Vehtari, Gelman, Simpson, Carpenter, Bürkner (2021), Rank-normalization, folding, and localization:
an improved R-hat for assessing convergence of MCMC, Bayesian Analysis 16(2).
"""

import numpy as np
import numpy.typing as npt
from scipy import fft, special

FloatArray = npt.NDArray[np.float64]


def split_chains(chains: FloatArray) -> FloatArray:
    """``(chains, draws)`` -> ``(2 chains, draws / 2)``, so that drift shows as disagreement."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def rank_normalise(chains: FloatArray) -> FloatArray:
    """Normal scores of the pooled ranks (Vehtari et al. 2021, Eq. 14)."""
    flat = chains.ravel()
    order = np.argsort(flat, kind="stable")
    ranks = np.empty(flat.size)
    # ties, as rejected proposals make them, share their mean rank
    values = flat[order]
    edge = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1], [True]]))
    ranks[order] = np.repeat((edge[:-1] + 1 + edge[1:]) / 2, np.diff(edge))
    return np.asarray(special.ndtri((ranks - 0.375) / (flat.size + 0.25))).reshape(chains.shape)


def _rhat(chains: FloatArray) -> float:
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = chains.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((n - 1) / n + between / within))


def rhat(chains: FloatArray) -> float:
    """The larger of rank-normalised split R-hat and its folded form (ibid., section 4)."""
    split = split_chains(chains)
    folded = np.abs(split - np.median(split))
    return max(_rhat(rank_normalise(split)), _rhat(rank_normalise(folded)))


def ess(chains: FloatArray) -> float:
    """Effective sample size of the mean, by Geyer's initial monotone sequence (ibid., Eq. 10)."""
    split = split_chains(chains)
    m, n = split.shape
    if n < 4:
        return float(m * n)
    centred = split - split.mean(axis=1, keepdims=True)
    size = fft.next_fast_len(2 * n)
    spectrum = fft.rfft(centred, size, axis=1)
    autocovariance = fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n].mean(axis=0) / n
    within = autocovariance[0] * n / (n - 1)
    if within == 0:
        return float(m * n)
    total = within * (n - 1) / n + split.mean(axis=1).var(ddof=1) if m > 1 else within
    rho = 1 - (within - autocovariance * n / (n - 1)) / total
    rho[0] = 1.0
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    stop = np.flatnonzero(pairs < 0)
    pairs = np.minimum.accumulate(pairs[: stop[0] if stop.size else len(pairs)])
    tau = max(-1 + 2 * float(pairs.sum()), 1 / np.log10(m * n))
    return float(m * n / tau)


def tail_ess(chains: FloatArray) -> float:
    """The smaller effective sample size of the 5 % and the 95 % quantile (ibid., section 4.3)."""
    low, high = np.quantile(chains, (0.05, 0.95))
    return min(ess((chains <= end).astype(np.float64)) for end in (low, high))
