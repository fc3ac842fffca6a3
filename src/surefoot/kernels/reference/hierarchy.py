"""Likelihoods of `surefoot.kernels.hierarchy` in plain NumPy and SciPy."""

import numpy as np
import numpy.typing as npt
from scipy import special

from surefoot.kernels.hierarchy import Observations

FloatArray = npt.NDArray[np.float64]


def log_likelihood(
    family: str, shape: FloatArray, eta: FloatArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    """Log density of each observation."""
    if family == "beta":
        phi = shape[0]
        a, b = phi * special.expit(eta), phi * special.expit(-eta)
        log_y = first + second  # logit y + log(1 - y)
        return np.asarray(
            special.gammaln(phi)
            - special.gammaln(a)
            - special.gammaln(b)
            + (a - 1) * log_y
            + (b - 1) * second
        )
    sigma = shape[0]
    if family == "gaussian":
        return np.asarray(-0.5 * ((first - eta) / sigma) ** 2 - np.log(sigma * np.sqrt(2 * np.pi)))
    if family == "student":
        nu = shape[1]
        r = (first - eta) / sigma
        constant = special.gammaln((nu + 1) / 2) - special.gammaln(nu / 2)
        return np.asarray(
            constant - 0.5 * np.log(nu * np.pi) - np.log(sigma) - (nu + 1) / 2 * np.log1p(r**2 / nu)
        )
    # skew normal by its mean and standard deviation (thesis, Algorithm 4.2)
    lam = shape[1]
    delta = lam / np.sqrt(1 + lam**2)
    omega = sigma / np.sqrt(1 - 2 * delta**2 / np.pi)
    xi = eta - omega * delta * np.sqrt(2 / np.pi)
    z = (first - xi) / omega
    return np.asarray(
        np.log(2 / omega) - 0.5 * z**2 - 0.5 * np.log(2 * np.pi) + special.log_ndtr(lam * z)
    )


def linear_predictor(data: Observations, x: FloatArray) -> FloatArray:
    """Eta = b + s + t (+ k times the covariate)."""
    s = x[data.fixed : data.fixed + data.n_systems]
    t = x[data.fixed + data.n_systems :]
    eta: FloatArray = x[0] + s[data.system] + t[data.topic]
    return eta if data.covariate is None else np.asarray(eta + x[1] * data.covariate)


def log_posterior(
    family: str, data: Observations, shape: FloatArray, prior: FloatArray, x: FloatArray
) -> float:
    """Log likelihood plus the normal priors of the effects, without their constants."""
    eta = linear_predictor(data, x)
    value = float(log_likelihood(family, shape, eta, data.first, data.second).sum())
    s = x[data.fixed : data.fixed + data.n_systems]
    t = x[data.fixed + data.n_systems :]
    value -= 0.5 * float(prior[1] * (x[0] - prior[0]) ** 2 + prior[3] * s @ s + prior[4] * t @ t)
    return value if data.covariate is None else value - 0.5 * float(prior[2] * x[1] ** 2)
