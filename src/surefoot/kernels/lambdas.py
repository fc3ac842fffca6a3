"""LambdaMART gradients: rank the documents, measure each query, weigh and sum the pairs."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot import _kernels

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Offsets = npt.NDArray[np.int64]
Ranks = npt.NDArray[np.int32]

# LightGBM keeps this many bins of its sigmoid.
SIGMOID_BINS = 1024 * 1024

# Threads of our own.
NO_TEAM = 0


class Swap(IntEnum):
    """How a measure answers to a swap of two documents."""

    ADDITIVE = 0  # sum of gain x weight of the position, over a constant of the query
    AVERAGE_PRECISION = 1
    ERR = 2
    INST = 3


class Arithmetic(IntEnum):
    """Whose rounding the sums follow."""

    DOUBLE = 0
    LIGHTGBM = 1
    XGBOOST = 2


class Normalise(IntEnum):
    """What a query's lambdas are scaled by."""

    OFF = 0
    RISK_FREE = 1
    WEIGHTED = 2


class RiskKind(IntEnum):
    """How a change of the measure becomes a change of the objective."""

    NONE = 0
    SWAP = 1
    SCALE = 2
    GEO = 3
    GEO_EXACT = 4


@dataclass(frozen=True, slots=True)
class QueryMeasure:
    """A measure, in the terms of the kernel.

    Parameters
    ----------
    kind : Swap
        Family of the measure.
    gain : (n_documents,) float array
        Gain of each document.
    cutoff : int
        Positions that count.
    position : (longest query,) float array
        Weight of each position, zero beyond the cut-off (additive measures).
    inverse : (n_queries,) float array
        One over the ideal total of each query (additive measures).
    expected_total : float
        INST's T.
    """

    kind: Swap
    gain: Doubles
    cutoff: int
    position: Doubles
    inverse: Doubles
    expected_total: float = 0.0


@dataclass(frozen=True, slots=True)
class BoosterDelta:
    """The booster's own change of NDCG: full discounts over the ideal at the truncation level."""

    gain: Doubles
    inverse: Doubles
    discount: Doubles


@dataclass(frozen=True, slots=True)
class GeoState:
    """What GeoRisk needs to know of the whole matrix (Dincer et al. 2016, section 3).

    Parameters
    ----------
    value, column : (n_queries,) float arrays
        This model's scores x_ij and the column totals T_j that include them.
    row_total, grand_total, z_total : float
        S_i, N and ZRisk over all topics (of all workers).
    topics : int
        c, of all workers.
    ratio, sum_a, sum_b : float arrays, optional
        For exact recomputation: x/e in ascending order, running sums of x/sqrt(e) and sqrt(e).
    """

    value: Doubles
    column: Doubles
    row_total: float
    grand_total: float
    z_total: float
    topics: int
    alpha: float
    ratio: Doubles | None = None
    sum_a: Doubles | None = None
    sum_b: Doubles | None = None


@dataclass(frozen=True, slots=True)
class PairRisk:
    """The risk part of the pair weights; `alpha` is a factor where the kind is SCALE."""

    kind: RiskKind = RiskKind.NONE
    excess: Doubles | None = None
    alpha: Doubles | None = None
    geo: GeoState | None = None


@dataclass(frozen=True, slots=True)
class PairSettings:
    """Which pairs count and how their gradients are summed."""

    truncation: int = 30
    sigmoid: float = 1.0
    hessian_scale: float = 1.0
    arithmetic: Arithmetic = Arithmetic.DOUBLE
    normalise: Normalise = Normalise.OFF
    sigmoid_table: Doubles | None = field(default=None, repr=False)


def sigmoid_table(sigmoid: float) -> Doubles:
    """LightGBM's table of the logistic function, value for value."""
    table = np.empty(SIGMOID_BINS)
    _kernels.fill_sigmoid_table(sigmoid, table)
    return table


def ideal_totals(offset: Offsets, gain: Doubles, position: Doubles, *, cutoff: int) -> Doubles:
    """Per query, the sum of gain x position weight in the ideal order down to the cut-off."""
    out = np.empty(offset.size - 1)
    _kernels.ideal_totals(offset, gain, position, cutoff, out)
    return out


def rank_documents(
    offset: Offsets, score: Doubles, *, threads: int = 0, team: int = NO_TEAM
) -> Ranks:
    """Documents of each query, best score first, as positions within the query; ties stay put."""
    order = np.empty(score.size, dtype=np.int32)
    _kernels.rank_documents(offset, score, order, threads, team)
    return order


def measure_queries(
    offset: Offsets,
    order: Ranks,
    measure: QueryMeasure,
    *,
    threads: int = 0,
    team: int = NO_TEAM,
) -> Doubles:
    """The measure of each query under an order."""
    out = np.empty(offset.size - 1)
    _kernels.measure_queries(
        offset,
        order,
        measure.gain,
        int(measure.kind),
        measure.cutoff,
        measure.position,
        measure.inverse,
        measure.expected_total,
        out,
        threads,
        team,
    )
    return out


def lambda_gradients(
    offset: Offsets,
    order: Ranks,
    score: Doubles,
    label: Singles,
    measure: QueryMeasure,
    *,
    settings: PairSettings,
    booster: BoosterDelta | None = None,
    risk: PairRisk = PairRisk(),
    weight: Singles | None = None,
    double: bool = False,
    threads: int = 0,
    team: int = NO_TEAM,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Gradient and hessian of each document.

    Parameters
    ----------
    offset : (n_queries + 1,) int array
        First document of each query.
    order : (n_documents,) int array
        From `rank_documents` on the same scores.
    label : (n_documents,) float array
        Which of two documents should come first.
    booster : BoosterDelta, optional
        Weigh pairs by the booster's delta times the risk's rate of change; without it by the change
        of the measure itself.
    weight : (n_documents,) float array, optional
        Multiplies gradients and hessians.
    double : bool
        64-bit outputs (for `Arithmetic.DOUBLE` only).
    team : int
        Address of a `GOMP_parallel` whose threads do the work, as `learn.team` finds it.
    """
    geo = risk.geo
    dtype = np.float64 if double else np.float32
    gradient, hessian = np.empty(score.size, dtype), np.empty(score.size, dtype)
    _kernels.lambda_gradients(
        offset=offset,
        order=order,
        score=score,
        label=label,
        gain=measure.gain,
        measure=int(measure.kind),
        cutoff=measure.cutoff,
        position=measure.position,
        inverse=measure.inverse,
        expected_total=measure.expected_total,
        booster_gain=None if booster is None else booster.gain,
        booster_inverse=None if booster is None else booster.inverse,
        discount=None if booster is None else booster.discount,
        weight=weight,
        sigmoid_table=settings.sigmoid_table,
        truncation=settings.truncation,
        sigmoid=settings.sigmoid,
        hessian_scale=settings.hessian_scale,
        arithmetic=int(settings.arithmetic),
        normalise=int(settings.normalise),
        risk=int(risk.kind),
        excess=risk.excess,
        alpha=risk.alpha,
        value=None if geo is None else geo.value,
        column=None if geo is None else geo.column,
        row_total=0.0 if geo is None else geo.row_total,
        grand_total=0.0 if geo is None else geo.grand_total,
        z_total=0.0 if geo is None else geo.z_total,
        geo_alpha=0.0 if geo is None else geo.alpha,
        topics=0 if geo is None else geo.topics,
        ratio=None if geo is None else geo.ratio,
        sum_a=None if geo is None else geo.sum_a,
        sum_b=None if geo is None else geo.sum_b,
        gradient32=None if double else gradient,
        hessian32=None if double else hessian,
        gradient64=gradient if double else None,
        hessian64=hessian if double else None,
        threads=threads,
        team=team,
    )
    return gradient, hessian
