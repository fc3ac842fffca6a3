"""Topics that tests of all systems at once need, and overlays that a population defines.

ZRisk and GeoRisk carry no significance, so their "power" is the chance that new topics put the
challenger and the champion in the order that the given scores put them in.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.inference.anova import anova
from surefoot.inference.max_t import many_to_one
from surefoot.inference.population import Population, fit_population
from surefoot.inference.power_simulation import simulated_shares
from surefoot.inference.studentized_range import studentized_range_isf
from surefoot.overlays.geo_risk import geo_risk
from surefoot.overlays.value import Linear, ValueFunction
from surefoot.overlays.z_risk import deviations, z_risk
from surefoot.workflows.comparison import Comparison

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

TESTS = ("anova", "tukey", "maxt")
OVERLAYS = ("z_risk", "geo_risk")
JOINT = (*TESTS, *OVERLAYS)


@dataclass(slots=True)
class JointPower:
    """The power of one joint test or overlay, at any number of topics, for every comparison.

    Parameters
    ----------
    pairs : tuple of (system, other)
    effect : (n_pairs,) array
        Mean difference over its standard deviation; of an overlay, how far apart it puts the two.
    """

    pairs: tuple[tuple[str, str], ...]
    effect: FloatArray
    _population: Population
    _decide: Callable[[FloatArray, int], BoolArray]
    _sets: int
    _seed: int
    _known: dict[int, tuple[FloatArray, FloatArray]]

    def at(self, n_topics: int) -> tuple[FloatArray, FloatArray]:
        """(power, Monte Carlo error) of every pair; simulated once for all of them."""
        if n_topics not in self._known:
            self._known[n_topics] = simulated_shares(
                self._population.draw,
                n_topics,
                self._decide,
                n_systems=len(self._population.ordered),
                n_sets=self._sets,
                seed=self._seed,
            )
        return self._known[n_topics]


def joint_power(
    compared: Comparison,
    champion: str,
    kind: str,
    *,
    alpha: float,
    function: ValueFunction | None,
    level: float,
    margins: str,
    copula: str,
    simulations: int,
    resamples: int,
    seed: int,
    threads: int,
) -> JointPower:
    """Fit a population to all systems of the table and say what is decided on each set of topics.

    Parameters
    ----------
    kind : str
        A name of `JOINT`.
    """
    matrix = compared.matrix
    values = np.ascontiguousarray(matrix.values[:, ~matrix.missing.any(axis=0)])
    if values.shape[1] < 5:
        raise InputError(
            f"only {values.shape[1]} topics have a score of every system, and five are needed to "
            f"simulate the {kind} test. Hint: leave out the systems with few topics"
        )
    base, rows = matrix.index(champion), compared.challengers
    worth: ValueFunction = Linear(alpha) if function is None else function
    x = worth(values[rows] - values[base])
    pairs = tuple((matrix.systems[i], champion) for i in rows)

    critical: dict[int, float] = {}  # Tukey's, by the number of topics

    def overlay(scores: FloatArray) -> FloatArray:
        d = deviations(scores, value=function, threads=1)
        of_systems = (z_risk if kind == "z_risk" else geo_risk)(d, 0.0 if function else alpha)
        return np.asarray(of_systems[rows] - of_systems[base])

    def decide(scores: FloatArray, number: int) -> BoolArray:
        if kind == "anova":
            return np.array([anova(scores).p_value[0] <= level])
        if kind == "tukey":
            n = scores.shape[1]
            if n not in critical:
                df = (len(scores) - 1) * (n - 1)
                critical[n] = studentized_range_isf(level, len(scores), df)
            means = scores.mean(axis=1)
            error = np.sqrt(anova(scores).mean_square[2] / n)
            return np.asarray(np.abs(means[rows] - means[base]) >= critical[n] * error)
        if kind == "maxt":
            joint = many_to_one(
                worth(scores[rows] - scores[base]),
                n_permutations=resamples,
                seed=number,
                threads=threads,
            )
            return np.asarray(joint.p_adjusted <= level)
        return np.asarray(np.sign(overlay(scores)) == order)

    if kind == "anova":
        pairs, table = (("all systems", ""),), anova(values)
        effect = np.sqrt(np.array([max(table.f[0] - 1, 0.0) / values.shape[1]]))
    elif kind in OVERLAYS:
        effect = overlay(values)
        order = np.sign(effect)
    else:
        spread = x.std(axis=1, ddof=1)
        effect = np.divide(x.mean(axis=1), spread, out=np.zeros(len(x)), where=spread > 0)
    population = fit_population(values, margins=margins, copula=copula)
    return JointPower(pairs, effect, population, decide, simulations, seed, {})
