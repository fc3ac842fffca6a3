"""Posterior effects on the scale of the scores: expected scores, differences, effect sizes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.errors import ModelError
from surefoot.results.posterior import Posterior

FloatArray = npt.NDArray[np.float64]
# cells of a chunk of draws: temporaries of 16 MB
CELLS = 1 << 21


def expected_by_system(posterior: Posterior) -> FloatArray:
    """Expected score of each system, averaged over the topics: (n_draws, n_systems).

    For ``zoib_rank`` it is the expected gain, averaged over the ranks too.
    """
    return _expected(posterior, posterior.draws["system"], posterior.draws["topic"])


def expected_by_topic(posterior: Posterior) -> FloatArray:
    """Expected score of each topic, averaged over the systems: (n_draws, n_topics)."""
    return _expected(posterior, posterior.draws["topic"], posterior.draws["system"])


def _expected(posterior: Posterior, kept: FloatArray, averaged: FloatArray) -> FloatArray:
    draws = posterior.draws
    if posterior.family in ("gaussian", "student", "skew_normal"):
        # identity link, and the skew normal is parameterised by its mean (Algorithm 4.2)
        return np.asarray(draws["b"][:, None] + kept + averaged.mean(axis=1)[:, None])
    zoi = draws["zoi"][:, None]
    coi = draws["coi"][:, None] if "coi" in draws else 0.0
    offsets = _rank_offsets(posterior)
    out = np.empty_like(kept)
    # logistic(b + s + t) = 1 / (1 + exp(-b - s) exp(-t)): one exponential an effect, not a cell
    first = np.exp(-np.clip(draws["b"][:, None] + kept, -300, 300))
    chunk = max(1, CELLS // (kept.shape[1] * averaged.shape[1] * len(offsets)))
    for start in range(0, len(kept), chunk):
        rows = slice(start, start + chunk)
        rest = averaged[rows]
        if len(offsets) > 1:
            rest = (rest[:, :, None] + draws["k"][rows, None, None] * offsets).reshape(
                len(rest), -1
            )
        odds = first[rows, :, None] * np.exp(-np.clip(rest, -300, 300))[:, None, :]
        out[rows] = (1.0 / (1.0 + odds)).mean(axis=2)
    return (1.0 - zoi) * out + zoi * coi  # mean of thesis Eq. 5.3, masses of errata thesis-41


def _rank_offsets(posterior: Posterior) -> FloatArray:
    """Ranks over which `zoib_rank` averages, centred as its slope is; a single 0 otherwise."""
    if posterior.gains is None:
        return np.zeros(1)
    ranks = posterior.gains.rank
    return np.asarray(np.unique(ranks) - ranks.mean())


def score_sd(posterior: Posterior, system: int) -> FloatArray:
    """Standard deviation of one system's scores over the topics, (n_draws,).

    Spread of its expected scores between topics plus the spread of a score around each of them.
    """
    if posterior.gains is not None:
        raise ModelError(
            f"family {posterior.family!r} models gains of single ranks, so no spread of scores "
            "follows from it. Hint: family zoib"
        )
    draws = posterior.draws
    eta = (draws["b"] + draws["system"][:, system])[:, None] + draws["topic"]
    if posterior.family == "zoib":
        mu = 1.0 / (1.0 + np.exp(-np.clip(eta, -300, 300)))
        zoi, coi, phi = (draws[name][:, None] for name in ("zoi", "coi", "phi"))
        mean = (1.0 - zoi) * mu + zoi * coi
        second = (1.0 - zoi) * (mu * (1.0 - mu) / (1.0 + phi) + mu**2) + zoi * coi
        return np.asarray(np.sqrt(np.maximum(second.mean(axis=1) - mean.mean(axis=1) ** 2, 0.0)))
    within = draws["sigma"] ** 2
    if posterior.family == "student":
        nu = draws["nu"]
        # the variance of a t with 2 or fewer degrees of freedom is infinite
        within = np.where(nu > 2, within * nu / np.maximum(nu - 2, 1e-12), np.inf)
    return np.asarray(np.sqrt(eta.var(axis=1) + within))


def glass_delta(posterior: Posterior, challenger: int, champion: int) -> FloatArray:
    """Glass' delta with shrinkage: pooled mean difference over the champion's spread, (n_draws,).

    Sakai (2017) divides the mean difference by the standard deviation of the baseline; here both
    come from the hierarchical model, so the difference is drawn towards zero by partial pooling
    (thesis, Sect. 5.2, leaves open which to use; the paired models give it without).
    """
    means = expected_by_system(posterior)
    return np.asarray((means[:, challenger] - means[:, champion]) / score_sd(posterior, champion))


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Probabilities that a difference lies below, within and above a region of equivalence."""

    worse: FloatArray
    equivalent: FloatArray
    better: FloatArray


def region_of_equivalence(difference: FloatArray, width: float) -> Equivalence:
    """Masses of the posterior of differences outside and inside [-width, width].

    Parameters
    ----------
    difference : (n_draws, ...) float array
        Draws of challenger minus champion, in units of the scores.
    width : float
        Largest difference that nobody minds (Kruschke 2018).
    """
    worse = (difference < -width).mean(axis=0)
    better = (difference > width).mean(axis=0)
    return Equivalence(worse, 1.0 - worse - better, better)
