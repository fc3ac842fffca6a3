"""Likelihoods of one observation given its linear predictor, as in cpp/likelihoods.hpp.

(shape, eta, first, second) -> value; or value, gradient, curvature and expected information by eta.
Shapes have a trailing axis of two; eta and the data end in (systems, topics, ranks).
"""

import math

from surefoot.inference.bayes.accelerator.backend import Array, jax, jnp

LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)


def _stirling(z: Array) -> Array:
    """Log gamma of z >= 7 (Abramowitz & Stegun 6.1.40)."""
    s = 1 / (z * z)
    p = jnp.polyval(jnp.array([-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12]), s)
    return (z - 0.5) * jnp.log(z) - z + LOG_ROOT_TWO_PI + p / z


def _log_gamma(x: Array) -> Array:
    product = x
    for k in range(1, 7):
        product = product * (x + k)
    return _stirling(x + 7) - jnp.log(product)


def _digamma_trigamma(x: Array) -> tuple[Array, Array]:
    """Digamma and trigamma by their series at x + 7 and the recurrence back (ibid. 6.3, 6.4)."""
    first: Array = 0.0
    second: Array = 0.0
    for k in range(7):
        inverse = 1 / (x + k)
        first, second = first + inverse, second + inverse * inverse
    inverse = 1 / (x + 7)
    s = inverse * inverse
    p = jnp.polyval(jnp.array([691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12, 0.0]), s)
    q = jnp.polyval(jnp.array([-691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6, 0.0]), s)
    digamma = -jnp.log(inverse) - 0.5 * inverse + p - first
    return digamma, inverse + 0.5 * s + q * inverse + second


def _beta_means(shape: Array, eta: Array) -> tuple[Array, Array, Array]:
    eta = jnp.clip(eta, -250, 250)
    phi = shape[..., 0, None, None, None]
    return phi, jax.nn.sigmoid(eta), jax.nn.sigmoid(-eta)


def _beta_value(shape: Array, eta: Array, logit_y: Array, log1m_y: Array) -> Array:
    phi, mu, nu = _beta_means(shape, eta)
    a, b = mu * phi, nu * phi
    normal = _log_gamma(phi) - _log_gamma(a) - _log_gamma(b)
    return normal + (a - 1) * logit_y + (phi - 2) * log1m_y


def _beta_terms(shape: Array, eta: Array, logit_y: Array, log1m_y: Array) -> tuple[Array, ...]:
    phi, mu, nu = _beta_means(shape, eta)
    a, b = mu * phi, nu * phi
    (psi_a, tri_a), (psi_b, tri_b) = _digamma_trigamma(a), _digamma_trigamma(b)
    slope, pull = a * nu, logit_y - psi_a + psi_b
    information = slope * slope * (tri_a + tri_b)
    value = _beta_value(shape, eta, logit_y, log1m_y)
    return value, slope * pull, information - slope * (nu - mu) * pull, information


def _gaussian_value(shape: Array, eta: Array, y: Array, _: Array) -> Array:
    sigma = shape[..., 0, None, None, None]
    return -0.5 * ((y - eta) / sigma) ** 2 - jnp.log(sigma) - LOG_ROOT_TWO_PI


def _gaussian_terms(shape: Array, eta: Array, y: Array, _: Array) -> tuple[Array, ...]:
    precision = jnp.broadcast_to(shape[..., 0, None, None, None] ** -2.0, eta.shape)
    return _gaussian_value(shape, eta, y, _), (y - eta) * precision, precision, precision


def _student_value(shape: Array, eta: Array, y: Array, _: Array) -> Array:
    sigma, nu = shape[..., 0, None, None, None], shape[..., 1, None, None, None]
    gammaln = jax.scipy.special.gammaln
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * jnp.log(nu * jnp.pi)
    q = ((y - eta) / sigma) ** 2 / nu
    return constant - jnp.log(sigma) - (nu + 1) / 2 * jnp.log1p(q)


def _student_terms(shape: Array, eta: Array, y: Array, _: Array) -> tuple[Array, ...]:
    sigma, nu = shape[..., 0, None, None, None], shape[..., 1, None, None, None]
    off = y - eta
    inverse = 1 / (nu * sigma**2)
    q = off * off * inverse
    base = (nu + 1) * inverse / (1 + q)
    information = jnp.broadcast_to((nu + 1) / ((nu + 3) * sigma**2), eta.shape)
    return _student_value(shape, eta, y, _), base * off, base * (1 - q) / (1 + q), information


def _skew_normal_tail(shape: Array, eta: Array, y: Array) -> tuple[Array, ...]:
    """Omega, z, lambda and log Phi(lambda z) by the mean (thesis Algorithm 4.2)."""
    sigma, skew = shape[..., 0, None, None, None], shape[..., 1, None, None, None]
    delta = skew / jnp.sqrt(1 + skew * skew)
    omega = sigma / jnp.sqrt(1 - 2 * delta * delta / jnp.pi)
    z = (y - eta) / omega + delta * math.sqrt(2 / math.pi)
    return omega, z, skew, jax.scipy.special.log_ndtr(skew * z)


def _skew_normal_value(shape: Array, eta: Array, y: Array, _: Array) -> Array:
    omega, z, _, tail = _skew_normal_tail(shape, eta, y)
    return math.log(2) - LOG_ROOT_TWO_PI - jnp.log(omega) - 0.5 * z * z + tail


def _skew_normal_terms(shape: Array, eta: Array, y: Array, _: Array) -> tuple[Array, ...]:
    omega, z, skew, tail = _skew_normal_tail(shape, eta, y)
    mills = jnp.exp(-0.5 * (skew * z) ** 2 - LOG_ROOT_TWO_PI - tail)
    curvature = (1 + skew * skew * mills * (mills + skew * z)) / omega**2
    gradient = (z - skew * mills) / omega
    return _skew_normal_value(shape, eta, y, _), gradient, curvature, curvature


VALUES = {
    "beta": _beta_value,
    "gaussian": _gaussian_value,
    "student": _student_value,
    "skew_normal": _skew_normal_value,
}
TERMS = {
    "beta": _beta_terms,
    "gaussian": _gaussian_terms,
    "student": _student_terms,
    "skew_normal": _skew_normal_terms,
}
