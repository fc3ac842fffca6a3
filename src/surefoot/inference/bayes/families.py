"""The hierarchical families: what they observe, their parameters, their log prior.

All share eta_ij = b + s_i + t_j, s_i ~ N(0, sd_system), t_j ~ N(0, sd_topic) (thesis Eqs 4.1, 5.1
and 5.3 as corrected by errata thesis-38 to thesis-41, which is what brms fits).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import ModelError
from surefoot.inference.bayes.data_doubts import confounded, gathered, without_noise
from surefoot.inference.bayes.links import Link
from surefoot.inference.bayes.priors import Prior, default_priors
from surefoot.kernels.hierarchy import Observations
from surefoot.results.posterior import RankGains

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Family:
    """One family of hierarchical models.

    Parameters
    ----------
    name : str
        Name in the contract.
    kernel : str
        Likelihood of `surefoot.kernels.hierarchy`.
    shapes : tuple of str
        Shape parameters, in the kernel's order.
    inflated : bool
        Whether zeros (and ones) are modelled apart, with ``zoi`` (and ``coi``).
    """

    name: str
    kernel: str
    shapes: tuple[str, ...]
    inflated: bool = False


FAMILIES = {
    "gaussian": Family("gaussian", "gaussian", ("sigma",)),
    "skew_normal": Family("skew_normal", "skew_normal", ("sigma", "lambda")),
    "student": Family("student", "student", ("sigma", "nu")),
    "zoib": Family("zoib", "beta", ("phi",), inflated=True),
    "zoib_rank": Family("zoib_rank", "beta", ("phi",), inflated=True),
}


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A family, its observations and its priors, ready for an engine.

    Parameters
    ----------
    family : Family
        The family.
    data : Observations
        What the crossed effects explain: all scores, or those strictly between 0 and 1.
    priors : mapping
        By parameter.
    zeros, ones : int
        Numbers of scores of exactly 0 and 1 that an inflated family models apart.
    centre : float
        A value of b to start from.
    warnings : tuple of str
        Doubts about the data.
    """

    family: Family
    data: Observations = field(repr=False)
    priors: Mapping[str, Prior]
    zeros: int = 0
    ones: int = 0
    centre: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def dimension(self) -> int:
        """Length of theta: transformed shapes, log sd_system, log sd_topic."""
        return len(self.family.shapes) + 2

    @property
    def links(self) -> tuple[Link, ...]:
        """How each coordinate of theta becomes a parameter."""
        names = (*self.family.shapes, "sd_system", "sd_topic")
        return tuple(Link.of(name, self.priors[name]) for name in names)

    def unpack(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Theta ``(n, d)`` -> kernel shapes ``(n, 2)``, sd_system, sd_topic."""
        values = [link.value(u) for link, u in zip(self.links, theta.T, strict=True)]
        shapes = np.zeros((len(theta), 2))
        for column, value in enumerate(values[:-2]):
            shapes[:, column] = value
        return shapes, values[-2], values[-1]

    def pack(self, values: Mapping[str, FloatArray | float]) -> FloatArray:
        """Values of the shapes and spreads -> theta; outside an interval, from well inside it."""
        names = (*self.family.shapes, "sd_system", "sd_topic")
        return np.column_stack(
            [
                link.inverse(link.within(np.atleast_1d(values[name])))
                for link, name in zip(self.links, names, strict=True)
            ]
        )

    def log_prior(self, theta: FloatArray) -> FloatArray:
        """Log prior density of theta, Jacobian included."""
        out = np.zeros(len(theta))
        names = (*self.family.shapes, "sd_system", "sd_topic")
        for link, name, u in zip(self.links, names, theta.T, strict=True):
            out += self.priors[name].log_density(link.value(u)) + link.log_slope(u)
        return out

    def log_prior_score(self, theta: FloatArray) -> FloatArray:
        """Gradient of `log_prior`."""
        names = (*self.family.shapes, "sd_system", "sd_topic")
        return np.column_stack(
            [
                self.priors[name].score(link.value(u)) * link.slope(u) + link.score(u)
                for link, name, u in zip(self.links, names, theta.T, strict=True)
            ]
        )

    def slopes(self, theta: FloatArray) -> FloatArray:
        """Derivatives of the shapes and spreads by their coordinates of theta."""
        return np.column_stack([link.slope(u) for link, u in zip(self.links, theta.T, strict=True)])


def degenerate_doubts(problem: Problem, draws: Mapping[str, FloatArray]) -> tuple[str, ...]:
    """The skew normal's likelihood may grow without bound as lambda does."""
    if "lambda" not in draws:
        return ()
    centre, sd = problem.priors["lambda"].numbers[-2:]
    beyond = float((np.abs(draws["lambda"] - centre) > 2.5 * sd).mean())
    if beyond < 0.05:
        return ()
    return (
        f"the skewness lambda lies beyond 2.5 prior sd in {beyond:.0%} of the draws (median "
        f"{np.median(draws['lambda']):.1f}): the scores pile up at an edge, which a skew normal "
        "cannot explain. Hint: --family zoib or gaussian",
    )


def pose(
    family: str,
    scores: ScoreMatrix,
    priors: Mapping[str, Prior],
    *,
    gains: RankGains | None = None,
) -> Problem:
    """Check the scores against a family and lay them out for an engine.

    Parameters
    ----------
    scores : ScoreMatrix
        Observed scores; NaN marks missing cells.
    gains : RankGains, optional
        Per-rank gains, for ``zoib_rank``.
    """
    kind = FAMILIES[family]
    if family == "zoib_rank":
        if gains is None:
            raise ModelError(
                "family zoib_rank needs gains by rank. Hint: a table system,topic,rank,score"
            )
        system, topic, y = gains.system, gains.topic, gains.score
        order = np.lexsort((gains.rank, topic, system))
        system, topic, y, rank = system[order], topic[order], y[order], gains.rank[order]
    else:
        system, topic = np.nonzero(~scores.missing)
        y = scores.values[system, topic]
        rank = None
    if y.size < 3:
        raise ModelError(f"a hierarchical model needs at least 3 scores, got {y.size}")
    warnings = confounded(system, topic) if rank is None else ()
    if not kind.inflated:
        if float(np.ptp(y)) == 0:
            raise ModelError(
                f"all {y.size} scores are {y[0]:g}: there is no spread to model. "
                "Hint: check the measure and the input"
            )
        if without_noise(system, topic, y):
            # the likelihood would grow without bound as sigma shrinks
            raise ModelError(
                "the scores are exactly a system effect plus a topic effect, without any noise to "
                "estimate: sigma would be zero. Hint: check the table for copied columns"
            )
        usual = default_priors(family, y)
        kept = [n for n in ("b", "sigma", "sd_system", "sd_topic") if priors.get(n) == usual[n]]
        if kept and usual["sigma"].numbers[-1] > 2.5:  # brms' scale for small scores
            warnings += (
                f"scores go beyond 1, so the default priors of {', '.join(kept)}, whose scale "
                "follows the scores, differ from those for scores on 0-1: rescale to compare with "
                "other studies",
            )
        data = _observations(scores, system, topic, y, np.zeros_like(y), None)
        return Problem(kind, data, priors, centre=float(np.median(y)), warnings=warnings)
    zeros, ones, between = _split_inflated(scores, system, topic, y)
    if family == "zoib_rank" and ones:
        raise ModelError(
            f"{ones} gains are 1: family zoib_rank inflates zeros alone. "
            "Hint: gains by rank are discounted and stay below 1"
        )
    if not between.any():
        raise ModelError(
            "no score lies strictly between 0 and 1, so there is nothing for the beta part "
            "to explain. Hint: use a graded measure"
        )
    inside = y[between]
    logit = np.log(inside) - np.log1p(-inside)
    if rank is None:
        if without_noise(system[between], topic[between], logit):
            warnings += (
                "the scores between 0 and 1 have no noise beyond system and topic effects, so the "
                "prior of phi decides how much they have",
            )
        for value in (0.0, 1.0):
            warnings += gathered("system", scores.systems, system, y, value)
            warnings += gathered("topic", scores.topics, topic, y, value)
    covariate = None if rank is None else (rank - rank.mean())[between]
    data = _observations(
        scores,
        system[between],
        topic[between],
        logit,
        np.log1p(-inside),
        covariate,
    )
    mean = float(inside.mean())
    return Problem(
        kind, data, priors, zeros, ones, centre=math.log(mean / (1 - mean)), warnings=warnings
    )


def _split_inflated(
    scores: ScoreMatrix,
    system: npt.NDArray[np.int64],
    topic: npt.NDArray[np.int64],
    y: FloatArray,
) -> tuple[int, int, npt.NDArray[np.bool_]]:
    outside = np.flatnonzero((y < 0) | (y > 1))
    if outside.size:
        at = int(outside[0])
        raise ModelError(
            f"score {y[at]:g} of system {scores.systems[system[at]]!r} on topic "
            f"{scores.topics[topic[at]]!r} is not between 0 and 1, which a beta family needs. "
            "Hint: divide a 0-100 scale by 100, or use --family gaussian"
        )
    between = (y > 0) & (y < 1)
    return int((y == 0).sum()), int((y == 1).sum()), between


def _observations(
    scores: ScoreMatrix,
    system: npt.NDArray[np.int64],
    topic: npt.NDArray[np.int64],
    first: FloatArray,
    second: FloatArray,
    covariate: FloatArray | None,
) -> Observations:
    return Observations(
        len(scores.systems),
        len(scores.topics),
        system.astype(np.int32),
        topic.astype(np.int32),
        np.ascontiguousarray(first),
        np.ascontiguousarray(second),
        covariate,
    )
