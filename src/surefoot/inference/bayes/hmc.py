"""Batched Hamiltonian Monte Carlo: many chains advance together as rows of one array.

The fallback when importance sampling fails its diagnostics.
Chains live in whitened sum-to-zero coordinates; mean and covariance for the whitening and the step
size are learned from all chains together during warm-up, then frozen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from surefoot.errors import ModelError
from surefoot.inference.bayes.coordinates import Coordinates, shrinkage_centring
from surefoot.inference.bayes.diagnostics import ess, rhat, tail_ess
from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.sample import Sample

if TYPE_CHECKING:
    from surefoot.inference.bayes.accelerator import Accelerator, Flight

FloatArray = npt.NDArray[np.float64]
Report = Callable[[float, float], None]

METHOD = "batched HMC"
N_CHAINS = 64
STAGES = (40, 60, 80, 80)
FAR_STAGES = (80, 100, 120, 150, 150)
SETTLE = 40
# mean acceptance that the step size aims at, at first and in a second attempt
ACCEPTANCE, CAREFUL_ACCEPTANCE = 0.8, 0.95
LEAST_LENGTH = 400
# R-hat of many short chains is about sqrt(1 + 1 / draws that half a chain is worth), so the usual
# 1.01 would ask for more draws than anyone needs (Margossian et al. 2024, Bayesian Analysis)
MOST_RHAT = 1.05
# fewer effective draws than this leave the ends of intervals uncertain
LEAST_EFFECTIVE = 400
# good chains go on until the worst parameter is worth this many draws, as the ends of its interval
# are known to a twentieth of its standard deviation then, or for this many times their length
ENOUGH_EFFECTIVE, MOST_LENGTHS = 3000, 3
# chains that fail their diagnostics go on for this many times their first length, the first
# attempt being their warm-up
SECOND_LENGTH = 3
# a dense covariance needs several draws a coordinate
DENSE_UP_TO = 400


@dataclass(slots=True)
class _Whitening:
    mean: FloatArray
    root: FloatArray | None
    scale: FloatArray

    def forward(self, z: FloatArray) -> FloatArray:
        return self.mean + (z * self.scale if self.root is None else z @ self.root.T)

    def pull_back(self, gradient: FloatArray) -> FloatArray:
        return gradient * self.scale if self.root is None else gradient @ self.root

    def matrix(self) -> FloatArray:
        """The root as a matrix, whichever way it is kept."""
        return np.diag(self.scale) if self.root is None else self.root

    def inverse(self, q: FloatArray) -> FloatArray:
        off = q - self.mean
        if self.root is None:
            return off / self.scale
        return np.asarray(np.linalg.solve(self.root, off.T).T)


def _whiten(q: FloatArray) -> _Whitening:
    mean = q.mean(axis=0)
    scale = np.maximum(q.std(axis=0), 1e-6)
    n, d = q.shape
    if d > DENSE_UP_TO or n < 4 * d:
        return _Whitening(mean, None, scale)
    covariance = np.cov(q.T).reshape(d, d)
    keep = n / (n + 2.0 * d)
    covariance = keep * covariance + (1 - keep) * np.diag(scale**2)
    try:
        return _Whitening(mean, np.linalg.cholesky(covariance), scale)
    except np.linalg.LinAlgError:
        return _Whitening(mean, None, scale)


class _StepSize:
    """Dual averaging of the acceptance rate (Hoffman & Gelman 2014, section 3.2)."""

    def __init__(self, start: float, target: float) -> None:
        self.target, self.anchor = target, np.log(10 * start)
        self.step = start
        self.error, self.average, self.count = 0.0, np.log(start), 0

    def learn(self, accepted: float) -> None:
        self.count += 1
        share = 1 / (self.count + 10)
        self.error = (1 - share) * self.error + share * (self.target - accepted)
        log_step = self.anchor - np.sqrt(self.count) / 0.05 * self.error
        weight = self.count**-0.75
        self.average = weight * log_step + (1 - weight) * self.average
        self.step = float(np.exp(np.clip(log_step, -12, 1)))


def sample_hmc(
    problem: Problem,
    start: dict[str, FloatArray],
    n_draws: int,
    rng: np.random.Generator,
    *,
    far: bool = False,
    accelerator: "Accelerator | None" = None,
    threads: int = 0,
    report: Report | None = None,
) -> Sample:
    """Draws from many chains, with R-hat and effective sample sizes.

    Parameters
    ----------
    problem : Problem
        Any family.
    start : mapping
        Draws near the posterior, for starting points and a first whitening.
    n_draws : int
        Draws to return.
    far : bool
        Whether the starting points are of another model, so that warm-up takes longer.
    accelerator : Accelerator, optional
        Where trajectories run, instead of the compiled kernels.
    """
    stages = FAR_STAGES if far else STAGES
    space = Coordinates(problem, shrinkage_centring(start), threads)
    flight = None if accelerator is None else accelerator.flight(problem, space.centring)
    q = space.from_draws(start)
    finite = np.isfinite(q).all(axis=1) & np.isfinite((flight or space).log_density(q)[0])
    if not finite.any():
        raise ModelError(
            f"family {problem.family.name} has no finite density near these scores. "
            "Hint: another family or other priors"
        )
    q = q[finite]
    whitening = _whiten(q)
    state = _State(space, q[rng.integers(0, len(q), N_CHAINS)], whitening, flight)
    length = max(-(-n_draws // N_CHAINS), LEAST_LENGTH)
    total = sum(stages) + SETTLE + length
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if report is not None:
            report(done, total)

    step = 0.5 * space.size**-0.25
    for iterations in stages:
        size = _StepSize(step, ACCEPTANCE)
        kept = []
        for turn in range(iterations):
            size.learn(state.advance(size.step, rng)[0])
            if turn >= iterations // 3:
                kept.append(state.q.copy())
            tick()
        step = float(np.exp(size.average))
        state.whitening = _whiten(np.concatenate(kept))
        state.restart()
    for attempt in (1, SECOND_LENGTH):
        if attempt > 1:
            total += SETTLE + attempt * length
        # shorter steps follow a narrow neck where the first attempt diverged
        target = ACCEPTANCE if attempt == 1 else CAREFUL_ACCEPTANCE
        chains, diverged, step_size = _run(state, step, attempt * length, target, rng, tick)
        sample = _finish(problem, space, chains, diverged, n_draws, rng)
        if not sample.warnings:
            break
        state.whitening = _whiten(chains.reshape(-1, space.size))
        state.restart()
    more = _wanted(sample, n_draws, chains.shape[1])
    if more:
        total += more
        further, diverged_too = _advance(state, step_size, more, rng, tick)
        chains = np.concatenate([chains, further], axis=1)
        sample = _finish(problem, space, chains, diverged + diverged_too, n_draws, rng)
    return sample


def _wanted(sample: Sample, n_draws: int, length: int) -> int:
    """How much longer chains without doubts should be."""
    least = min(float(np.min(size)) for size in sample.ess.values())
    enough = min(ENOUGH_EFFECTIVE, n_draws // 4)
    if sample.warnings or least >= enough:
        return 0
    return min(MOST_LENGTHS * length, int(np.ceil(1.1 * length * (enough / least - 1))))


def _run(
    state: "_State",
    step: float,
    length: int,
    target: float,
    rng: np.random.Generator,
    tick: Callable[[], None],
) -> tuple[FloatArray, int, float]:
    """Settle the step size, then keep ``length`` draws of each chain.

    Draws, divergences and the step size.
    """
    size = _StepSize(step, target)
    for _ in range(SETTLE):
        size.learn(state.advance(size.step, rng)[0])
        tick()
    step = float(np.exp(size.average))
    return *_advance(state, step, length, rng, tick), step


def _advance(
    state: "_State", step: float, length: int, rng: np.random.Generator, tick: Callable[[], None]
) -> tuple[FloatArray, int]:
    """``length`` draws of each chain; divergences counted."""
    chains = np.empty((N_CHAINS, length, state.q.shape[1]))
    diverged = 0
    for turn in range(length):
        diverged += state.advance(step, rng)[1]
        chains[:, turn] = state.q
        tick()
    return chains, diverged


class _State:
    """Positions of all chains, with their log densities and gradients."""

    def __init__(
        self,
        space: Coordinates,
        q: FloatArray,
        whitening: _Whitening,
        flight: "Flight | None" = None,
    ) -> None:
        self.space, self.whitening, self.q, self.flight = space, whitening, q, flight
        self.restart()

    def restart(self) -> None:
        self.z = self.whitening.inverse(self.q)
        self.value, self.slope = self._density(self.z)[1:]

    def _density(self, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        q = self.whitening.forward(z)
        value, slope = (self.flight or self.space).log_density(q)
        return q, value, self.whitening.pull_back(slope)

    def _leap(self, momentum: FloatArray, step: float, leaps: int) -> tuple[FloatArray, ...]:
        """Leapfrog steps: whitened and plain positions, values, slopes and momenta at their end."""
        if self.flight is not None:
            mean, root = self.whitening.mean, self.whitening.matrix()
            return self.flight.fly(mean, root, self.z, self.slope, momentum, step, leaps)
        z, slope, value, q = self.z, self.slope, self.value, self.q
        momentum = momentum + 0.5 * step * slope
        for leap in range(leaps):
            z = z + step * momentum
            q, value, slope = self._density(z)
            momentum = momentum + (1.0 if leap < leaps - 1 else 0.5) * step * slope
        return z, q, value, slope, momentum

    def advance(self, step: float, rng: np.random.Generator) -> tuple[float, int]:
        """One trajectory of every chain; mean acceptance and number of divergences."""
        # a quarter turn of a unit normal, jittered so that no frequency is missed
        leaps = int(np.clip(round(rng.uniform(0.6, 1.4) * 1.5708 / step), 1, 60))
        jitter = step * rng.uniform(0.85, 1.0)
        momentum = rng.standard_normal(self.z.shape)
        energy = self.value - 0.5 * np.einsum("nd,nd->n", momentum, momentum)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            z, q, value, slope, momentum = self._leap(momentum, jitter, leaps)
            change = value - 0.5 * np.einsum("nd,nd->n", momentum, momentum) - energy
        change = np.where(np.isfinite(change), change, -np.inf)
        probability = np.exp(np.minimum(change, 0.0))
        accept = rng.random(len(z)) < probability
        self.z = np.where(accept[:, None], z, self.z)
        self.q = np.where(accept[:, None], q, self.q)
        self.slope = np.where(accept[:, None], slope, self.slope)
        self.value = np.where(accept, value, self.value)
        return float(probability.mean()), int((change < -1000).sum())


def _finish(
    problem: Problem,
    space: Coordinates,
    chains: FloatArray,
    diverged: int,
    n_draws: int,
    rng: np.random.Generator,
) -> Sample:
    """Draws of the parameters with diagnostics."""
    n_chains, length, _ = chains.shape
    draws = space.to_draws(chains.reshape(-1, space.size), rng)
    worth: dict[str, FloatArray | float] = {}
    agreement: dict[str, FloatArray | float] = {}
    least = np.inf
    for name, values in draws.items():
        columns = values.reshape(n_chains, length, -1)
        # the mean and the ends of intervals
        sizes = [
            min(ess(columns[:, :, c]), tail_ess(columns[:, :, c])) for c in range(columns.shape[2])
        ]
        least = min(least, *sizes)
        worth[name] = np.minimum(sizes, n_draws)
        agreement[name] = np.array([rhat(columns[:, :, c]) for c in range(columns.shape[2])])
        if values.ndim == 1:
            worth[name], agreement[name] = float(worth[name][0]), float(agreement[name][0])  # type: ignore[index]
    keep = rng.permutation(n_chains * length)[:n_draws]
    doubts = []
    worst = max(float(np.max(v)) for v in agreement.values())
    if worst > MOST_RHAT:
        doubts.append(
            f"the chains disagree (R-hat up to {worst:.3f}): ask for more draws, or another family"
        )
    if least < LEAST_EFFECTIVE:
        doubts.append(f"the chains are worth only {least:.0f} independent draws")
    if diverged > 0.01 * n_chains * length:
        doubts.append(f"{diverged / (n_chains * length):.1%} of the trajectories diverged")
    return Sample(
        {name: values[keep] for name, values in draws.items()},
        METHOD,
        worth,
        agreement,
        warnings=tuple(doubts),
    )
