"""Many comparisons at once: does the family-wise error stay at 5 %?"""

from pathlib import Path

import numpy as np

from benchmarks.calibration.pairs import LEVEL, TOPICS, R, effect_for, intervals
from benchmarks.calibration.populations import MATRICES, SEED, distinct, load, risk_adjusted
from surefoot.inference.anova import anova
from surefoot.inference.corrections import adjust
from surefoot.inference.intervals import METHODS
from surefoot.inference.max_t import all_pairs, many_to_one
from surefoot.inference.population import fit_population
from surefoot.inference.t_test import t_test
from surefoot.inference.tukey import tukey

SYSTEMS = 8  # and a champion
JOINT = ("anova", "tukey", "maxt")
AGAINST = ("maxt", "holm", "bonferroni", "bh")

Unit = tuple[int, int]  # matrix, topics


def units() -> list[Unit]:
    """Longest first."""
    return [(m, n) for n in sorted(TOPICS, reverse=True) for m in range(len(MATRICES))]


def run(unit: Unit, data: Path, sets: int, resamples: int) -> dict[str, np.ndarray]:
    """Indicators of each set of topics, all on risk-adjusted differences to the champion.

    All pairs of challengers: `alike`, exchangeable within topics, any rejection is false; `equal`,
    as they are but moved to equal true means, any rejection is false; `half`, half of the alike
    ones better by what the t-test finds 4 times in 5, rejections within a half are false, those
    between are `found`. Against the champion: `error`, every true mean zero, any rejection is
    false; `finds`, every challenger with a loss; `together`, whether Bonferroni's intervals of all
    of them hold their true means.
    """
    m, n = unit
    rng = np.random.default_rng([SEED, 7, m])
    population = fit_population(distinct(load(data, list(MATRICES)[m]), SYSTEMS + 1, rng))
    large = population.draw(400_000, 1, rng)[:, 0]
    true = {r: risk_adjusted(large[1:] - large[0], r) for r in R}
    mean = {r: x.mean(axis=1, keepdims=True) for r, x in true.items()}
    sd = {r: x.std(axis=1, keepdims=True) for r, x in true.items()}
    effect = effect_for(n)
    rng = np.random.default_rng([SEED, 7, m, n])
    drawn = population.draw(n, sets, rng).transpose(1, 0, 2)  # sets, systems, topics
    out: dict[str, list[float]] = {}

    def note(key: str, value: float) -> None:
        out.setdefault(key, []).append(float(value))

    first, second = np.triu_indices(SYSTEMS, 1)
    within = (first < SYSTEMS // 2) == (second < SYSTEMS // 2)
    for k, scores in enumerate(drawn):
        shuffled = rng.permuted(scores[1:], axis=0)
        for r in R:
            worth = risk_adjusted(scores[1:] - scores[0], r)
            alike = risk_adjusted(shuffled - scores[0], r)
            half = alike.copy()
            half[: SYSTEMS // 2] += effect * float((alike[0] - alike[1]).std(ddof=1))
            for what, x in (("alike", alike), ("equal", worth - mean[r]), ("half", half)):
                omnibus = anova(x).p_value[0] <= LEVEL
                note(f"r{r} {'found' if what == 'half' else what} anova", omnibus)
                for name in JOINT[1:]:
                    rejected = _every_pair(name, x, resamples // 2, k) <= LEVEL
                    false = rejected[within] if what == "half" else rejected
                    note(f"r{r} {what} {name}", false.any())
                    if what == "half":
                        note(f"r{r} found {name}", rejected[~within].mean())
            centred = worth - mean[r]
            held = intervals(centred, 2 * resamples, k, comparisons=SYSTEMS)
            for method, low, high in zip(METHODS, held.low, held.high, strict=True):
                note(f"r{r} together {method}", ((low <= 0) & (high >= 0)).all())
            for what, x in (("error", centred), ("finds", centred - effect * sd[r])):
                p = t_test(x).p_value
                joint = many_to_one(x, n_permutations=resamples, seed=k, threads=1)
                adjusted = {"maxt": joint.p_adjusted} | {c: adjust(p, c) for c in AGAINST[1:]}
                for name, value in adjusted.items():
                    rejected = value <= LEVEL
                    share = rejected.any() if what == "error" else rejected.mean()
                    note(f"r{r} {what} {name}", share)
    return {key: np.array(value) for key, value in out.items()}


def _every_pair(test: str, x: np.ndarray, permutations: int, seed: int) -> np.ndarray:
    """Adjusted p-values of all pairs."""
    if test == "tukey":
        return tukey(x).p_adjusted
    return all_pairs(x, n_permutations=permutations, seed=seed, threads=1).p_adjusted
