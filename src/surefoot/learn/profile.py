"""The risk of one ranker against each champion, per query: the rows of a model card."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RiskProfile:
    """One ranker against one champion on the same queries (Dincer et al. 2014, Eqs 1-4 and 10)."""

    mean: float
    champion_mean: float
    f_risk: float
    f_reward: float
    wins: int
    losses: int
    ties: int
    loss_over_20: int
    u_risk: float
    t_risk: float

    @property
    def risk_reward(self) -> float:
        """FRisk over FReward."""
        return self.f_risk / self.f_reward if self.f_reward > 0 else float("nan")

    @property
    def loss_win(self) -> float:
        """Losses over wins."""
        return self.losses / self.wins if self.wins > 0 else float("nan")


def risk_profile(values: Doubles, champion: Doubles, *, alpha: float) -> RiskProfile:
    """Profile of per-query effectiveness against a champion's."""
    delta = values - champion
    x = np.where(delta < 0, (1.0 + alpha) * delta, delta)
    c = delta.size
    spread = float(x.std(ddof=1)) if c > 1 else 0.0  # divisor c - 1: errata TRisk-1
    u_risk = float(x.mean())
    # a query counts when it loses more than a fifth of what the champion had
    large = delta < -0.2 * champion - 1e-12
    return RiskProfile(
        mean=float(values.mean()),
        champion_mean=float(champion.mean()),
        f_risk=float(np.maximum(-delta, 0.0).mean()),
        f_reward=float(np.maximum(delta, 0.0).mean()),
        wins=int((delta > 0).sum()),
        losses=int((delta < 0).sum()),
        ties=int((delta == 0).sum()),
        loss_over_20=int(large.sum()),
        u_risk=u_risk,
        t_risk=u_risk / (spread / math.sqrt(c)) if spread > 0 else float("nan"),
    )


def geo_risk(values: Doubles, champions: Doubles, *, alpha: float) -> float:
    """GeoRisk of a ranker in the population of itself and its champions (Dincer et al. 2016)."""
    column = values + champions.sum(axis=0)
    z = standardised_deviations(values, column, float(values.sum()), float(column.sum()))
    z_risk = float(np.where(z < 0, (1.0 + alpha) * z, z).sum())  # plain sum: errata ZRisk-1
    return geo_risk_of(float(values.mean()), z_risk / values.size)


def standardised_deviations(
    values: Doubles, column: Doubles, row_total: float, grand_total: float
) -> Doubles:
    """z of each topic: (x - e) / sqrt(e), e = S T / N; 0 where e is (errata ZRisk-6)."""
    expected = row_total * column / grand_total if grand_total > 0 else np.zeros_like(column)
    positive = expected > 0
    root = np.sqrt(np.where(positive, expected, 1.0))
    return np.where(positive, (values - expected) / root, 0.0)


def geo_risk_of(mean: float, z_per_topic: float) -> float:
    """The geometric mean of effectiveness and Phi(ZRisk / c) (Dincer et al. 2016)."""
    return math.sqrt(max(mean, 0.0) * 0.5 * math.erfc(-z_per_topic / math.sqrt(2.0)))
