"""One challenger against one champion: intervals and tests on simulated sets of topics."""

import warnings
from pathlib import Path

import numpy as np

from benchmarks.calibration.populations import MATRICES, SEED, distinct, load, risk_adjusted
from surefoot.errors import UnreliableWarning
from surefoot.inference.bootstrap_test import bootstrap_test
from surefoot.inference.effect_size import effect_sizes
from surefoot.inference.intervals import METHODS, Intervals, bootstrap_intervals
from surefoot.inference.population import fit_population
from surefoot.inference.power_formulas import smallest, t_power
from surefoot.inference.randomization import randomization_test
from surefoot.inference.sign_test import sign_test
from surefoot.inference.t_test import t_test
from surefoot.inference.wilcoxon import wilcoxon

R = (1, 2, 5, 10)
TOPICS = (25, 50, 100, 250)
PAIRS = 5  # of each matrix
TESTS = ("t", "bootstrap", "randomization", "wilcoxon", "sign")
LEVEL = 0.05
_TRUTH = 2_000_000  # draws that settle the true mean

Unit = tuple[int, int, int]  # matrix, pair, topics


def units() -> list[Unit]:
    """Longest first."""
    every = [(m, p, n) for n in TOPICS for m in range(len(MATRICES)) for p in range(PAIRS)]
    return sorted(every, key=lambda unit: -unit[2])


def effect_for(n: int, power: float = 0.8) -> float:
    """The effect that the t-test finds with that power at n normal topics."""
    return smallest(lambda k: t_power(n, k / 1000) >= power) / 1000


def run(unit: Unit, data: Path, sets: int, resamples: int) -> dict[str, np.ndarray]:
    """Indicators of each set of topics under `r<R> <what> <method>`, and the population's skewness.

    `covers`, `above` (the interval lies below the true mean), `bounded`, `width` (of Student's) and
    `power` of intervals; `covers` of effect sizes; rejections of tests with the mean moved to zero
    (`centred`), with signs at random (`symmetric`) and with a real loss (`finds`).
    """
    m, p, n = unit
    values = load(data, list(MATRICES)[m])
    population = fit_population(distinct(values, 2, np.random.default_rng([SEED, m, p])))
    large = population.draw(_TRUTH, 1, np.random.default_rng([SEED, m, p, 1]))
    unit_sd = float(large[1].std())  # of Glass's delta
    large = (large[0] - large[1]).ravel()
    out: dict[str, np.ndarray] = {}
    for r in R:
        worth = risk_adjusted(large, r)
        mean, sd = float(worth.mean()), float(worth.std())
        skewness = float((((worth - mean) / sd) ** 3).mean())
        rng = np.random.default_rng([SEED, m, p, r, n])
        scores = population.draw(n, sets, rng)
        x = risk_adjusted(scores[0] - scores[1], r)
        seed = int(rng.integers(2**31))
        shift = -effect_for(n) * sd - mean  # a loss that the t-test finds 4 times in 5
        found = intervals(x, resamples, seed)
        lost = intervals(x + shift, resamples, seed)
        note = out.__setitem__
        note(f"r{r} skewness", np.array([skewness]))
        for k, method in enumerate(METHODS):
            low, high = found.low[k], found.high[k]
            note(f"r{r} covers {method}", (low <= mean) & (mean <= high))
            note(f"r{r} above {method}", high < mean)
            note(f"r{r} bounded {method}", np.isfinite(low) & np.isfinite(high))
            with np.errstate(divide="ignore", invalid="ignore"):
                width = (high - low) / (found.high[0] - found.low[0])
            note(f"r{r} width {method}", np.where(np.isfinite(width), width, np.nan))
            note(f"r{r} power {method}", (lost.low[k] > 0) | (lost.high[k] < 0))
        sizes = effect_sizes(x, scores[1])
        ends = {
            "cohen": (sizes.cohen_low, sizes.cohen_high, mean / sd),
            "glass": (sizes.glass_low, sizes.glass_high, mean / unit_sd),
        }
        for effect, (low, high, true) in ends.items():
            note(f"r{r} covers {effect}", (low <= true) & (true <= high))
        signs = rng.choice((-1.0, 1.0), size=x.shape)
        for what, sample in (("centred", x - mean), ("symmetric", signs * x), ("finds", x + shift)):
            for test, value in _p_values(sample, resamples, seed).items():
                note(f"r{r} {what} {test}", value <= LEVEL)
    return out


def intervals(x: np.ndarray, resamples: int, seed: int, comparisons: int = 1) -> Intervals:
    """All five of each series, at 95 % for all comparisons together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        return bootstrap_intervals(
            x,
            methods=METHODS,
            comparisons=comparisons,
            n_resamples=resamples,
            seed=seed,
            threads=1,
        )


def _p_values(x: np.ndarray, resamples: int, seed: int) -> dict[str, np.ndarray]:
    return {
        "t": t_test(x).p_value,
        "bootstrap": bootstrap_test(x, n_resamples=resamples, seed=seed, threads=1).p_value,
        "randomization": randomization_test(
            x, n_permutations=resamples, seed=seed, threads=1
        ).p_value,
        "wilcoxon": wilcoxon(x, exact_limit=50, threads=1).p_value,
        "sign": sign_test(x).p_value,
    }
