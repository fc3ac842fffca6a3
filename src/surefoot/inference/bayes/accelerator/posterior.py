"""Priors of theta and of the level, differentiable; constants that do not matter are left out."""

from collections.abc import Mapping, Sequence

from surefoot.inference.bayes.accelerator.backend import Array, jax, jnp
from surefoot.inference.bayes.links import FAR, FAR_LOGIT, Link
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


def links(names: Sequence[str], priors: Mapping[str, Prior]) -> tuple[Link, ...]:
    """As `Problem.links`."""
    return tuple(Link.of(name, priors[name]) for name in (*names, "sd_system", "sd_topic"))


def _value(link: Link, u: Array) -> Array:
    if link.kind == "identity":
        return u
    if link.kind == "log":
        return link.low + jnp.exp(jnp.clip(u, -FAR, FAR))
    return link.low + (link.high - link.low) * jax.nn.sigmoid(jnp.clip(u, -FAR_LOGIT, FAR_LOGIT))


def _log_slope(link: Link, u: Array) -> Array:
    if link.kind == "logit":
        return jax.nn.log_sigmoid(u) + jax.nn.log_sigmoid(-u)
    return u if link.kind == "log" else jnp.zeros_like(u)


def unpack(
    names: Sequence[str], priors: Mapping[str, Prior], theta: Array
) -> tuple[Array, Array, Array]:
    """Theta (..., d) -> kernel shapes (..., 2), sd_system, sd_topic."""
    values = [_value(link, theta[..., c]) for c, link in enumerate(links(names, priors))]
    columns = values[:-2] + [jnp.zeros_like(theta[..., 0])] * (2 - len(names))
    return jnp.stack(columns, axis=-1), values[-2], values[-1]


def log_prior(names: Sequence[str], priors: Mapping[str, Prior], theta: Array) -> Array:
    """Log prior density of theta, Jacobian included, up to a constant."""
    out = jnp.zeros_like(theta[..., 0])
    every = zip(links(names, priors), (*names, "sd_system", "sd_topic"), strict=True)
    for column, (link, name) in enumerate(every):
        u = theta[..., column]
        out += log_density(priors[name], _value(link, u)) + _log_slope(link, u)
    return out


def log_level(prior: Prior, level: Array, variance: Array) -> Array:
    """Log density of a level that is N(b, variance), b integrated out over its prior."""
    mass, wide = prior.normal_mixture()
    total = variance[..., None] + wide
    off = (level - prior.location)[..., None]
    logs = jnp.log(mass) - 0.5 * (jnp.log(2 * jnp.pi * total) + off * off / total)
    return jax.scipy.special.logsumexp(logs, axis=-1)
