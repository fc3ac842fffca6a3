"""Laplace within importance sampling for many tables of one shape at once.

The same road as `surefoot.inference.bayes.laplace_is` with a fixed number of rounds, so that all
tables take it in step: mode of theta by Newton steps on finite differences, a
mixture of t distributions refitted to weighted draws, draws of the effects with exact weights. The
leading axes of arrays are (tables, values of theta).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from surefoot.errors import ModelError
from surefoot.inference.bayes.accelerator.backend import Array, jax, jnp, lax
from surefoot.inference.bayes.accelerator.dense import dense
from surefoot.inference.bayes.accelerator.device import Accelerator
from surefoot.inference.bayes.accelerator.laplace import newton, weighted_draws
from surefoot.inference.bayes.accelerator.posterior import log_level, log_prior, unpack
from surefoot.inference.bayes.approximation import rough_start
from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.laplace_is import Weighted
from surefoot.inference.bayes.priors import Prior

FloatArray = npt.NDArray[np.float64]

# points of theta a round, and rounds; components besides the guards
POINTS, ROUNDS, COMPONENTS = 256, 4, 3
# values of theta that are on the device at once, for each table
BLOCK = POINTS
MOST_TURNS = 25
MAX_STEPS, TOLERANCE = 40, 1e-6
LENGTHS = 0.5 ** np.arange(0.0, 10.0)
# weights, means and roots of a mixture
Parts = tuple[Array, Array, Array]


class _Mixture(NamedTuple):
    """Mixture of Student t distributions for each table, as `proposal.StudentMixture`."""

    weights: Array
    means: Array
    roots: Array
    df: tuple[int, ...]

    def draw(self, key: Array, n: int) -> Array:
        tables, _, d = self.means.shape
        keys = jax.random.split(key, 3)
        edges = jnp.cumsum(self.weights, axis=1)
        u = jax.random.uniform(keys[0], (tables, n, 1)) * edges[:, None, -1:]
        pick = (u > edges[:, None, :]).sum(axis=2)
        pick = jnp.minimum(pick, len(self.df) - 1)
        z = jax.random.normal(keys[1], (tables, n, d))
        # chi-square with an even number of degrees of freedom is a sum of exponentials
        df = jnp.array(self.df)[pick]
        parts = -2 * jnp.log1p(-jax.random.uniform(keys[2], (tables, n, max(self.df) // 2)))
        square = (parts * (jnp.arange(parts.shape[2]) < df[..., None] // 2)).sum(axis=2)
        row = jnp.arange(tables)[:, None]
        turned = jnp.einsum("tnij,tnj->tni", self.roots[row, pick], z)
        return self.means[row, pick] + turned * jnp.sqrt(df / square)[..., None]

    def log_parts(self, theta: Array) -> tuple[Array, Array]:
        """Log of each weighted component and squared distances, (tables, n, components)."""
        d = theta.shape[2]
        inverse = jnp.linalg.inv(self.roots)
        off = theta[:, :, None] - self.means[:, None]
        white = jnp.einsum("tkij,tnkj->tnki", inverse, off)
        square = (white * white).sum(axis=3)
        df = np.array(self.df, dtype=float)
        constant = [math.lgamma((k + d) / 2) - math.lgamma(k / 2) for k in self.df]
        constant = np.array(constant) - d / 2 * np.log(df * math.pi)
        scale = jnp.log(jnp.diagonal(self.roots, axis1=2, axis2=3)).sum(axis=2)
        level = (jnp.log(self.weights) - scale + constant)[:, None]
        return level - (df + d) / 2 * jnp.log1p(square / df), square

    def log_density(self, theta: Array) -> Array:
        return jax.scipy.special.logsumexp(self.log_parts(theta)[0], axis=2)


def _draw(key: Array, parts: Parts, n: int, df: tuple[int, ...]) -> Array:
    return _Mixture(*parts, df=df).draw(key, n)


@dataclass(frozen=True)
class _Model:
    """What all tables share."""

    kernel: str
    names: tuple[str, ...]
    n_systems: int
    n_topics: int
    fixed: int
    prior_items: tuple[tuple[str, Prior], ...]

    @classmethod
    def of(cls, problem: Problem) -> "_Model":
        data, family = problem.data, problem.family
        sizes = (data.n_systems, data.n_topics, data.fixed)
        return cls(family.kernel, family.shapes, *sizes, tuple(sorted(problem.priors.items())))

    @property
    def size(self) -> int:
        return self.fixed + self.n_systems + self.n_topics

    def log_prior(self, theta: Array) -> Array:
        return log_prior(self.names, dict(self.prior_items), theta)

    def rows(self, theta: Array, centre: Array) -> tuple[Array, Array, Array]:
        """Shapes, rows of normal priors, variance of the level, as the engine for one table."""
        priors = dict(self.prior_items)
        shapes, sd_system, sd_topic = unpack(self.names, priors, theta)
        prior = priors["b"]
        mass, wide = prior.normal_mixture()
        variance = sd_system**2 / self.n_systems + sd_topic**2 / self.n_topics
        total = variance[..., None] + wide
        square = (centre[:, None, None] - prior.location) ** 2
        share = jax.nn.softmax(jnp.log(mass) - 0.5 * (jnp.log(total) + square / total), axis=-1)
        of_level = 1 / (share / total).sum(axis=-1)
        of_b = jnp.maximum(of_level - variance, 1e-3 * of_level)
        slope = priors.get("k")
        of_k = 0.0 if slope is None or not slope.numbers else 1 / slope.numbers[1] ** 2
        columns = [jnp.full_like(of_b, prior.location), 1 / of_b, jnp.full_like(of_b, of_k)]
        columns += [sd_system**-2.0, sd_topic**-2.0]
        return shapes, jnp.stack(columns, axis=-1), variance

    def levels(self, x: Array) -> Array:
        fixed, n = self.fixed, self.n_systems
        means = x[..., fixed : fixed + n].mean(axis=-1) + x[..., fixed + n :].mean(axis=-1)
        return x[..., 0] + means

    def correction(self, level: Array, rows: Array, variance: Array) -> Array:
        """Log of the exact prior density of the level over the normal one of the rows."""
        prior = dict(self.prior_items)["b"]
        total = 1 / rows[..., 1] + variance
        normal = -0.5 * (jnp.log(2 * jnp.pi * total) + (level - prior.location) ** 2 / total)
        return log_level(prior, level, variance) - normal


class _Programs:
    """The compiled steps of one model; few and small, because compilation is what costs."""

    def __init__(self, model: _Model) -> None:
        self.model = model
        self.approximate = jax.jit(self._approximate)
        self.weigh = jax.jit(self._weigh, static_argnames="df")
        self.draw = jax.jit(_draw, static_argnames=("n", "df"))
        self.refit = jax.jit(_refit, static_argnames=("components", "dfs"))

    def _approximate(
        self, data: dict[str, Array], centre: Array, theta: Array, start: Array
    ) -> tuple[Array, dict[str, Array]]:
        """Laplace approximation of the log posterior of theta, and all of what it rests on."""
        model = self.model
        shapes, rows, variance = model.rows(theta, centre)
        x = jnp.broadcast_to(start[:, None], (*theta.shape[:2], model.size))
        found = newton(model.kernel, model.fixed, data, shapes, rows, x, MAX_STEPS, TOLERANCE)
        out = found["log_marginal"] + model.log_prior(theta)
        out += model.correction(model.levels(found["x"]), rows, variance)
        found |= {"shapes": shapes, "rows": rows, "variance": variance}
        return jnp.where(jnp.isfinite(out), out, -jnp.inf), found

    def _weigh(
        self,
        data: dict[str, Array],
        theta: Array,
        found: dict[str, Array],
        z: Array,
        parts: Parts,
        df: tuple[int, ...],
    ) -> tuple[Array, ...]:
        """Draws of the effects, their log weights and their levels."""
        model = self.model
        x, ratio = weighted_draws(model.kernel, model.fixed, data, found["shapes"], found, z)
        levels = model.levels(x)
        ratio += model.correction(levels, found["rows"][:, :, None], found["variance"][:, :, None])
        ratio += (model.log_prior(theta) - _Mixture(*parts, df=df).log_density(theta))[..., None]
        return x, jnp.where(jnp.isfinite(ratio), ratio, -jnp.inf), levels


@cache
def _programs(model: _Model) -> _Programs:
    return _Programs(model)


def weighted_many(
    accelerator: Accelerator, problems: Sequence[Problem], thetas: int, per_theta: int, seed: int
) -> list[Weighted]:
    """Weighted draws of every table.

    Parameters
    ----------
    problems : sequence of Problem
        One family and prior, tables of one shape; missing cells and masses may differ.
    thetas, per_theta : int
        Values of the hyperparameters, and draws of the effects for each.

    Returns
    -------
    list of Weighted
        As `laplace_is.finish_weighted` takes them; draws of one theta stand together.
    """
    model = _Model.of(problems[0])
    if "lambda" in model.names:
        raise ModelError("tables in step: any family but skew_normal, which may have two modes")
    if any(_Model.of(problem) != model for problem in problems):
        raise ModelError("tables fitted in step must have one shape, family and prior")
    with accelerator.active():
        key = jax.random.key(seed & 0xFFFFFFFF)
        theta, x, log_weight, levels = _weighted(model, problems, thetas, per_theta, key)
    return [
        Weighted(
            np.repeat(theta[t], per_theta, axis=0),
            x[t].reshape(-1, model.size),
            log_weight[t].ravel(),
            levels[t].ravel(),
        )
        for t in range(len(problems))
    ]


def _weighted(
    model: _Model, problems: Sequence[Problem], thetas: int, per_theta: int, key: Array
) -> list[FloatArray]:
    programs = _programs(model)
    tables = [dense(problem.data) for problem in problems]
    depth = max(table["mask"].shape[2] for table in tables)
    data = {
        name: jnp.asarray(np.stack([_deep(table[name], depth) for table in tables])[:, None])
        for name in tables[0]
    }
    centre = np.array([problem.centre for problem in problems])

    def log_marginal(theta: FloatArray, start: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, found = programs.approximate(data, centre, theta, start)
        return np.asarray(value), np.asarray(found["x"])

    start = np.stack([rough_start(problem) for problem in problems])
    x = np.zeros((len(problems), model.size))
    x[:, 0] = centre
    mode, covariance, x = _find_mode(log_marginal, start, x)
    mixture = _first_mixture(mode, covariance)
    used, drawn, values = [], [], []
    for turn in range(ROUNDS):
        key, now = jax.random.split(key)
        theta = programs.draw(now, mixture[:3], n=POINTS, df=mixture.df)
        value, _ = programs.approximate(data, centre, theta, x)
        used.append(mixture)
        drawn.append(theta)
        values.append(value)
        every, target = jnp.concatenate(drawn, axis=1), jnp.concatenate(values, axis=1)
        found = programs.refit(
            every, target, [m[:3] for m in used],
            components=1 if turn == 0 else COMPONENTS, dfs=tuple(m.df for m in used),
        )  # fmt: skip
        guards = start.shape[1] + 1
        df = (8,) * (found[0].shape[1] - guards) + (4,) * guards
        mixture = _Mixture(found[0], found[1], found[2], df)
    out: list[list[FloatArray]] = []
    for _ in range(-(-thetas // BLOCK)):
        key, for_theta, for_z = jax.random.split(key, 3)
        theta = programs.draw(for_theta, mixture[:3], n=BLOCK, df=mixture.df)
        _, approximation = programs.approximate(data, centre, theta, x)
        z = jax.random.normal(for_z, (*theta.shape[:2], per_theta, model.size))
        parts = programs.weigh(data, theta, approximation, z, mixture[:3], df=mixture.df)
        out.append([np.asarray(part) for part in (theta, *parts)])
    return [np.concatenate(column, axis=1) for column in zip(*out, strict=True)]


def _deep(values: FloatArray, depth: int) -> FloatArray:
    return np.pad(values, ((0, 0), (0, 0), (0, depth - values.shape[2])))


def _find_mode(
    log_marginal: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]],
    at: FloatArray,
    x: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mode of theta, covariance there, and mode of the effects: `proposal.find_mode` in step."""
    tables, d = at.shape
    pairs = [(i, j) for i in range(d) for j in range(i)]
    offsets = np.zeros((2 * d + 2 * len(pairs), d))
    for i in range(d):
        offsets[2 * i, i], offsets[2 * i + 1, i] = 1, -1
    for p, (i, j) in enumerate(pairs):
        offsets[2 * d + 2 * p, [i, j]], offsets[2 * d + 2 * p + 1, [i, j]] = 1, -1
    row = np.arange(tables)
    most = max(len(offsets), len(LENGTHS))  # one size, one compilation

    def evaluate(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        n = theta.shape[1]
        padded = np.pad(theta, ((0, 0), (0, most - n), (0, 0)), mode="edge")
        value, modes = log_marginal(padded, x)
        return value[:, :n], modes[:, :n]

    first, modes = evaluate(at[:, None])
    value, x = first[:, 0], modes[:, 0]
    step = np.full((tables, d), 0.05)
    active = np.ones(tables, bool)
    covariance = np.repeat(np.eye(d)[None], tables, axis=0)
    for _ in range(MOST_TURNS):
        around, _ = evaluate(at[:, None] + offsets * step[:, None])
        around = np.where(np.isfinite(around), around, value[:, None] - 1e3)
        up, down = around[:, 0 : 2 * d : 2], around[:, 1 : 2 * d : 2]
        gradient = (up - down) / (2 * step)
        hessian = np.zeros((tables, d, d))
        hessian[:, range(d), range(d)] = (up - 2 * value[:, None] + down) / step**2
        for p, (i, j) in enumerate(pairs):
            both = around[:, 2 * d + 2 * p] + around[:, 2 * d + 2 * p + 1]
            cross = both - up[:, i] - down[:, i] - up[:, j] - down[:, j] + 2 * value
            hessian[:, i, j] = hessian[:, j, i] = cross / (2 * step[:, i] * step[:, j])
        root, vectors = np.linalg.eigh(-hessian)
        root = np.maximum(np.abs(root), 0.05)
        covariance = np.einsum("tij,tj,tkj->tik", vectors, 1 / root, vectors)
        move = np.einsum("tij,tj->ti", covariance, gradient)
        move *= np.minimum(1.0, 1.5 / (np.abs(move).max(axis=1) + 1e-300))[:, None]
        tries = at[:, None] + LENGTHS[:, None] * move[:, None]
        values, modes = evaluate(tries)
        best = values.argmax(axis=1)
        gain = values[row, best] - value
        better = (gain > 0) & active
        at = np.where(better[:, None], tries[row, best], at)
        x = np.where(better[:, None], modes[row, best], x)
        value = np.where(better, values[row, best], value)
        step = np.clip(0.3 * np.sqrt(covariance[:, range(d), range(d)]), 1e-4, 0.3)
        active &= gain >= 1e-3
        if not active.any():
            break
    return at, covariance, x


def _first_mixture(mode: FloatArray, covariance: FloatArray) -> _Mixture:
    weights = np.repeat([[0.75, 0.25]], len(mode), axis=0)
    roots = np.stack([np.linalg.cholesky(w * covariance) for w in (1.2, 6.0)], axis=1)
    return _Mixture(weights, np.stack([mode, mode], axis=1), roots, (6, 4))


def _refit(
    theta: Array,
    target: Array,
    used: Sequence[Parts],
    components: int,
    dfs: tuple[tuple[int, ...], ...],
) -> Parts:
    """Expectation maximisation with 8 df, and wide guards: `proposal._refit` in step."""
    # every point counts under the mixture of all proposals so far
    logs = [_Mixture(*parts, df=df).log_density(theta) for parts, df in zip(used, dfs, strict=True)]
    pooled = jax.scipy.special.logsumexp(jnp.stack(logs), axis=0)
    weight = jax.nn.softmax(target - pooled, axis=1)
    tables, _, d = theta.shape
    mean = jnp.einsum("tn,tni->ti", weight, theta)
    spread = theta - mean[:, None]
    covariance = jnp.einsum("tn,tni,tnj->tij", weight, spread, spread) + 1e-10 * jnp.eye(d)
    direction = jnp.linalg.eigh(covariance)[1][:, :, -1]
    order = jnp.argsort(jnp.einsum("tni,ti->tn", spread, direction), axis=1)
    rank = jnp.argsort(order, axis=1)
    through = jnp.cumsum(jnp.take_along_axis(weight, order, axis=1), axis=1)
    slices = jnp.minimum((through * components).astype(int), components - 1)
    slices = jnp.take_along_axis(slices, rank, axis=1)
    share = jax.nn.one_hot(slices, components)
    latent = jnp.ones_like(share)
    df = (8,) * components

    def again(_: Any, state: tuple[Array, ...]) -> tuple[Array, ...]:
        share, latent = state[:2]
        mass = share * weight[:, :, None]
        total = mass.sum(axis=1)
        scaled = mass * latent
        amount = jnp.maximum(scaled.sum(axis=1), 1e-12)
        means = jnp.einsum("tnk,tni->tki", scaled, theta) / amount[:, :, None]
        off = theta[:, :, None] - means[:, None]
        scatter = jnp.einsum("tnk,tnki,tnkj->tkij", scaled, off, off)
        scatter /= jnp.maximum(total, 1e-12)[:, :, None, None]
        roots = jnp.linalg.cholesky(0.97 * scatter + 0.03 * covariance[:, None])
        shares = jnp.maximum(total, 0.02)
        shares /= shares.sum(axis=1, keepdims=True)
        logs, squares = _Mixture(shares, means, roots, df=df).log_parts(theta)
        return jax.nn.softmax(logs, axis=2), (8.0 + d) / (8.0 + squares), shares, means, roots

    state = (
        *(share, latent, jnp.zeros((tables, components))),
        *(jnp.zeros((tables, components, d)), jnp.zeros((tables, components, d, d))),
    )
    _, _, shares, means, roots = lax.fori_loop(0, 12 if components > 1 else 3, again, state)
    guard = 0.03
    wide = [4.0 * covariance]
    for i in range(d):
        wide.append((1.5 * covariance).at[:, i, i].add(12.0 * covariance[:, i, i]))
    guards = jnp.linalg.cholesky(jnp.stack(wide, axis=1))
    return (
        jnp.concatenate([(1 - guard * (d + 1)) * shares, jnp.full((tables, d + 1), guard)], axis=1),
        jnp.concatenate([means, jnp.repeat(mean[:, None], d + 1, axis=1)], axis=1),
        jnp.concatenate([roots, guards], axis=1),
    )
