"""Priors of theta and of the level, differentiable; constants that do not matter are left out."""

from collections.abc import Mapping, Sequence

from surefoot.inference.bayes.accelerator.backend import Array, jax, jnp
from surefoot.inference.bayes.priors import Prior


def log_density(prior: Prior, x: Array) -> Array:
    """Log density of a prior, inside its support, up to a constant."""
    name, p = prior.distribution, prior.numbers
    if name in ("t", "half_t"):
        return -(p[0] + 1) / 2 * jnp.log1p(((x - p[1]) / p[2]) ** 2 / p[0])
    if name in ("normal", "half_normal"):
        mean, sd = p if name == "normal" else (0.0, p[0])
        return -0.5 * ((x - mean) / sd) ** 2
    if name == "exponential":
        return -p[0] * x
    if name == "gamma":
        return (p[0] - 1) * jnp.log(x) - p[1] * x
    if name == "uniform":
        return jnp.where((x > p[0]) & (x < p[1]), 0.0, -jnp.inf)
    return jnp.zeros_like(x)


def unpack(shapes: Sequence[str], theta: Array) -> tuple[Array, Array, Array]:
    """Theta (..., d) -> kernel shapes (..., 2), sd_system, sd_topic."""
    theta = jnp.clip(theta, -50, 50)
    columns = []
    for column, name in enumerate(shapes):
        value = theta[..., column]
        columns.append(value if name == "lambda" else jnp.exp(value) + (name == "nu"))
    columns += [jnp.zeros_like(theta[..., 0])] * (2 - len(columns))
    return jnp.stack(columns, axis=-1), jnp.exp(theta[..., -2]), jnp.exp(theta[..., -1])


def log_prior(names: Sequence[str], priors: Mapping[str, Prior], theta: Array) -> Array:
    """Log prior density of theta, Jacobian included, up to a constant."""
    shapes, sd_system, sd_topic = unpack(names, theta)
    out = theta[..., -2] + theta[..., -1]
    out += log_density(priors["sd_system"], sd_system)
    out += log_density(priors["sd_topic"], sd_topic)
    for column, name in enumerate(names):
        out += log_density(priors[name], shapes[..., column])
        out += 0.0 if name == "lambda" else theta[..., column]
    return out


def log_level(prior: Prior, level: Array, variance: Array) -> Array:
    """Log density of a level that is N(b, variance), b integrated out over its prior."""
    mass, wide = prior.normal_mixture()
    total = variance[..., None] + wide
    off = (level - prior.location)[..., None]
    logs = jnp.log(mass) - 0.5 * (jnp.log(2 * jnp.pi * total) + off * off / total)
    return jax.scipy.special.logsumexp(logs, axis=-1)
