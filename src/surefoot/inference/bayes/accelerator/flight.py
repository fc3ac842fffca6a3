"""Hamiltonian Monte Carlo: the log posterior in sum-to-zero coordinates, differentiated by JAX."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.accelerator.backend import Array, jax, jnp, lax
from surefoot.inference.bayes.accelerator.dense import dense
from surefoot.inference.bayes.accelerator.laplace import log_likelihood
from surefoot.inference.bayes.accelerator.posterior import log_density as log_prior_density
from surefoot.inference.bayes.accelerator.posterior import log_level, log_prior, unpack
from surefoot.inference.bayes.coordinates import contrasts
from surefoot.inference.bayes.families import Problem

FloatArray = npt.NDArray[np.float64]
Run = Callable[..., Any]


class Flight:
    """Trajectories of chains, as `surefoot.inference.bayes.hmc` makes them leap by leap."""

    def __init__(self, run: Run, problem: Problem, centring: tuple[float, float]) -> None:
        self._run = run
        data = problem.data
        self.data = dense(data)
        bases = contrasts(data.n_systems), contrasts(data.n_topics)
        d, f, n = problem.dimension, data.fixed, data.n_systems - 1
        names, family = problem.family.shapes, problem.family.kernel

        def log_density(q: Array, table: dict[str, Array]) -> Array:
            theta, fixed, u, v = jnp.split(q, [d, d + f, d + f + n], axis=-1)
            shapes, sd_system, sd_topic = unpack(names, problem.priors, theta)
            out = log_prior(names, problem.priors, theta)
            variance = sd_system**2 / data.n_systems + sd_topic**2 / data.n_topics
            out += log_level(problem.priors["b"], fixed[..., -1], variance)
            if f == 2:
                out += log_prior_density(problem.priors["k"], fixed[..., 0])
            effects = [fixed[..., ::-1]]
            for block, basis, sd, c in zip(
                (u, v), bases, (sd_system, sd_topic), centring, strict=True
            ):
                effects.append((block @ basis.T) * sd ** (1 - c))
                out += -0.5 * (block * block).sum() * sd ** (-2 * c)
                out -= (basis.shape[0] - 1) * c * jnp.log(sd)
            x = jnp.concatenate(effects, axis=-1)
            return out + log_likelihood(family, x, shapes, table, f)

        both = jax.vmap(jax.value_and_grad(log_density), in_axes=(0, None))

        def program(
            table: dict[str, Array],
            mean: Array,
            root: Array,
            z: Array,
            slope: Array,
            momentum: Array,
            step: Array,
            leaps: Array,
        ) -> tuple[Array, ...]:
            def leap(k: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
                z, _, _, slope, momentum = state
                z = z + step * momentum
                q = mean + z @ root.T
                value, by_q = both(q, table)
                slope = by_q @ root
                last = jnp.where(k < leaps - 1, 1.0, 0.5)
                return z, q, value, slope, momentum + last * step * slope

            start = (z, z, z[:, 0], slope, momentum + 0.5 * step * slope)
            out: tuple[Array, ...] = lax.fori_loop(0, leaps, leap, start)
            return out

        self._fly = jax.jit(program)
        self._both = jax.jit(both)

    def log_density(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log posterior ``(n,)``, up to a constant, and its gradient ``(n, size)``."""
        out: tuple[FloatArray, FloatArray] = self._run(self._both, q, self.data)
        return out

    def fly(
        self,
        mean: FloatArray,
        root: FloatArray,
        z: FloatArray,
        slope: FloatArray,
        momentum: FloatArray,
        step: float,
        leaps: int,
    ) -> tuple[FloatArray, ...]:
        """Leapfrog steps of all chains: whitened and plain positions, values, slopes, momenta."""
        arguments = (self.data, mean, root, z, slope, momentum, step, leaps)
        out: tuple[FloatArray, ...] = self._run(self._fly, *arguments)
        return out
