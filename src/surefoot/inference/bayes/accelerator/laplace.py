"""Laplace approximations of many hyperparameter values at once, as in cpp/laplace.cpp.

Leading axes are free: (m,) for one table, (tables, m) for many. Parameter vectors are (b, [k],
systems, topics).
"""

from functools import cache, partial
from typing import Any

from surefoot.inference.bayes.accelerator.backend import Array, jax, jnp, lax
from surefoot.inference.bayes.accelerator.likelihoods import TERMS, VALUES


def _predictor(x: Array, data: dict[str, Array], fixed: int) -> Array:
    n_systems = data["first"].shape[-3]
    s, t = x[..., fixed : fixed + n_systems], x[..., fixed + n_systems :]
    eta = x[..., 0, None, None, None] + s[..., :, None, None] + t[..., None, :, None]
    return eta + x[..., 1, None, None, None] * data["covariate"] if fixed == 2 else eta


def log_likelihood(
    family: str, x: Array, shape: Array, data: dict[str, Array], fixed: int
) -> Array:
    """Log likelihood of each parameter vector; leading axes as those of x and shape."""
    value = VALUES[family](shape, _predictor(x, data, fixed), data["first"], data["second"])
    return (value * data["mask"]).sum(axis=(-3, -2, -1))


def _precisions(prior: Array, n_systems: int, n_topics: int, fixed: int) -> Array:
    """Prior precision of each entry of x, from rows of location, b, k, system, topic."""
    wide = partial(jnp.repeat, axis=-1)
    parts = [prior[..., 1:2], *([prior[..., 2:3]] if fixed == 2 else [])]
    parts += [wide(prior[..., 3:4], n_systems), wide(prior[..., 4:5], n_topics)]
    return jnp.concatenate(parts, axis=-1)


def _log_constant(prior: Array, n_systems: int, n_topics: int) -> Array:
    """What the normal priors have before their exponentials."""
    counts = jnp.array([n_systems, n_topics])
    return 0.5 * (jnp.log(prior[..., 1]) + (counts * jnp.log(prior[..., 3:5])).sum(axis=-1))


def _factor(w: Array, prior: Array, data: dict[str, Array], fixed: int) -> tuple[Array, ...]:
    """Curvature with the larger block of effects eliminated: its diagonal, coupling, Cholesky."""
    plain = w.sum(axis=-1)
    n_systems, n_topics = plain.shape[-2:]
    topics_large = n_topics >= n_systems
    to_large = -2 if topics_large else -1  # the axis that sums to the larger block
    p_large, p_small = (4, 3) if topics_large else (3, 4)
    by_large, by_small = plain.sum(axis=to_large), plain.sum(axis=-3 - to_large)
    cells = jnp.swapaxes(plain, -1, -2) if topics_large else plain  # (large, small)
    columns, rows = [by_large[..., None]], [by_small]
    corner = [[plain.sum(axis=(-2, -1)) + prior[..., 1]]]
    if fixed == 2:
        tilted = (w * data["covariate"]).sum(axis=-1)
        square = (w * data["covariate"] ** 2).sum(axis=(-3, -2, -1))
        columns.append(tilted.sum(axis=to_large)[..., None])
        rows.append(tilted.sum(axis=-3 - to_large))
        cross = tilted.sum(axis=(-2, -1))
        corner = [[corner[0][0], cross], [cross, square + prior[..., 2]]]
    coupling = jnp.concatenate([*columns, cells], axis=-1)
    diagonal = by_large + prior[..., p_large, None]
    side = jnp.stack(rows, axis=-2)
    top = jnp.stack([jnp.stack(row, axis=-1) for row in corner], axis=-2)
    small = (by_small + prior[..., p_small, None])[..., None] * jnp.eye(by_small.shape[-1])
    full = jnp.concatenate(
        [
            jnp.concatenate([top, side], axis=-1),
            jnp.concatenate([jnp.swapaxes(side, -1, -2), small], axis=-1),
        ],
        axis=-2,
    )
    weighted = coupling / diagonal[..., None]
    schur = full - jnp.einsum("...la,...lb->...ab", weighted, coupling)
    return diagonal, coupling, jnp.linalg.cholesky(schur)


def _split(x: Array, n_systems: int, n_topics: int, fixed: int) -> tuple[Array, Array]:
    """Fixed effects with the smaller block, and the larger block."""
    s, t = x[..., fixed : fixed + n_systems], x[..., fixed + n_systems :]
    small, large = (s, t) if n_topics >= n_systems else (t, s)
    return jnp.concatenate([x[..., :fixed], small], axis=-1), large


def _join(small: Array, large: Array, n_systems: int, n_topics: int, fixed: int) -> Array:
    blocks = (small[..., fixed:], large)
    blocks = blocks if n_topics >= n_systems else blocks[::-1]
    return jnp.concatenate([small[..., :fixed], *blocks], axis=-1)


def _triangular(root: Array, right: Array, *, transposed: bool) -> Array:
    root = jnp.broadcast_to(root, (*right.shape[:-1], *root.shape[-2:]))
    solved = lax.linalg.triangular_solve(
        root, right[..., None], left_side=True, lower=True, transpose_a=transposed
    )
    return solved[..., 0]


def newton(
    family: str,
    fixed: int,
    data: dict[str, Array],
    shape: Array,
    prior: Array,
    x: Array,
    max_steps: Array,
    tolerance: Array,
) -> dict[str, Array]:
    """Modes of the effects, with the factors of the curvature there (cpp/laplace.cpp)."""
    n_systems, n_topics = data["first"].shape[-3:-1]
    lead = shape.shape[:-1]
    precision = _precisions(prior, n_systems, n_topics, fixed)
    location = jnp.zeros_like(x).at[..., 0].set(prior[..., 0])
    split = partial(_split, n_systems=n_systems, n_topics=n_topics, fixed=fixed)
    join = partial(_join, n_systems=n_systems, n_topics=n_topics, fixed=fixed)

    def curvature(x: Array) -> tuple[Array, ...]:
        terms = TERMS[family](shape, _predictor(x, data, fixed), data["first"], data["second"])
        value, g, h, i = (jnp.where(data["mask"] > 0, term, 0.0) for term in terms)
        off = x - location
        posterior = value.sum(axis=(-3, -2, -1)) - 0.5 * (precision * off * off).sum(axis=-1)
        total = [g.sum(axis=(-3, -2, -1))[..., None]]
        if fixed == 2:
            total.append((g * data["covariate"]).sum(axis=(-3, -2, -1))[..., None])
        gradient = jnp.concatenate([*total, g.sum(axis=(-2, -1)), g.sum(axis=(-3, -1))], axis=-1)
        return posterior, gradient - precision * off, h, i

    def factors(h: Array, i: Array) -> tuple[Array, ...]:
        diagonal, coupling, root = _factor(h, prior, data, fixed)
        observed = (diagonal > 0).all(axis=-1) & jnp.isfinite(root).all(axis=(-2, -1))

        # Fisher scoring where the observed information is not positive definite
        def fisher(_: Any) -> tuple[Array, ...]:
            return _factor(jnp.where(observed[..., None, None, None], h, i), prior, data, fixed)

        found = lax.cond(observed.all(), lambda _: (diagonal, coupling, root), fisher, None)
        return *found, observed

    def body(state: dict[str, Array]) -> dict[str, Array]:
        posterior, gradient, h, i = curvature(state["x"])
        back = state["moved"] & ~(
            posterior >= state["previous"] - 1e-7 * (1 + jnp.abs(state["previous"]))
        )
        back &= ~state["done"]
        diagonal, coupling, root, observed = factors(h, i)
        small, large = split(gradient)
        right = small - jnp.einsum("...la,...l->...a", coupling, large / diagonal)
        inner = _triangular(root, _triangular(root, right, transposed=False), transposed=True)
        outer = (large - jnp.einsum("...la,...a->...l", coupling, inner)) / diagonal
        step = join(inner, outer)
        largest = jnp.abs(step).max(axis=-1)
        failed = ~(largest < 1e6) | ~jnp.isfinite(posterior)
        step = step * jnp.where(largest > 4, 4 / largest, 1.0)[..., None]
        last = state["count"] >= max_steps
        halved = 0.5 * state["step"]
        new = jnp.where(back[..., None], state["x"] - halved, state["x"] + step)
        settled = (largest < tolerance) & ~back
        status = jnp.where(observed, jnp.where(settled, 0.0, 1.0), 2.0)
        status = jnp.where((failed & ~back) | (back & last), 3.0, status)
        stays = state["done"]

        def keep(old: Array, fresh: Array, also: Array = stays) -> Array:
            return jnp.where(also.reshape(also.shape + (1,) * (fresh.ndim - also.ndim)), old, fresh)

        # what a last step gains, to second order
        posterior += jnp.where(settled, 0.5 * (gradient * step).sum(axis=-1), 0.0)
        information = jnp.where(observed, h.sum(axis=(-3, -2, -1)), i.sum(axis=(-3, -2, -1)))
        # after a step too far the factors of the point before it stand
        frozen = stays | back
        return {
            "x": keep(state["x"], jnp.where((failed & ~back)[..., None], state["x"], new)),
            "step": keep(state["step"], jnp.where(back[..., None], halved, step)),
            "previous": keep(state["previous"], posterior, frozen),
            "moved": state["moved"] | ~stays,
            "done": stays | (status == 3.0) | settled | (max_steps == 0),
            "status": keep(state["status"], status),
            "diagonal": keep(state["diagonal"], diagonal, frozen),
            "coupling": keep(state["coupling"], coupling, frozen),
            "root": keep(state["root"], root, frozen),
            "information": keep(state["information"], information, frozen),
            "count": state["count"] + 1,
        }

    diagonal, coupling, root = jax.eval_shape(lambda: _factor(curvature(x)[2], prior, data, fixed))
    state = {
        "x": x,
        "step": jnp.zeros_like(x),
        "previous": jnp.full(lead, -jnp.inf),
        "moved": jnp.zeros(lead, bool),
        "done": jnp.zeros(lead, bool),
        "status": jnp.ones(lead),
        "diagonal": jnp.ones(diagonal.shape),
        "coupling": jnp.zeros(coupling.shape),
        "root": jnp.zeros(root.shape) + jnp.eye(root.shape[-1]),
        "information": jnp.zeros(lead),
        "count": jnp.zeros((), int),
    }
    state = lax.while_loop(lambda s: (s["count"] <= max_steps) & ~s["done"].all(), body, state)
    log_det = jnp.log(state["diagonal"]).sum(axis=-1)
    log_det += 2 * jnp.log(jnp.diagonal(state["root"], axis1=-2, axis2=-1)).sum(axis=-1)
    constant = _log_constant(prior, n_systems, n_topics)
    posterior = jnp.where(state["status"] == 3, -jnp.inf, state["previous"])
    out: dict[str, Array] = state | {
        "log_det": log_det,
        "constant": constant,
        "log_marginal": posterior + constant - 0.5 * log_det,
        "precision": precision,
        "location": location,
    }
    return out


def weighted_draws(
    family: str,
    fixed: int,
    data: dict[str, Array],
    shape: Array,
    found: dict[str, Array],
    z: Array,
) -> tuple[Array, Array]:
    """Draws (..., k, size) around the modes and their log importance ratios (..., k)."""
    n_systems, n_topics = data["first"].shape[-3:-1]
    n_small = found["root"].shape[-1]
    diagonal = found["diagonal"][..., None, :]
    # the right-hand sides of one factor side by side
    inner = lax.linalg.triangular_solve(
        found["root"], jnp.swapaxes(z[..., :n_small], -1, -2),
        left_side=True, lower=True, transpose_a=True,
    )  # fmt: skip
    inner = jnp.swapaxes(inner, -1, -2)
    outer = z[..., n_small:] / jnp.sqrt(diagonal)
    outer -= jnp.einsum("...la,...ka->...kl", found["coupling"], inner) / diagonal
    failed = (found["status"] == 3)[..., None]
    off_mode = _join(inner, outer, n_systems, n_topics, fixed)
    x = found["x"][..., None, :] + jnp.where(failed[..., None], 0.0, off_mode)
    inflated = {name: value[..., None, :, :, :] for name, value in data.items()}
    off = x - found["location"][..., None, :]
    value = log_likelihood(family, x, shape[..., None, :], inflated, fixed)
    value -= 0.5 * (found["precision"][..., None, :] * off * off).sum(axis=-1)
    around = found["constant"] - 0.5 * found["log_det"]
    ratio = value + around[..., None] + 0.5 * (z * z).sum(axis=-1)
    return x, jnp.where(failed, -jnp.inf, ratio)


def _leaning_draws(
    family: str,
    fixed: int,
    data: dict[str, Array],
    found: dict[str, Array],
    of: Array,
    shape: Array,
    prior: Array,
    shift: Array,
    z: Array,
) -> tuple[Array, Array]:
    """A draw each, with its own shape and prior, around the approximation of another value."""
    n_systems, n_topics = data["first"].shape[-3:-1]
    names = ("x", "diagonal", "coupling", "root", "log_det", "status")
    leaned = {name: found[name][of] for name in names}
    leaned["x"] += shift
    leaned["precision"] = _precisions(prior, n_systems, n_topics, fixed)
    leaned["location"] = jnp.zeros_like(shift).at[..., 0].set(prior[..., 0])
    leaned["constant"] = _log_constant(prior, n_systems, n_topics)
    draws, ratio = weighted_draws(family, fixed, data, shape, leaned, z[:, None])
    return draws[:, 0], ratio[:, 0]


@cache
def laplace_program(family: str, fixed: int) -> Any:
    """Modes, log marginals, status, information, draws and ratios of one table, compiled."""

    def program(
        data: dict[str, Array],
        shape: Array,
        prior: Array,
        start: Array,
        max_steps: Array,
        tolerance: Array,
        leaning: tuple[Array, ...],
    ) -> tuple[Array, ...]:
        found = newton(family, fixed, data, shape, prior, start, max_steps, tolerance)
        draws, ratio = leaning[-1], jnp.zeros(len(leaning[-1]))
        if len(draws):
            draws, ratio = _leaning_draws(family, fixed, data, found, *leaning)
        parts = ("x", "log_marginal", "status", "information")
        return *(found[name] for name in parts), draws, ratio

    return jax.jit(program)
