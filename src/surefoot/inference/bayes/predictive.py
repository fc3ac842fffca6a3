"""Risk on new scores from a fitted model: PPDRisk- for any r, and forecasts of single topics.

For each posterior draw a replicate of every score is drawn, and URisk- computed on the replicates
against the champion's replicates (thesis, Sect. 5.2.1). Gains and losses are kept apart, so
that one pass serves every r.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from surefoot.errors import ModelError
from surefoot.kernels.replicate import FAMILIES, replicate_scores, replicate_sums
from surefoot.results.posterior import Posterior

if TYPE_CHECKING:
    from surefoot.inference.bayes.accelerator import Accelerator

FloatArray = npt.NDArray[np.float64]
Update = Callable[[float, float], None]

CHUNK = 4_096  # draws between two looks at Ctrl-C


@dataclass(frozen=True, slots=True)
class RiskReplicates:
    """Sums over topics of gains and losses of each replicate, (n_draws, n_challengers).

    Parameters
    ----------
    n_topics : int
        J of the thesis.
    gains, losses : float arrays
        Sums of the positive and of the negative differences to the champion.
    wins, worse : int arrays
        How many topics have a positive, a negative difference.
    """

    n_topics: int
    gains: FloatArray = field(repr=False)
    losses: FloatArray = field(repr=False)
    wins: npt.NDArray[np.int32] = field(repr=False)
    worse: npt.NDArray[np.int32] = field(repr=False)

    def risk(self, r: float) -> FloatArray:
        """URisk- of each replicate: -(G + r L) / J (thesis Eq. 3.2, errata thesis-21)."""
        return -(self.gains + r * self.losses) / self.n_topics


@dataclass(frozen=True, slots=True)
class PredictedRisk:
    """PPDRisk- of each challenger at one r: median, predictive interval, P(URisk- > 0)."""

    r: float
    median: FloatArray
    low: FloatArray
    high: FloatArray
    p_risky: FloatArray

    @property
    def significant(self) -> npt.NDArray[np.bool_]:
        """Whether the predictive interval excludes zero (thesis 5.3.2)."""
        out: npt.NDArray[np.bool_] = (self.low > 0) | (self.high < 0)
        return out


@dataclass(frozen=True, slots=True)
class TopicForecast:
    """What one challenger may do to each topic, from replicates of both systems.

    `p_worse`, `p_better` : probabilities of a negative and a positive difference; `expected` mean
    difference, `expected_loss` mean of its negative part; `low`, `median`, `high` of the
    difference.
    """

    p_worse: FloatArray
    p_better: FloatArray
    expected: FloatArray
    expected_loss: FloatArray
    low: FloatArray
    median: FloatArray
    high: FloatArray


def kernel_draws(posterior: Posterior) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draws in the replicate kernel's layout: b + system effects, topic effects, parameters."""
    if posterior.family not in FAMILIES:
        raise ModelError(
            f"family {posterior.family!r} models the gains of single ranks, not scores, and cannot "
            f"replicate scores. Hint: fit one of {', '.join(FAMILIES)}"
        )
    names = FAMILIES[posterior.family][1]
    draws = posterior.draws
    parameters = np.column_stack([draws[name] for name in names])
    return draws["b"][:, None] + draws["system"], draws["topic"], parameters


def risk_replicates(
    posterior: Posterior,
    champion: int,
    challengers: Sequence[int],
    *,
    seed: int = 0,
    threads: int = 0,
    accelerator: "Accelerator | None" = None,
    update: Update | None = None,
) -> RiskReplicates:
    """One pass over all draws: gains and losses of each challenger's replicates.

    Parameters
    ----------
    posterior : Posterior
        Fit of the plain scores.
    champion, challengers : int, sequence of int
        Rows of the score table.
    seed : int
        Replicates depend on the seed, the draw and the cell alone: not on threads, nor on which
        challengers are asked for.
    accelerator : Accelerator, optional
        Where replicates are drawn, from the same random words as by the compiled kernel.
    """
    sums = replicate_sums if accelerator is None else accelerator.replicate_sums
    system, topic, parameters = kernel_draws(posterior)
    selected = np.array([champion, *challengers], dtype=np.int64)
    parts = []
    for start in range(0, posterior.n_draws, CHUNK):
        rows = slice(start, start + CHUNK)
        parts.append(
            sums(
                posterior.family,
                system[rows],
                topic[rows],
                parameters[rows],
                selected,
                seed=seed,
                first_draw=start,
                threads=threads,
            )
        )
        if update is not None:
            update(min(start + CHUNK, posterior.n_draws), posterior.n_draws)
    gains, losses, wins, worse = (np.concatenate(column) for column in zip(*parts, strict=True))
    return RiskReplicates(topic.shape[1], gains, losses, wins, worse)


def predicted_risk(
    replicates: RiskReplicates,
    r: float,
    *,
    interval: float = 0.95,
    accelerator: "Accelerator | None" = None,
) -> PredictedRisk:
    """Median, equal-tailed predictive interval and P(URisk- > 0) at one r."""
    risk = np.ascontiguousarray(replicates.risk(r).T)
    p_risky = (risk > 0).mean(axis=1)
    if accelerator is None:
        low, median, high = central(risk, interval)
    else:
        tail = (1.0 - interval) / 2.0
        low, median, high = accelerator.quantiles(risk, (tail, 0.5, 1.0 - tail))
    return PredictedRisk(r, median, low, high, p_risky)


def central(draws: FloatArray, interval: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Lower end, median and upper end of the equal-tailed interval along the last axis.

    As `numpy.quantile`; sorts the draws in place, which takes less time than selecting.
    """
    draws.sort(axis=-1)
    tail = (1.0 - interval) / 2.0
    out = []
    for share in (tail, 0.5, 1.0 - tail):
        at = share * (draws.shape[-1] - 1)
        low = int(at)
        high = min(low + 1, draws.shape[-1] - 1)
        out.append(draws[..., low] + (at - low) * (draws[..., high] - draws[..., low]))
    return out[0], out[1], out[2]


def topic_forecasts(
    posterior: Posterior,
    champion: int,
    challengers: Sequence[int],
    *,
    interval: float = 0.95,
    seed: int = 0,
    threads: int = 0,
) -> Iterator[TopicForecast]:
    """What may happen to each topic if the champion is replaced, challenger by challenger."""
    system, topic, parameters = kernel_draws(posterior)

    def replicates(row: int) -> npt.NDArray[np.float32]:
        """Scores of one system, (n_topics, n_draws): the same whoever asks for them."""
        out = np.empty((topic.shape[1], posterior.n_draws), dtype=np.float32)
        for start in range(0, posterior.n_draws, CHUNK):
            rows = slice(start, start + CHUNK)
            scores = replicate_scores(
                posterior.family,
                system[rows],
                topic[rows],
                parameters[rows],
                np.array([row]),
                seed=seed,
                first_draw=start,
                threads=threads,
            )
            out[:, rows] = scores[:, 0].T
        return out

    of_champion = replicates(champion)
    for challenger in challengers:
        delta = replicates(challenger)
        delta -= of_champion
        p_worse, p_better = (delta < 0).mean(axis=1), (delta > 0).mean(axis=1)
        expected = delta.mean(axis=1, dtype=np.float64)
        loss = np.minimum(delta, 0).mean(axis=1, dtype=np.float64)
        ends = central(delta, interval)  # type: ignore[arg-type]
        low, median, high = (v.astype(np.float64) for v in ends)
        yield TopicForecast(p_worse, p_better, expected, loss, low, median, high)
