"""A proposal for a posterior of few dimensions, fitted by adaptive importance sampling.

The hyperparameters of a hierarchical model are three or four numbers whose posterior is skewed when
there are few systems or topics. A mixture of Student t distributions is fitted to it in rounds:
draw, weigh, refit (adaptive multiple importance sampling: Cornuet, Marin, Mira & Robert 2012).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from surefoot.inference.bayes.quasirandom import even_points

FloatArray = npt.NDArray[np.float64]
LogDensity = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True)
class StudentMixture:
    """Mixture of multivariate Student t distributions.

    Parameters
    ----------
    weights : (k,) float array
        Shares, summing to one.
    means : (k, d) float array
        Centres.
    roots : (k, d, d) float array
        Lower Cholesky factors of the scale matrices.
    df : (k,) float array
        Degrees of freedom.
    """

    weights: FloatArray
    means: FloatArray
    roots: FloatArray
    df: FloatArray

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """``n`` evenly spread draws, and their log density under the mixture as drawn from."""
        d = self.means.shape[1]
        counts = np.diff(np.round(np.concatenate([[0.0], np.cumsum(self.weights)]) * n)).astype(int)
        parts = []
        for k, count in enumerate(counts):
            if count == 0:
                continue
            u = even_points(count, d + 1, rng)
            z = special.ndtri(u[:, :d])
            radius = np.sqrt(self.df[k] / 2 / special.gammaincinv(self.df[k] / 2, u[:, d]))
            parts.append(self.means[k] + radius[:, None] * (z @ self.roots[k].T))
        theta = np.concatenate(parts)
        return theta, self.log_density(theta)

    def log_density(self, theta: FloatArray) -> FloatArray:
        """Log density of the mixture."""
        return np.asarray(np.logaddexp.reduce(self._log_parts(theta)[0], axis=0))

    def _log_parts(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log of each weighted component, and squared Mahalanobis distances; both (k, n)."""
        d = theta.shape[1]
        logs = np.empty((len(self.weights), len(theta)))
        squares = np.empty_like(logs)
        for k, (weight, mean, root, df) in enumerate(
            zip(self.weights, self.means, self.roots, self.df, strict=True)
        ):
            inverse = np.linalg.inv(root)
            white = (theta - mean) @ inverse.T
            squares[k] = np.einsum("nd,nd->n", white, white)
            constant = (
                math.lgamma((df + d) / 2)
                - math.lgamma(df / 2)
                - d / 2 * math.log(df * math.pi)
                - float(np.log(np.diag(root)).sum())
                + math.log(weight)
            )
            logs[k] = constant - (df + d) / 2 * np.log1p(squares[k] / df)
        return logs, squares


@dataclass(frozen=True, slots=True)
class Fitted:
    """What `fit_proposal` found, and what the weights of its last round were worth."""

    mixture: StudentMixture
    efficiency: float


def find_mode(
    log_density: LogDensity, start: FloatArray, *, iterations: int = 40
) -> tuple[FloatArray, FloatArray]:
    """Mode and covariance at the mode, by Newton steps on finite differences in one batch each."""
    d = len(start)
    at = np.array(start, dtype=np.float64)
    step = np.full(d, 0.05)
    value = float(log_density(at[None])[0])
    covariance = np.eye(d)
    for _ in range(iterations):
        gradient, hessian = _differences(log_density, at, step, value)
        eigenvalue, vectors = np.linalg.eigh(-hessian)
        # a direction without curvature moves along the gradient by a bounded step instead
        eigenvalue = np.maximum(np.abs(eigenvalue), 0.05)
        covariance = (vectors / eigenvalue) @ vectors.T
        move = covariance @ gradient
        move *= min(1.0, 1.5 / float(np.abs(move).max() + 1e-300))
        lengths = 0.5 ** np.arange(0.0, 10.0)
        tries = at + lengths[:, None] * move
        values = log_density(tries)
        values = np.where(np.isfinite(values), values, -np.inf)
        best = int(values.argmax())
        gain = float(values[best]) - value
        if gain > 0:
            at, value = tries[best], float(values[best])
        step = np.clip(0.3 * np.sqrt(np.diag(covariance)), 1e-4, 0.3)
        if gain < 1e-3:
            break
    return at, covariance


def _differences(
    log_density: LogDensity, at: FloatArray, step: FloatArray, value: float
) -> tuple[FloatArray, FloatArray]:
    d = len(at)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    offsets = np.zeros((2 * d + 2 * len(pairs), d))
    for i in range(d):
        offsets[2 * i, i], offsets[2 * i + 1, i] = step[i], -step[i]
    for p, (i, j) in enumerate(pairs):
        for q, sign in enumerate((1.0, -1.0)):
            offsets[2 * d + 2 * p + q, [i, j]] = sign * step[i], sign * step[j]
    values = log_density(at + offsets)
    values = np.where(np.isfinite(values), values, value - 1e3)
    up, down = values[0 : 2 * d : 2], values[1 : 2 * d : 2]
    gradient = (up - down) / (2 * step)
    hessian = np.diag((up - 2 * value + down) / step**2)
    for p, (i, j) in enumerate(pairs):
        both = values[2 * d + 2 * p] + values[2 * d + 2 * p + 1]
        cross = both - up[i] - down[i] - up[j] - down[j] + 2 * value
        hessian[i, j] = hessian[j, i] = cross / (2 * step[i] * step[j])
    return gradient, hessian


def fit_proposal(
    log_density: LogDensity,
    start: FloatArray,
    rng: np.random.Generator,
    *,
    points: int | None = None,
    rounds: int = 6,
    components: int = 4,
    enough: float = 0.85,
    careful: bool = False,
) -> Fitted:
    """Fit a mixture of Student t distributions to an unnormalised log density.

    Parameters
    ----------
    log_density : callable
        ``(n, d)`` points -> ``(n,)`` log densities; -inf where there is none.
    start : (d,) or (k, d) float array
        Where to look for the mode, or for each of several.
    points, rounds : int
        Evaluations a round, by default 96 a dimension and half in the first; most rounds.
    components : int
        Components of the final mixture, besides a wide one that guards the tails.
    enough : float
        Stop when a round's weights are worth this share of their number.
    careful : bool
        Look harder at the tails: four times the points, more of them in wide components. For a
        second attempt, when the weights of the first had too heavy a tail.
    """
    starts = np.atleast_2d(start)
    points = 96 * starts.shape[1] if points is None else points
    points = 4 * points if careful else points
    guard = 0.05 if careful else 0.02
    found = [find_mode(log_density, row) for row in starts]
    mixture = StudentMixture(
        np.tile([0.75, 0.25], len(found)) / len(found),
        np.repeat([mode for mode, _ in found], 2, axis=0),
        np.linalg.cholesky(np.stack([wide * c for _, c in found for wide in (1.2, 6.0)])),
        np.tile([6.0, 4.0], len(found)),
    )
    used: list[StudentMixture] = []
    theta = np.empty((0, starts.shape[1]))
    target = np.empty(0)
    efficiency = 0.0
    for turn in range(rounds):
        drawn, proposed = mixture.draw(points if turn else points // 2, rng)
        value = log_density(drawn)
        value = np.where(np.isfinite(value), value, -np.inf)
        previous, efficiency = efficiency, _worth(value - proposed)
        used.append(mixture)
        theta, target = np.concatenate([theta, drawn]), np.concatenate([target, value])
        if efficiency >= enough or (turn >= 3 and efficiency < previous + 0.02):
            break
        # every point counts under the mixture of all proposals so far
        pooled = np.logaddexp.reduce([m.log_density(theta) for m in used], axis=0)
        weight = _normalised(target - pooled)
        few = turn == 0 and len(starts) == 1
        mixture = _refit(theta, weight, 1 if few else components, guard)
    best = mixture if efficiency > 0 else used[0]
    return Fitted(best, efficiency)


def _normalised(log_weight: FloatArray) -> FloatArray:
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum())


def _worth(log_weight: FloatArray) -> float:
    weight = _normalised(log_weight)
    return float(1 / (weight @ weight) / len(weight))


def _refit(theta: FloatArray, weight: FloatArray, components: int, guard: float) -> StudentMixture:
    """Weighted expectation maximisation for a mixture of t distributions with 8 df."""
    n, d = theta.shape
    mean = weight @ theta
    spread = theta - mean
    covariance = (weight * spread.T) @ spread + 1e-10 * np.eye(d)
    if components > 1 and 1 / float(weight @ weight) < 20 * d:
        components = 1
    # start: slices along the direction of largest variance, each with its share of the weight
    direction = np.linalg.eigh(covariance)[1][:, -1]
    order = np.argsort(spread @ direction, kind="stable")
    slice_of = np.empty(n, dtype=int)
    slice_of[order] = np.minimum(
        (np.cumsum(weight[order]) * components).astype(int), components - 1
    )
    share = np.stack([(slice_of == k).astype(float) for k in range(components)])
    latent = np.ones_like(share)
    mixture: StudentMixture | None = None
    for _ in range(12 if components > 1 else 3):
        mass = share * weight
        total = mass.sum(axis=1)
        scaled = mass * latent
        means = (scaled @ theta) / scaled.sum(axis=1, keepdims=True)
        roots = np.empty((components, d, d))
        for k in range(components):
            off = theta - means[k]
            scatter = (scaled[k] * off.T) @ off / total[k]
            roots[k] = np.linalg.cholesky(0.97 * scatter + 0.03 * covariance)
        shares = np.maximum(total, 0.02)
        mixture = StudentMixture(shares / shares.sum(), means, roots, np.full(components, 8.0))
        logs, squares = mixture._log_parts(theta)
        share = np.exp(logs - np.logaddexp.reduce(logs, axis=0))
        latent = (8.0 + d) / (8.0 + squares)
    assert mixture is not None
    return _guarded(mixture, mean, covariance, guard)


def _guarded(
    mixture: StudentMixture, mean: FloatArray, covariance: FloatArray, share: float
) -> StudentMixture:
    """Add wide components, so that weights stay bounded where the fit has seen few points.

    One is wide in every direction; the others in one coordinate each, because the logarithm of a
    scale that the data cannot tell from zero has a long tail to the left.
    """
    d = len(mean)
    scales = [4.0 * covariance]
    for i in range(d):
        stretched = 1.5 * covariance
        stretched[i, i] += 12.0 * covariance[i, i]
        scales.append(stretched)
    guard = np.full(d + 1, share)
    return StudentMixture(
        np.concatenate([(1 - guard.sum()) * mixture.weights, guard]),
        np.concatenate([mixture.means, np.repeat(mean[None], d + 1, axis=0)]),
        np.concatenate([mixture.roots, np.linalg.cholesky(np.array(scales))]),
        np.concatenate([mixture.df, np.full(d + 1, 3.0)]),
    )
