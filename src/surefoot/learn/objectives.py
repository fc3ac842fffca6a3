"""Risk-sensitive LambdaMART objectives: what a swap is worth, given a champion.

References: Wang et al. 2012 (U-CRO); Dincer et al. 2014, section 6 (SARO, FARO); Dincer et al.
2016, section 6 (GeoRisk). docs/method/learn.md has the derivations and the choices made.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.features import FeatureData
from surefoot.errors import InputError
from surefoot.kernels.lambdas import (
    Arithmetic,
    BoosterDelta,
    Doubles,
    GeoState,
    Normalise,
    PairRisk,
    PairSettings,
    QueryMeasure,
    RiskKind,
    Singles,
    ideal_totals,
    lambda_gradients,
    measure_queries,
    rank_documents,
    sigmoid_table,
)
from surefoot.learn.measures import LearningMeasure, dcg_discounts, dcg_gains, safe_inverse
from surefoot.learn.profile import standardised_deviations
from surefoot.learn.team import booster_team

OBJECTIVES = ("ndcg", "u-cro", "saro", "faro", "georisk")
TIE = 1e-12
# Adds up small vectors over all workers; one worker has nothing to add.
Reduce = Callable[[Doubles], Doubles]


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """What to learn for.

    Parameters
    ----------
    name : {"ndcg", "u-cro", "saro", "faro", "georisk"}
        "ndcg" is the plain lambda, whatever the measure.
    alpha : float
        Weight of losses against the champion; 0 makes all but GeoRisk the plain lambda.
    measure : str
        Effectiveness M whose risk counts: nDCG@k, AP, ERR@k, RBP(p=), INST(T=).
    truncation_level : int
        Pairs need one document among this many first (LightGBM's name and default).
    label_gain : tuple of float, optional
        Gain of each label for NDCG; 2^label - 1 where absent.
    max_label : int, optional
        The highest grade there is, for ERR, RBP and INST; where absent, the highest of the data.
        Collections that are compared need one scale: `train` and `cross_validate` see to it.
    sigmoid : float
        Slope of the pairwise logistic.
    normalize : {"risk-free", "weighted", "off"}
        Scale each query's lambdas by log2(1 + sum) / sum as the boosters do, and each pair by its
        distance in score. "risk-free" sums the lambdas before risk weights, so that the weight of
        a whole query survives; "weighted" sums them after; both are the booster's at alpha 0.
    pair_weight : {"booster", "measure"}
        "booster" takes the booster's own delta NDCG (full discounts over the ideal at the
        truncation level) times the rate at which the objective answers to the measure; "measure"
        takes the change of the objective itself. Measures other than NDCG always use the latter.
    standard_error : {"first", "each"}
        SARO and FARO estimate SE(URisk) once, after the first round, as the paper does, or anew in
        each round.
    georisk : {"refresh", "exact"}
        Renew only the swapped topic's z, which keeps GeoRisk consistent, or recompute every topic's
        expectation (errata ZRisk-3).
    """

    name: str = "ndcg"
    alpha: float = 1.0
    measure: str = "nDCG@10"
    truncation_level: int = 30
    label_gain: tuple[float, ...] | None = None
    max_label: int | None = None
    sigmoid: float = 1.0
    normalize: str = "risk-free"
    pair_weight: str = "booster"
    standard_error: str = "first"
    georisk: str = "refresh"

    def __post_init__(self) -> None:
        for field, value, known in (
            ("objective", self.name, OBJECTIVES),
            ("normalize", self.normalize, ("risk-free", "weighted", "off")),
            ("pair_weight", self.pair_weight, ("booster", "measure")),
            ("standard_error", self.standard_error, ("first", "each")),
            ("georisk", self.georisk, ("refresh", "exact")),
        ):
            if value not in known:
                raise InputError(f"{field} {value!r} is not one of {', '.join(known)}")
        if not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise InputError(f"alpha must be a finite number not below 0, but got {self.alpha}")
        if not (np.isfinite(self.sigmoid) and self.sigmoid > 0):
            raise InputError(f"sigmoid must be above 0, but got {self.sigmoid}")
        if self.truncation_level < 1:
            raise InputError(
                f"truncation_level must be at least 1, but got {self.truncation_level}"
            )
        if self.max_label is not None and self.max_label < 1:
            raise InputError(f"max_label must be at least 1, but got {self.max_label}")
        self.learning_measure()

    def learning_measure(self) -> LearningMeasure:
        """The measure whose risk counts, with its gains."""
        return LearningMeasure.parse(
            self.measure, label_gain=self.label_gain, max_label=self.max_label
        )

    @property
    def needs_champion(self) -> bool:
        """Whether a champion's scores take part."""
        return self.name == "georisk" or (self.name != "ndcg" and self.alpha > 0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-compatible settings."""
        out = asdict(self)
        out["label_gain"] = None if self.label_gain is None else list(self.label_gain)
        return out

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Objective":
        """The inverse of `to_dict`."""
        gains = settings.get("label_gain")
        return cls(**{**settings, "label_gain": None if gains is None else tuple(gains)})


def one_scale(objective: Objective, *collections: FeatureData | None) -> Objective:
    """The objective with the highest grade of all collections: ERR, RBP and INST need one scale."""
    if objective.max_label is not None:
        return objective
    top = max(float(c.labels.max()) for c in collections if c is not None)
    return replace(objective, max_label=max(math.ceil(top), 1))


class RankingGradient:
    """Gradients of an objective on one training set; holds the state of one fit.

    Parameters
    ----------
    objective : Objective
        What to learn for.
    offsets : (n_queries + 1,) int array
        First document of each query.
    labels : (n_documents,) float array
        Relevance.
    champions : (n_baselines, n_queries) float array, optional
        Effectiveness of each baseline under the objective's measure. U-CRO, SARO and FARO take one
        (or the mean of several: T*-FARO of the 2016 paper); GeoRisk takes all.
    weights : (n_documents,) float array, optional
        Sample weights.
    booster : {"lightgbm", "xgboost"}
        Whose arithmetic and hessian to follow.
    reduce : callable, optional
        Adds a small vector over all workers (XGBoost's allreduce); SARO, FARO and GeoRisk use it.

    Notes
    -----
    Call it with the scores so far, as both boosters do (their second argument is not needed). Its
    state is the round and SE(URisk). When the scores are again those that the first call saw, a new
    fit has begun and the state is forgotten, so one object may serve fit after fit.
    """

    def __init__(
        self,
        objective: Objective,
        offsets: npt.NDArray[np.int64],
        labels: npt.ArrayLike,
        *,
        champions: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
        booster: str = "lightgbm",
        reduce: Reduce | None = None,
        threads: int = 0,
    ) -> None:
        self.objective = objective
        self.booster = booster
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.labels: Singles = np.ascontiguousarray(labels, dtype=np.float32)
        self.threads = threads
        self.weights: Singles | None = (
            None if weights is None else np.ascontiguousarray(weights, dtype=np.float32)
        )
        learning = objective.learning_measure()
        self.measure: QueryMeasure = learning.build(self.offsets, self.labels)
        self.champions = self._check_champions(champions)
        self._distributed = reduce is not None
        self._reduce: Reduce = reduce if reduce is not None else (lambda sums: sums)
        if self._distributed and objective.name == "georisk" and objective.georisk == "exact":
            raise InputError("exact GeoRisk needs all topics on one machine. Hint: georisk=refresh")
        self._delta = self._booster_delta(learning)
        self._settings = self._pair_settings(booster)
        self.reset()

    def reset(self) -> None:
        """Forget the rounds of an earlier fit."""
        self.iteration = 0
        self._deviation: float | None = None
        self._start: npt.NDArray[Any] | None = None

    def _check_champions(self, champions: npt.ArrayLike | None) -> Doubles | None:
        if not self.objective.needs_champion:
            return None
        if champions is None:
            raise InputError(
                f"the objective {self.objective.name!r} needs a champion's score on every training "
                "query. Hint: --baseline FILE (or champion=...)"
            )
        scores = np.atleast_2d(np.asarray(champions, dtype=np.float64))
        if scores.shape[1] != self.offsets.size - 1:
            raise InputError(
                f"the champion has {scores.shape[1]} scores for {self.offsets.size - 1} queries"
            )
        if not np.isfinite(scores).all():
            raise InputError("a champion score is missing or not finite")
        if self.objective.name == "georisk" and (scores < 0).any():
            raise InputError("GeoRisk needs champion scores that are not negative")
        return scores

    def _booster_delta(self, learning: LearningMeasure) -> BoosterDelta | None:
        if learning.name != "ndcg" or self.objective.pair_weight == "measure":
            return None
        longest = int(np.diff(self.offsets).max())
        gain = dcg_gains(self.labels, self.objective.label_gain)
        discount = dcg_discounts(longest)
        ideal = ideal_totals(self.offsets, gain, discount, cutoff=self.objective.truncation_level)
        return BoosterDelta(gain, safe_inverse(ideal), discount)

    def _pair_settings(self, booster: str) -> PairSettings:
        objective = self.objective
        normalise = {
            "off": Normalise.OFF,
            "risk-free": Normalise.RISK_FREE,
            "weighted": Normalise.WEIGHTED,
        }[objective.normalize]
        arithmetic, table = Arithmetic.DOUBLE, None
        if not objective.needs_champion and self._delta is not None:
            # without risk the booster's own rounding gives the booster's own trees
            if booster == "lightgbm":
                arithmetic, table = Arithmetic.LIGHTGBM, sigmoid_table(objective.sigmoid)
            elif objective.sigmoid == 1.0:
                arithmetic = Arithmetic.XGBOOST
        return PairSettings(
            truncation=objective.truncation_level,
            sigmoid=objective.sigmoid,
            hessian_scale=2.0 if booster == "xgboost" else 1.0,
            arithmetic=arithmetic,
            normalise=normalise,
            sigmoid_table=table,
        )

    def __call__(self, scores: npt.ArrayLike, _: Any = None) -> tuple[Singles, Singles]:
        """Gradient and hessian of each document; advances the round."""
        if self.objective.needs_champion and self.objective.name in ("saro", "faro"):
            self._notice_a_new_fit(np.asarray(scores))
        gradient, hessian = self.gradients(scores)
        self.iteration += 1
        return gradient, hessian

    def _notice_a_new_fit(self, scores: npt.NDArray[Any]) -> None:
        moved = self._start is None or not np.array_equal(scores, self._start)
        # one worker's scores may stand still while another's move
        if self.iteration > 0 and self._reduce(np.array([float(moved)]))[0] == 0:
            self.reset()
        if self.iteration == 0:
            self._start = scores.copy()

    def gradients(
        self, scores: npt.ArrayLike, *, double: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Gradient and hessian at the current round."""
        values = np.ascontiguousarray(scores, dtype=np.float64)
        workers = {"threads": self.threads, "team": booster_team(self.booster)}
        order = rank_documents(self.offsets, values, **workers)
        risk = PairRisk()
        if self.champions is not None:
            risk = self.risk(measure_queries(self.offsets, order, self.measure, **workers))
        settings = self._settings
        if double:
            settings = replace(settings, arithmetic=Arithmetic.DOUBLE)
        return lambda_gradients(
            self.offsets,
            order,
            values,
            self.labels,
            self.measure,
            settings=settings,
            booster=self._delta,
            risk=risk,
            weight=self.weights,
            double=double,
            **workers,
        )

    def effectiveness(self, scores: npt.ArrayLike) -> Doubles:
        """The measure of each query under these scores."""
        values = np.ascontiguousarray(scores, dtype=np.float64)
        order = rank_documents(self.offsets, values, threads=self.threads)
        return measure_queries(self.offsets, order, self.measure, threads=self.threads)

    def risk(self, now: Doubles) -> PairRisk:
        """The risk part of the pair weights, given each query's effectiveness."""
        champions = self.champions
        if champions is None:
            return PairRisk()
        if self.objective.name == "georisk":
            return self._georisk(now, champions)
        excess = now - (champions[0] if len(champions) == 1 else champions.mean(axis=0))
        # the same ranking measured along another road differs in the last bits: still a tie
        excess[np.abs(excess) < TIE] = 0.0
        alpha = self.objective.alpha
        if self.objective.name == "u-cro":
            # Wang et al. 2012, with the exact swap formula (errata ZRisk-5)
            return PairRisk(RiskKind.SWAP, excess=excess, alpha=np.full(now.size, alpha))
        adapted = self.adapted_alpha(excess)
        if adapted is None:
            return PairRisk()  # first round: no model yet whose risk could be judged
        if self.objective.name == "saro":
            return PairRisk(RiskKind.SWAP, excess=excess, alpha=adapted)
        return PairRisk(RiskKind.SCALE, alpha=1.0 + adapted)  # Dincer et al. 2014, Eq. 26

    def adapted_alpha(self, excess: Doubles) -> Doubles | None:
        """SARO's and FARO's alpha of each topic; None in the first round.

        alpha' = (1 - Phi(T_R)) alpha, T_R = x / s_x (Dincer et al. 2014, Eqs 21 and 25;
        errata TRisk-5 and TRisk-9: between alpha / 2 and alpha for a loss).
        """
        if self.iteration == 0:
            return None
        from scipy.special import ndtr

        alpha = self.objective.alpha
        x = np.where(excess < 0, (1.0 + alpha) * excess, excess)
        if self._deviation is None or self.objective.standard_error == "each":
            n, total, squares = self._reduce(
                np.array([float(x.size), float(x.sum()), float((x * x).sum())])
            )
            spread = (squares - total * total / n) / (n - 1.0) if n > 1 else 0.0
            # no spread (the model still orders as the champion does): try again next round
            self._deviation = float(np.sqrt(spread)) if spread > 1e-18 else None
        if self._deviation is None:
            standardised = np.where(x == 0.0, 0.0, np.copysign(np.inf, x))
        else:
            standardised = x / self._deviation
        adapted: Doubles = alpha * (1.0 - ndtr(standardised))
        return adapted

    def _georisk(self, now: Doubles, champions: Doubles) -> PairRisk:
        alpha = self.objective.alpha
        column = now + champions.sum(axis=0)
        row_total, grand_total, topics = self._reduce(
            np.array([now.sum(), column.sum(), float(now.size)])
        )
        z = standardised_deviations(now, column, float(row_total), float(grand_total))
        z_total = float(self._reduce(np.array([np.where(z < 0, (1.0 + alpha) * z, z).sum()]))[0])
        exact = self.objective.georisk == "exact"
        ratio = sum_a = sum_b = None
        if exact:
            expected = row_total * column / grand_total if grand_total > 0 else column
            x, e = now[expected > 0], expected[expected > 0]
            r = np.sqrt(e)
            by_ratio = np.argsort(x / e, kind="stable")
            ratio = np.ascontiguousarray((x / e)[by_ratio])
            sum_a = np.concatenate([[0.0], np.cumsum((x / r)[by_ratio])])
            sum_b = np.concatenate([[0.0], np.cumsum(r[by_ratio])])
        state = GeoState(
            now,
            column,
            float(row_total),
            float(grand_total),
            z_total,
            round(topics),
            alpha,
            ratio,
            sum_a,
            sum_b,
        )
        return PairRisk(RiskKind.GEO_EXACT if exact else RiskKind.GEO, geo=state)
