"""Hierarchical posteriors as functions of unconstrained sum-to-zero coordinates.

q = (theta, [k], m, u, v): m = b + mean(s) + mean(t), and contrasts s - mean(s) =
sd_system^(1 - c) H u with an orthonormal basis H. c = 1 is the centred form, right when the data
fix the effects; c = 0 the non-centred one, right when they do not; c follows the shrinkage. b and
the means leave the posterior in closed form and are drawn afterwards.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.intercept import draw_intercept, level_variance, split_level
from surefoot.kernels.hierarchy import gradient

FloatArray = npt.NDArray[np.float64]


def contrasts(n: int) -> FloatArray:
    """Orthonormal basis ``(n, n - 1)`` of the vectors that sum to zero (Helmert)."""
    out = np.zeros((n, n - 1))
    for k in range(1, n):
        out[:k, k - 1] = 1 / np.sqrt(k * (k + 1))
        out[k, k - 1] = -k / np.sqrt(k * (k + 1))
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """The posterior of a problem in sum-to-zero coordinates.

    Parameters
    ----------
    problem : Problem
        Any family.
    centring : (2,) tuple of floats
        c of systems and of topics.
    threads : int
        For the likelihood.
    """

    problem: Problem
    centring: tuple[float, float]
    threads: int = 0
    bases: tuple[FloatArray, FloatArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        data = self.problem.data
        bases = contrasts(data.n_systems), contrasts(data.n_topics)
        object.__setattr__(self, "bases", bases)

    @property
    def size(self) -> int:
        """Length of q."""
        data = self.problem.data
        return self.problem.dimension + data.fixed + data.n_systems + data.n_topics - 2

    def split(self, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Theta, fixed effects (m last), u, v."""
        d, data = self.problem.dimension, self.problem.data
        f, i = data.fixed, data.n_systems - 1
        theta, fixed, u, v = np.split(q, [d, d + f, d + f + i], axis=1)
        return theta, fixed, u, v

    def effects(self, q: FloatArray) -> FloatArray:
        """Kernel parameters (m, [k], contrasts of s, contrasts of t)."""
        theta, fixed, u, v = self.split(q)
        _, sd_system, sd_topic = self.problem.unpack(theta)
        s = (u @ self.bases[0].T) * (sd_system ** (1 - self.centring[0]))[:, None]
        t = (v @ self.bases[1].T) * (sd_topic ** (1 - self.centring[1]))[:, None]
        return np.concatenate([fixed[:, ::-1], s, t], axis=1)

    def log_density(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log posterior ``(n,)`` and its gradient ``(n, size)``."""
        problem, data = self.problem, self.problem.data
        theta, fixed, u, v = self.split(q)
        shapes, sd_system, sd_topic = problem.unpack(theta)
        x = self.effects(q)
        value, slope = gradient(problem.family.kernel, data, shapes, x, threads=self.threads)
        out = value + problem.log_prior(theta)
        by_theta = problem.log_prior_score(theta)
        n_shapes = len(problem.family.shapes)
        by_value = problem.slopes(theta)
        by_theta[:, :n_shapes] += slope[:, -2:][:, :n_shapes] * by_value[:, :n_shapes]
        by_log_sd = np.empty((len(q), 2))

        # the level m around b, with b integrated out
        of_systems, of_topics = level_variance(sd_system, sd_topic, (data.n_systems, data.n_topics))
        level, by_level, by_variance = self._level(fixed[:, -1], of_systems + of_topics)
        out += level
        by_log_sd[:, 0] = by_variance * 2 * of_systems
        by_log_sd[:, 1] = by_variance * 2 * of_topics

        by_blocks = []
        begin = data.fixed
        for block, basis, sd, c, column in (
            (u, self.bases[0], sd_system, self.centring[0], 0),
            (v, self.bases[1], sd_topic, self.centring[1], 1),
        ):
            n = basis.shape[0]
            g, effect = slope[:, begin : begin + n], x[:, begin : begin + n]
            begin += n
            precision = sd ** (-2 * c)
            square = np.einsum("nd,nd->n", block, block) * precision
            out += -0.5 * square - (n - 1) * c * np.log(sd)
            by_log_sd[:, column] += (1 - c) * np.einsum("nd,nd->n", g, effect)
            by_log_sd[:, column] += c * square - (n - 1) * c
            by_blocks.append((g @ basis) * (sd ** (1 - c))[:, None] - block * precision[:, None])
        by_theta[:, -2:] += by_log_sd * by_value[:, -2:] / np.column_stack([sd_system, sd_topic])
        by_fixed = slope[:, data.fixed - 1 :: -1] if data.fixed == 1 else slope[:, [1, 0]]
        by_fixed = by_fixed.copy()
        by_fixed[:, -1] += by_level
        if data.fixed == 2:
            prior = problem.priors["k"]
            out += prior.log_density(fixed[:, 0])
            by_fixed[:, 0] += prior.score(fixed[:, 0])
        return out, np.concatenate([by_theta, by_fixed, *by_blocks], axis=1)

    def _level(
        self, level: FloatArray, variance: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log density of m and its derivatives by m and by the variance around b."""
        prior = self.problem.priors["b"]
        mass, wide = prior.normal_mixture()
        total = variance[:, None] + wide
        off = (level - prior.location)[:, None]
        logs = np.log(mass) - 0.5 * (np.log(2 * np.pi * total) + off**2 / total)
        top = logs.max(axis=1, keepdims=True)
        share = np.exp(logs - top)
        sums = share.sum(axis=1)
        share /= sums[:, None]
        by_level = -(share / total).sum(axis=1) * off[:, 0]
        by_variance = (share * (-0.5 / total + 0.5 * off**2 / total**2)).sum(axis=1)
        return top[:, 0] + np.log(sums), by_level, by_variance

    def from_draws(self, draws: dict[str, FloatArray]) -> FloatArray:
        """Draws of the parameters -> q."""
        sd_system, sd_topic = draws["sd_system"], draws["sd_topic"]
        s, t = draws["system"], draws["topic"]
        fixed = [draws["k"]] if "k" in draws else []
        fixed.append(draws["b"] + s.mean(axis=1) + t.mean(axis=1))
        u = (s @ self.bases[0]) * (sd_system ** (self.centring[0] - 1))[:, None]
        v = (t @ self.bases[1]) * (sd_topic ** (self.centring[1] - 1))[:, None]
        return np.column_stack([self.problem.pack(draws), *fixed, u, v])

    def to_draws(self, q: FloatArray, rng: np.random.Generator) -> dict[str, FloatArray]:
        """Q -> draws of the parameters, b and the means of the effects drawn given the rest."""
        data, family = self.problem.data, self.problem.family
        theta, fixed, _, _ = self.split(q)
        shapes, sd_system, sd_topic = self.problem.unpack(theta)
        x = self.effects(q)
        level = fixed[:, -1]
        parts = level_variance(sd_system, sd_topic, (data.n_systems, data.n_topics))
        b = draw_intercept(level, parts[0] + parts[1], self.problem.priors["b"], rng)
        of_systems, of_topics = split_level(level - b, *parts, rng)
        out = {name: shapes[:, c].copy() for c, name in enumerate(family.shapes)}
        s, t = np.split(x[:, data.fixed :], [data.n_systems], axis=1)
        out |= {"b": b, "sd_system": sd_system, "sd_topic": sd_topic}
        out |= {"system": s + of_systems[:, None], "topic": t + of_topics[:, None]}
        if data.fixed == 2:
            out["k"] = fixed[:, 0].copy()
        return out


def shrinkage_centring(draws: dict[str, FloatArray]) -> tuple[float, float]:
    """How far the data fix the effects: 1 - posterior variance of contrasts over sd^2."""
    out = []
    for kind in ("system", "topic"):
        effect = draws[kind] - draws[kind].mean(axis=1, keepdims=True)
        if effect.shape[1] < 2:
            out.append(0.0)
            continue
        left = effect.var(axis=0).mean() / float(np.median(draws[f"sd_{kind}"]) ** 2 + 1e-12)
        out.append(float(np.clip(1 - left, 0.0, 1.0)))
    return out[0], out[1]
