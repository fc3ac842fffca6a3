"""Posterior predictive replicates in plain NumPy doubles, from the same random words."""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
MASK = np.uint64(0xFFFFFFFF)
NORMALS, MORE_NORMALS, MASSES = 0x80000000, 0x80000001, 0x80000002


def philox(cell: npt.ArrayLike, purpose: int, draw: int, seed: int) -> Words:
    """Philox4x32-10 (Salmon et al. 2011), (..., 4) words; counters (cell, purpose, draw)."""
    c0 = np.asarray(cell, dtype=np.uint64)
    c1 = np.full_like(c0, purpose)
    c2 = np.full_like(c0, draw & 0xFFFFFFFF)
    c3 = np.full_like(c0, draw >> 32)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    shift = np.uint64(32)
    for _ in range(10):
        p0, p1 = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            (p1 >> shift) ^ c1 ^ np.uint64(k0),
            p1 & MASK,
            (p0 >> shift) ^ c3 ^ np.uint64(k1),
            p0 & MASK,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=-1)


def uniform(words: Words) -> Array:
    """Words to (0, 1)."""
    return (words.astype(np.float64) + 0.5) / 2**32


def box_muller(radius_word: Words, angle_word: Words) -> tuple[Array, Array]:
    """Two standard normals from two words."""
    radius = np.sqrt(-2 * np.log(uniform(radius_word)))
    angle = 2 * np.pi * angle_word.astype(np.float64) / 2**32
    return radius * np.cos(angle), radius * np.sin(angle)


def gamma_candidate(shape: Array, x: Array, word: Words) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Log of a Gamma(shape) candidate and whether it is accepted.

    Marsaglia and Tsang (2000) at shape + 1, times U^(1/shape) with U = u / acceptance probability.
    """
    d = shape + 2 / 3
    v = (1 + x / np.sqrt(9 * d)) ** 3
    safe = np.where(v > 0, v, 1.0)
    log_accept = x**2 / 2 + d * (1 - safe + np.log(safe))
    log_u = np.log(uniform(word))
    return np.log(d * safe) + (log_u - log_accept) / shape, (v > 0) & (log_u < log_accept)


def replicate_scores(
    family: str,
    system: Array,
    topic: Array,
    parameters: Array,
    selected: npt.NDArray[np.int64],
    *,
    seed: int,
    first_draw: int = 0,
) -> Array:
    """As the compiled kernel, one draw at a time."""
    n_topics = topic.shape[1]
    return np.stack(
        [
            _one(family, s[selected], t, p, selected, n_topics, seed, first_draw + k)
            for k, (s, t, p) in enumerate(zip(system, topic, parameters, strict=True))
        ]
    )


def _one(
    family: str,
    system: Array,
    topic: Array,
    parameter: Array,
    selected: npt.NDArray[np.int64],
    n_topics: int,
    seed: int,
    draw: int,
) -> Array:
    eta = system[:, None] + topic[None, :]
    cell = selected[:, None] * n_topics + np.arange(n_topics)
    quads = -(-n_topics // 4)
    block = selected[:, None] * quads + np.arange(quads)

    def normals(purpose: int) -> Array:
        words = philox(block, purpose, draw, seed)
        z = np.stack([*box_muller(words[..., 0], words[..., 1])], axis=-1)
        z2 = np.stack([*box_muller(words[..., 2], words[..., 3])], axis=-1)
        return np.concatenate([z, z2], axis=-1).reshape(len(selected), -1)[:, :n_topics]

    if family == "zoib":
        phi, zoi, coi = parameter
        mu = 1 / (1 + np.exp(-eta))
        a, b = mu * phi, phi / (1 + np.exp(eta))
        y = np.full(eta.shape, np.nan)
        attempt = 0
        while np.isnan(y).any():
            words = philox(cell, attempt, draw, seed)
            x, z = box_muller(words[..., 0], words[..., 1])
            log_a, ok_a = gamma_candidate(a, x, words[..., 2])
            log_b, ok_b = gamma_candidate(b, z, words[..., 3])
            value = 1 / (1 + np.exp(np.clip(log_b - log_a, -700, 700)))
            y = np.where(np.isnan(y) & ok_a & ok_b, value, y)
            attempt += 1
        words = philox(block, MASSES, draw, seed).reshape(len(selected), -1)[:, :n_topics]
        y = np.where(words < np.uint64(zoi * 2**32), 0.0, y)
        return np.where(words < np.uint64(zoi * coi * 2**32), 1.0, y)
    z = normals(NORMALS)
    sigma = parameter[0]
    if family == "student":
        nu = parameter[1]
        scale = np.full(eta.shape, np.nan)
        attempt = 0
        while np.isnan(scale).any():
            words = philox(cell, attempt, draw, seed)
            x, _ = box_muller(words[..., 0], words[..., 1])
            log_g, ok = gamma_candidate(np.full(eta.shape, nu / 2), x, words[..., 2])
            scale = np.where(np.isnan(scale) & ok, np.sqrt(nu / 2) * np.exp(-log_g / 2), scale)
            attempt += 1
        z = z * scale
    elif family == "skew_normal":
        delta = parameter[1] / np.sqrt(1 + parameter[1] ** 2)
        omega = 1 / np.sqrt(1 - 2 * delta**2 / np.pi)
        skewed = delta * np.abs(normals(MORE_NORMALS)) + np.sqrt(1 - delta**2) * z
        z = omega * (skewed - delta * np.sqrt(2 / np.pi))
    out: Array = eta + sigma * z
    return out
