"""Draws from the prior alone: what a model expects before it sees a score."""

import numpy as np
import numpy.typing as npt

from surefoot.errors import ModelError
from surefoot.inference.bayes.families import Problem
from surefoot.inference.bayes.priors import Prior
from surefoot.inference.bayes.sample import Sample

FloatArray = npt.NDArray[np.float64]

METHOD = "prior draws"
# brms' Gamma(0.01, 0.01) puts a third of its mass below the smallest positive number
_TINY = 1e-300
# of drawing again what is not allowed
_MOST_TURNS = 10_000


def sample_prior(problem: Problem, n_draws: int, rng: np.random.Generator) -> Sample:
    """Independent draws of all parameters from their priors; the scores are not looked at."""
    data = problem.data
    draws = {name: draw_parameter(name, prior, n_draws, rng) for name, prior in _order(problem)}
    draws["system"] = draws["sd_system"][:, None] * rng.standard_normal((n_draws, data.n_systems))
    draws["topic"] = draws["sd_topic"][:, None] * rng.standard_normal((n_draws, data.n_topics))
    return Sample(draws, METHOD, dict.fromkeys(draws, float(n_draws)))


def _order(problem: Problem) -> list[tuple[str, Prior]]:
    for name, prior in problem.priors.items():
        if prior.distribution == "flat":
            raise ModelError(
                f"the prior of {name} is flat and cannot be drawn from. "
                f"Hint: --prior '{name}=normal(0,1)'"
            )
    return sorted(problem.priors.items())


def draw_parameter(name: str, prior: Prior, n: int, rng: np.random.Generator) -> FloatArray:
    """``n`` draws of one parameter within its support."""
    out = prior.sample(rng, n)
    if name == "nu":  # brms: nu > 1
        turns = 0
        while (low := out <= 1).any():
            turns += 1
            if turns > _MOST_TURNS:
                raise ModelError(f"prior '{name}={prior}': {name} is above 1, where it has no mass")
            out[low] = prior.sample(rng, int(low.sum()))
    elif name in ("sigma", "phi", "sd_system", "sd_topic"):
        out = np.maximum(out, _TINY)
    return out
