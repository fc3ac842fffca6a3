"""Posteriors made up for tests: draws around known effects."""

import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.inference.bayes.summary import make_posterior


def simulated_posterior(
    family="gaussian", *, draws=4_000, systems=6, topics=12, seed=0, spread=0.05, effects=None,
    missing=0,
):  # fmt: skip
    rng = np.random.default_rng(seed)
    names = tuple(f"s{i}" for i in range(systems))
    columns = tuple(f"t{j}" for j in range(topics))
    true = np.linspace(0.4, -0.4, systems) if effects is None else np.asarray(effects, float)
    level = np.linspace(-0.5, 0.5, topics)
    out = {
        "b": rng.normal(0.4, spread, draws),
        "system": true + rng.normal(0, spread, (draws, systems)),
        "topic": level + rng.normal(0, spread, (draws, topics)),
        "sd_system": np.full(draws, 0.3),
        "sd_topic": np.full(draws, 0.3),
    }
    if family == "zoib":
        out |= {"phi": np.full(draws, 2.0), "zoi": np.full(draws, 0.05), "coi": np.full(draws, 0.4)}
        values = rng.beta(2, 2, (systems, topics))
    else:
        out["sigma"] = np.full(draws, 0.2)
        out |= {"nu": np.full(draws, 5.0)} if family == "student" else {}
        out |= {"lambda": np.full(draws, 3.0)} if family == "skew_normal" else {}
        values = 0.4 + true[:, None] + level + rng.normal(0, 0.2, (systems, topics))
    values.ravel()[:missing] = np.nan
    return make_posterior(family, ScoreMatrix(names, columns, values), out, method="made up")
