"""Replicates with the counters of cpp/replicate.cpp.

A cell of a draw gets the same random words on either machine, and so the same replicate up to
rounding in single precision.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from surefoot.inference.bayes.accelerator.backend import Array, jax, jnp, lax

_NORMALS, _MORE_NORMALS, _MASSES = 0x80000000, 0x80000001, 0x80000002
_MOST_ATTEMPTS = 200


def _philox(counter: Sequence[Array], k0: Array, k1: Array) -> tuple[Array, ...]:
    """Philox4x32-10 (Salmon et al. 2011)."""
    c0, c1, c2, c3 = counter
    for turn in range(10):
        p0 = c0.astype(jnp.uint64) * jnp.uint64(0xD2511F53)
        p1 = c2.astype(jnp.uint64) * jnp.uint64(0xCD9E8D57)
        a = k0 + jnp.uint32(turn * 0x9E3779B9 & 0xFFFFFFFF)
        b = k1 + jnp.uint32(turn * 0xBB67AE85 & 0xFFFFFFFF)
        high0, high1 = (p >> jnp.uint64(32) for p in (p0, p1))
        c0, c2 = high1.astype(jnp.uint32) ^ c1 ^ a, high0.astype(jnp.uint32) ^ c3 ^ b
        c1, c3 = p1.astype(jnp.uint32), p0.astype(jnp.uint32)
    return c0, c1, c2, c3


def _uniform(word: Array) -> Array:
    """Uniform on (0, 1] in single precision, with steps of 2^-32 near zero."""
    high = (word >> jnp.uint32(8)).astype(jnp.float32)
    low = (word & jnp.uint32(255)).astype(jnp.float32)
    return high * jnp.float32(2.0**-24) + (low + jnp.float32(0.5)) * jnp.float32(2.0**-32)


def _normal_pair(u: Array, turn: Array) -> tuple[Array, Array]:
    """Box and Muller: radius times cosine and sine of a full turn times word / 2^32."""
    radius = jnp.sqrt(-2 * jnp.log(_uniform(u)))
    quadrant = (turn + jnp.uint32(0x20000000)) >> jnp.uint32(30)
    rest = lax.bitcast_convert_type(turn - (quadrant << jnp.uint32(30)), jnp.int32)
    angle = rest.astype(jnp.float32) * jnp.float32(2 * math.pi / 2**32)
    s, c = jnp.sin(angle), jnp.cos(angle)
    swap = (quadrant & 1) == 1
    sine, cosine = jnp.where(swap, c, s), jnp.where(swap, s, c)
    sine = jnp.where((quadrant & 2) != 0, -sine, sine)
    cosine = jnp.where(((quadrant + 1) & 2) != 0, -cosine, cosine)
    return radius * cosine, radius * sine


def _log_acceptance(d: Array, y: Array) -> Array:
    """Of Marsaglia and Tsang's (2000) gamma candidate, by its series near zero."""
    direct = jnp.log(jnp.maximum(1 + y, 1e-6)) - y + y * y * (0.5 - y / 3)
    p = jnp.float32(1 / 11)
    for k in range(10, 3, -1):
        p = jnp.float32(1 / k) - y * p
    square = y * y
    return 3 * d * jnp.where(square < 0.04, -square * square * p, direct)


@cache
def replicate_program(family: int) -> Any:
    """Sums of gains and losses, compiled for a family of `surefoot.kernels.replicate`."""

    def program(
        system: Array,
        topic: Array,
        parameters: Array,
        counters: Array,
        seed_low: Array,
        seed_high: Array,
        draw_low: Array,
        draw_high: Array,
    ) -> tuple[Array, ...]:
        m, n = system.shape
        n_topics = topic.shape[1]
        quads = -(-n_topics // 4)
        low, high = draw_low[:, None, None], draw_high[:, None, None]
        cell = counters[:, None] * n_topics + jnp.arange(n_topics, dtype=jnp.uint32)
        block = counters[:, None] * quads + jnp.arange(quads, dtype=jnp.uint32)

        def words(counter: Array, purpose: Array) -> tuple[Array, ...]:
            shape = (m, *counter.shape)
            wide = [jnp.broadcast_to(w, shape) for w in (counter, purpose, low, high)]
            return _philox(wide, seed_low, seed_high)

        def per_topic(four: Sequence[Array]) -> Array:
            """Four values a block -> one a cell."""
            return jnp.stack(four, axis=-1).reshape(m, n, 4 * quads)[..., :n_topics]

        def normals(purpose: int) -> Array:
            w = words(block, jnp.uint32(purpose))
            first, second = _normal_pair(w[0], w[1]), _normal_pair(w[2], w[3])
            return per_topic([*first, *second])

        def until_accepted(attempt: Callable[..., Array]) -> Array:
            def again(state: tuple[Array, Array]) -> tuple[Array, Array]:
                y, count = state
                tried = attempt(*words(cell, count))
                return jnp.where(y < 0, tried, y), count + jnp.uint32(1)

            state = (jnp.full((m, n, n_topics), -1, jnp.float32), jnp.uint32(0))
            return lax.while_loop(
                lambda s: (s[0] < 0).any() & (s[1] < _MOST_ATTEMPTS), again, state
            )[0]

        def column(k: int) -> Array:
            return parameters[:, k, None, None]

        if family == 3:
            e_system = jnp.exp(-jnp.clip(system, -40, 40)).astype(jnp.float32)
            e_topic = jnp.exp(-jnp.clip(topic, -40, 40)).astype(jnp.float32)
            e = e_system[:, :, None] * e_topic[:, None, :]
            mu, phi = 1 / (1 + e), column(0).astype(jnp.float32)
            a, b = jnp.maximum(mu * phi, 1e-30), jnp.maximum(mu * e * phi, 1e-30)
            da, db = a + jnp.float32(2 / 3), b + jnp.float32(2 / 3)

            def beta(w0: Array, w1: Array, w2: Array, w3: Array) -> Array:
                cosine, sine = _normal_pair(w0, w1)
                ya, yb = cosine / (3 * jnp.sqrt(da)), sine / (3 * jnp.sqrt(db))
                ua = jnp.log(_uniform(w2)) - _log_acceptance(da, ya)
                ub = jnp.log(_uniform(w3)) - _log_acceptance(db, yb)
                ta, tb = 1 + ya, 1 + yb
                odds = db * tb**3 / (da * ta**3)
                x = 1 / (1 + odds * jnp.exp(jnp.clip(ub / b - ua / a, -87, 87)))
                good = (ua < 0) & (ub < 0) & (ta > 1e-6) & (tb > 1e-6)
                return jnp.where(good, x, jnp.float32(-1))

            y = until_accepted(beta)
            zoi, coi = column(1), column(2)
            below_one, below_any = (
                jnp.clip(p * 2.0**32, 0, 4294967295).astype(jnp.uint32) for p in (zoi * coi, zoi)
            )
            mass = per_topic(words(block, jnp.uint32(_MASSES)))
            edge = (mass < below_any) & (zoi > 0)
            y = jnp.where(edge, (mass < below_one).astype(jnp.float32), y)
        else:
            y = normals(_NORMALS)
            if family == 1:
                nu = column(1).astype(jnp.float32)
                a = 0.5 * nu
                d = a + jnp.float32(2 / 3)

                def student(w0: Array, w1: Array, w2: Array, w3: Array) -> Array:
                    off = _normal_pair(w0, w1)[0] / (3 * jnp.sqrt(d))
                    u = jnp.log(_uniform(w2)) - _log_acceptance(d, off)
                    t = 1 + off
                    x = jnp.sqrt(a / (d * jnp.maximum(t, 1e-6) ** 3)) * jnp.exp(-u * 0.5 / a)
                    return jnp.where((u < 0) & (t > 1e-6), x, jnp.float32(-1))

                y = y * until_accepted(student)
            elif family == 2:
                # thesis Algorithm 4.2, lines 6-8
                skew = column(1)
                delta = skew / jnp.sqrt(1 + skew * skew)
                omega = 1 / jnp.sqrt(1 - 2 * delta * delta / jnp.pi)
                shift = (-omega * delta * math.sqrt(2 / math.pi)).astype(jnp.float32)
                one_sided = (omega * delta).astype(jnp.float32)
                symmetric = (omega * jnp.sqrt(1 - delta * delta)).astype(jnp.float32)
                y = shift + one_sided * jnp.abs(normals(_MORE_NORMALS)) + symmetric * y
            eta = system.astype(jnp.float32)[:, :, None] + topic.astype(jnp.float32)[:, None, :]
            y = eta + column(0).astype(jnp.float32) * y
        delta = y[:, 1:] - y[:, :1]
        gains, losses = jnp.maximum(delta, 0).sum(axis=2), jnp.minimum(delta, 0).sum(axis=2)
        counts = [(d.sum(axis=2, dtype=jnp.int32)) for d in (delta > 0, delta < 0)]
        return gains.astype(jnp.float64), losses.astype(jnp.float64), *counts

    return jax.jit(program)
