"""A fitted hierarchical model: equally weighted draws, their origin, whether to trust them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]

# population-level parameters in the order of the summary; a family has some of them
SCALARS = ("b", "sigma", "phi", "zoi", "coi", "lambda", "k", "nu", "sd_system", "sd_topic")
SUMMARY = ("parameter", "mean", "sd", "q2.5", "q50", "q97.5", "ess", "rhat", "method")


@dataclass(frozen=True, slots=True, kw_only=True)
class Posterior(Result):
    """Draws from the posterior of a hierarchical model of systems x topics.

    Parameters
    ----------
    family : str
        ``gaussian``, ``skew_normal``, ``zoib``, ``zoib_rank`` or ``student``.
    systems, topics : tuples of str
        Names of the rows and columns of the effects.
    draws : mapping
        Parameter -> equally weighted draws. The names of `SCALARS` that the family has, each
        ``(n_draws,)``; ``system`` ``(n_draws, n_systems)`` and ``topic`` ``(n_draws, n_topics)``,
        the effects s_i and t_j on the scale of the linear predictor b + s_i + t_j. Read-only.
    scores : ScoreMatrix
        The scores that were observed (for ``zoib_rank``, the mean gain over ranks).
    method : str
        The engine that drew them, in words.
    khat, efficiency : float
        Pareto k-hat of the importance weights and effective draws per weighted draw; NaN for
        engines without weights.
    effective_draws : float
        How many independent draws the sample is worth, for its worst parameter.
    seconds : float
        Wall time of the fit.
    ess, rhat : mappings
        Parameter name (as in the summary) -> effective sample size, and R-hat where there are
        chains (NaN where there are none).
    warnings : tuple of str
        Why the draws should not be trusted as they stand, or what fell back to what; empty is good.
    summary : mapping
        The columns of `SUMMARY`, made by `surefoot.inference.bayes.summary.summarise`.
    gains : RankGains, optional
        Per-rank observations of ``zoib_rank``.
    """

    command: ClassVar[str] = "fit"

    family: str
    systems: tuple[str, ...] = field(repr=False)
    topics: tuple[str, ...] = field(repr=False)
    draws: Mapping[str, FloatArray] = field(repr=False)
    scores: ScoreMatrix = field(repr=False)
    method: str
    khat: float = float("nan")
    efficiency: float = float("nan")
    effective_draws: float = float("nan")
    seconds: float = float("nan")
    ess: Mapping[str, float] = field(default_factory=dict, repr=False)
    rhat: Mapping[str, float] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()
    summary: Mapping[str, Column] = field(default_factory=dict, repr=False)
    gains: "RankGains | None" = field(default=None, repr=False)

    def __post_init__(self) -> None:
        draws = {name: _read_only(values) for name, values in self.draws.items()}
        object.__setattr__(self, "draws", MappingProxyType(draws))

    def __reduce__(self) -> tuple[Callable[..., "Posterior"], tuple[dict[str, Any]]]:
        """Copies and pickles as its fields; a read-only mapping can do neither."""
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return _remake, (parts | {"draws": dict(self.draws)},)

    @property
    def n_draws(self) -> int:
        """Number of equally weighted draws."""
        return int(self.draws["b"].shape[0])

    def columns(self) -> dict[str, Column]:
        """One row a parameter: mean, sd, quantiles, effective sample size, R-hat, method."""
        return {name: self.summary.get(name, ()) for name in SUMMARY}


def _read_only(values: npt.ArrayLike) -> FloatArray:
    """A view that cannot be written through; the caller's own array stays as it is."""
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def _remake(parts: dict[str, Any]) -> Posterior:
    return Posterior(**parts)


@dataclass(frozen=True, slots=True, eq=False)
class RankGains:
    """Gains of single ranks: what `zoib_rank` observes instead of one score a topic.

    Parameters
    ----------
    systems, topics : tuples of str
        Names.
    system, topic : (n,) int arrays
        Row and column of each observation.
    rank : (n,) float array
        Rank, from 1.
    score : (n,) float array
        Gain at that rank.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    system: npt.NDArray[np.int64] = field(repr=False)
    topic: npt.NDArray[np.int64] = field(repr=False)
    rank: FloatArray = field(repr=False)
    score: FloatArray = field(repr=False)

    def means(self) -> ScoreMatrix:
        """Mean gain over ranks of every system and topic; NaN where there is none."""
        shape = (len(self.systems), len(self.topics))
        total, count = np.zeros(shape), np.zeros(shape)
        np.add.at(total, (self.system, self.topic), self.score)
        np.add.at(count, (self.system, self.topic), 1.0)
        out = np.full(shape, np.nan)
        np.divide(total, count, out=out, where=count > 0)
        return ScoreMatrix(self.systems, self.topics, out, measure="mean gain")
