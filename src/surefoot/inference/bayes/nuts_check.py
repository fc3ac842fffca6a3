"""Cross-check of a fit by somebody else's sampler: nutpie's NUTS (extra ``bayes-check``).

NUTS sees the same log posterior, so this checks the sampling and not the model; the likelihood is
checked against high precision in the tests.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.extras import require
from surefoot.inference.bayes.coordinates import Coordinates, shrinkage_centring
from surefoot.inference.bayes.diagnostics import ess, rhat
from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.sample import Sample

FloatArray = npt.NDArray[np.float64]

# a difference of this share of a posterior sd matters
WORTH_SAYING = 0.1
# standard errors that noise may explain, with hundreds of parameters compared
NOISE = 4.0
_QUANTILES = (0.025, 0.5, 0.975)


@dataclass(frozen=True, slots=True)
class NutsCheck:
    """How far NUTS and a fit disagree, in posterior standard deviations.

    Parameters
    ----------
    mean, quantile : float
        Largest difference of a mean, and of a 2.5, 50 or 97.5 % quantile.
    mean_parameter, quantile_parameter : str
        Where.
    noise, quantile_noise : float
        Standard error of the difference of means at ``mean_parameter``, and of the quantile that
        differs most at ``quantile_parameter``: interval ends lie where draws are rare, so theirs
        is several times as large.
    rhat, ess : float
        Of NUTS' own chains: the worst parameter's.
    """

    mean: float
    mean_parameter: str
    quantile: float
    quantile_parameter: str
    noise: float
    rhat: float
    ess: float
    quantile_noise: float

    @property
    def disagrees(self) -> bool:
        """Whether the difference of means matters and is more than noise."""
        return self.mean > max(WORTH_SAYING, NOISE * self.noise)

    def sentence(self) -> str:
        """One line for people."""
        return (
            f"NUTS differs by at most {self.mean:.3f} posterior sd in a mean "
            f"({self.mean_parameter}; sampling noise {self.noise:.3f}) and by "
            f"{self.quantile:.3f} in an interval end or median ({self.quantile_parameter}; "
            f"sampling noise {self.quantile_noise:.3f}); its R-hat is up to {self.rhat:.3f}."
        )


def check_by_nuts(
    problem: Problem,
    sample: Sample,
    labels: Mapping[str, Sequence[str]],
    *,
    chains: int = 4,
    draws: int = 1000,
    seed: int = 0,
    threads: int = 0,
    progress: bool = False,
) -> NutsCheck:
    """Run NUTS from starting points of its own and compare every parameter.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    sample : Sample
        What an engine made of it. zoi and coi are left out: their posteriors are in closed form.
    labels : mapping
        Names of the columns of ``system`` and ``topic``.
    chains, draws : int
        Chains of NUTS and draws kept of each, after as many for warm-up.
    """
    nutpie = require("nutpie", purpose="a check by NUTS")
    space = Coordinates(problem, shrinkage_centring(sample.draws), threads=1)
    theirs = _run(nutpie, space, chains, draws, seed, threads, progress)
    flat = space.to_draws(theirs.reshape(-1, space.size), np.random.default_rng(seed))
    names, ours, nuts, worth = [], [], [], []
    for name, values in flat.items():
        columns = values.reshape(len(values), -1)
        mine = sample.draws[name].reshape(len(sample.draws[name]), -1)
        effective = np.broadcast_to(sample.ess[name], (columns.shape[1],))
        for c in range(columns.shape[1]):
            names.append(name if values.ndim == 1 else f"{name}[{labels[name][c]}]")
            ours.append(mine[:, c])
            nuts.append(columns[:, c].reshape(chains, draws))
            worth.append(float(effective[c]))
    sds = [max(float(a.std()), float(b.std())) for a, b in zip(ours, nuts, strict=True)]
    sizes = [ess(b) for b in nuts]
    pairs = list(zip(ours, nuts, sds, strict=True))
    means = [abs(float(a.mean() - b.mean())) / sd for a, b, sd in pairs]
    gaps = [
        np.abs(np.quantile(a, _QUANTILES) - np.quantile(b, _QUANTILES)) / sd for a, b, sd in pairs
    ]
    ends = [float(gap.max()) for gap in gaps]
    noise = [math.sqrt(1 / n + 1 / m) for n, m in zip(worth, sizes, strict=True)]
    worst, end = int(np.argmax(means)), int(np.argmax(ends))
    p = _QUANTILES[int(np.argmax(gaps[end]))]
    below = (nuts[end] <= np.quantile(nuts[end], p)).astype(np.float64)
    error = math.hypot(
        quantile_error(ours[end], p, worth[end]), quantile_error(nuts[end], p, ess(below))
    )
    return NutsCheck(
        means[worst],
        names[worst],
        ends[end],
        names[end],
        noise[worst],
        max(rhat(b) for b in nuts),
        min(sizes),
        error / sds[end],
    )


def quantile_error(draws: FloatArray, p: float, effective: float) -> float:
    """Standard error of a quantile: sqrt(p (1 - p) / n) over the density there.

    The density is the slope of the quantiles around it; n is how many independent draws these are
    worth.
    """
    step = 0.25 * min(p, 1 - p)
    below, above = np.quantile(draws, (p - step, p + step))
    return float(math.sqrt(p * (1 - p) / effective) * (above - below) / (2 * step))


def _run(
    nutpie: object,
    space: Coordinates,
    chains: int,
    draws: int,
    seed: int,
    threads: int,
    progress: bool,
) -> FloatArray:
    """Draws of q, ``(chains, draws, size)``."""
    from nutpie.compiled_pyfunc import from_pyfunc

    def make_density() -> Callable[[FloatArray], tuple[float, FloatArray]]:
        def density(q: FloatArray) -> tuple[float, FloatArray]:
            value, slope = space.log_density(np.asarray(q)[None])
            return float(value[0]), slope[0]

        return density

    def make_expand(*_: int) -> Callable[[FloatArray], dict[str, FloatArray]]:
        return lambda q: {"q": np.array(q)}

    model = from_pyfunc(
        space.size, make_density, make_expand, [np.dtype("float64")], [(space.size,)], ["q"]
    )
    trace = nutpie.sample(  # type: ignore[attr-defined]
        model,
        draws=draws,
        tune=draws,
        chains=chains,
        cores=threads or None,
        seed=seed,
        save_warmup=False,
        progress_bar=progress,
    )
    return np.asarray(trace.posterior["q"].values, dtype=np.float64)
