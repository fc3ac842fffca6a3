"""The hierarchical models in PyMC, sampled long by nutpie's NUTS; run by `reference_bayes`.

Runs in an environment that holds the sampler and not Surefoot. Models and priors are written down
from docs/method/bayes.md a second time: nothing here calls Surefoot's kernels. Reads plain scores
(or gains by rank), writes a summary of every parameter with its effective sizes, by ArviZ.

Run: python reference_nuts.py IN.npz OUT.json '{"chains": 4, "warmup": 1000, "draws": 5000}'
"""

import json
import sys
import time
import warnings
from pathlib import Path

import arviz as az
import numpy as np
import nutpie
import pymc as pm
import pytensor.tensor as pt

SCALARS = ("b", "sigma", "phi", "zoi", "coi", "lambda", "k", "nu", "sd_system", "sd_topic")
QUANTILES = (0.025, 0.5, 0.975)


def identity_scale(y):
    """brms: location and scale of the priors on the scale of the scores."""
    median = float(np.median(y))
    mad = 1.4826 * float(np.median(np.abs(y - median)))
    return round(median, 1), max(2.5, round(mad, 1))


def log_normal_cdf(t):
    """Log of the normal distribution function, stable in both tails, gradients too."""
    low, high = pt.minimum(t, -1.0), pt.maximum(t, -1.0)
    lower = pt.log(pt.erfcx(-low / np.sqrt(2)) / 2) - low**2 / 2
    return pt.switch(t < -1.0, lower, pt.log1p(-pt.erfc(high / np.sqrt(2)) / 2))


def skew_normal(y, mean, sd, shape):
    """Skew normal by its mean and standard deviation (thesis, Algorithm 4.2)."""
    delta = shape / pt.sqrt(1 + shape**2)
    omega = sd / pt.sqrt(1 - 2 * delta**2 / np.pi)
    xi = mean - omega * delta * np.sqrt(2 / np.pi)
    z = (y - xi) / omega
    # pm.SkewNormal takes log(1 + erf(.)), which is minus infinity below -6
    return np.log(2) + pm.logp(pm.Normal.dist(xi, omega), y) + log_normal_cdf(shape * z)


def model_of(data, centred):
    """b + s_i + t_j in coordinates without a ridge, and the family's likelihood."""
    family, y = str(data["family"]), data["y"]
    n_systems, n_topics = int(data["n_systems"]), int(data["n_topics"])
    inflated = family in ("zoib", "zoib_rank")
    location, scale = (0.0, 2.5) if inflated else identity_scale(y)
    inside = (y > 0) & (y < 1) if inflated else np.ones(len(y), bool)
    start = float(np.log(y[inside].mean() / (1 - y[inside].mean()))) if inflated else location
    with pm.Model() as model:
        sd_system = pm.HalfStudentT("sd_system", nu=3, sigma=scale, initval=0.3)
        sd_topic = pm.HalfStudentT("sd_topic", nu=3, sigma=scale, initval=0.3)
        # level = b + mean(system) + mean(topic); given it and b, the two means share the rest
        level = pm.Flat("level", initval=start)
        z, u = pm.Normal("z"), pm.Normal("u")
        of_systems, of_topics = sd_system**2 / n_systems, sd_topic**2 / n_topics
        total = of_systems + of_topics
        rest = pt.sqrt(total) * z
        b = pm.Deterministic("b", level - rest)
        pm.Potential("prior_b", pm.logp(pm.StudentT.dist(nu=3, mu=location, sigma=scale), b))
        mean = of_systems / total * rest + pt.sqrt(of_systems * of_topics / total) * u
        contrasts = []
        for name, sd, n in (("system", sd_system, n_systems), ("topic", sd_topic, n_topics)):
            if name in centred:
                contrasts.append(pm.ZeroSumNormal(f"{name}_contrast", sigma=sd, shape=n))
            else:
                contrasts.append(sd * pm.ZeroSumNormal(f"{name}_contrast", sigma=1, shape=n))
        pm.Deterministic("system", contrasts[0] + mean)
        pm.Deterministic("topic", contrasts[1] + rest - mean)
        eta = level + contrasts[0][data["system"]] + contrasts[1][data["topic"]]
        if not inflated:
            sigma = pm.HalfStudentT("sigma", nu=3, sigma=scale, initval=0.3)
        if family == "gaussian":
            pm.Normal("y", eta, sigma, observed=y)
        elif family == "student":
            nu = pm.Truncated("nu", pm.Gamma.dist(alpha=2, beta=0.1), lower=1, initval=10.0)
            pm.StudentT("y", nu=nu, mu=eta, sigma=sigma, observed=y)
        elif family == "skew_normal":
            shape = pm.Normal("lambda", 0, 4, initval=0.5)
            pm.Potential("y", skew_normal(y, eta, sigma, shape))
        else:
            phi = pm.Gamma("phi", alpha=0.01, beta=0.01, initval=5.0)
            if family == "zoib_rank":
                k = pm.Flat("k", initval=0.0)
                eta = eta + k * (data["rank"] - data["rank"].mean())
            mu = pm.math.sigmoid(eta[np.flatnonzero(inside)])
            pm.Beta("y", mu * phi, (1 - mu) * phi, observed=y[inside])
            pm.Bernoulli("edge", pm.Beta("zoi", 1, 1), observed=(~inside).astype(int))
            if family == "zoib":
                pm.Bernoulli("one", pm.Beta("coi", 1, 1), observed=y[~inside].astype(int))
    return model


def rows(posterior):
    """Name -> mean, sd, three quantiles, then effective sizes and errors of mean and quantiles."""
    out = {}
    names = [name for name in SCALARS if name in posterior] + ["system", "topic"]
    chosen = posterior[names]
    mean = az.ess(chosen, method="mean"), az.mcse(chosen, method="mean")
    ends = [
        (az.ess(chosen, method="quantile", prob=p), az.mcse(chosen, method="quantile", prob=p))
        for p in QUANTILES
    ]
    for name in names:
        values = chosen[name].values
        columns = values.reshape(-1, int(np.prod(values.shape[2:], dtype=int)))
        found = [
            columns.mean(axis=0),
            columns.std(axis=0),
            *np.quantile(columns, QUANTILES, axis=0),
        ]
        found += [np.ravel(part[0][name].values) for part in (mean, *ends)]
        found += [np.ravel(part[1][name].values) for part in (mean, *ends)]
        for c, row in enumerate(np.array(found).T):
            out[name if values.ndim == 2 else f"{name}[{c}]"] = [float(v) for v in row]
    return out


def worst(diagnostic, pick):
    return float(pick([pick(diagnostic[name].values) for name in diagnostic.data_vars]))


def main():
    source, target, options = sys.argv[1:]
    options = json.loads(options)
    data = dict(np.load(source))
    warnings.simplefilter("ignore")
    compiled = nutpie.compile_pymc_model(model_of(data, options["centred"]))
    began = time.perf_counter()
    trace = nutpie.sample(
        compiled,
        draws=options["draws"],
        tune=options["warmup"],
        chains=options["chains"],
        cores=min(options["chains"], 2),
        seed=options["seed"],
        target_accept=options["accept"],
        save_warmup=False,
        progress_bar=False,
    )
    sampling = time.perf_counter() - began
    kept = [n for n in trace.posterior.data_vars if n in SCALARS or n in ("system", "topic")]
    posterior = trace.posterior[kept]
    found = {
        "parameters": rows(posterior),
        "rhat": worst(az.rhat(posterior), np.max),
        "bulk": worst(az.ess(posterior, method="bulk"), np.min),
        "tail": worst(az.ess(posterior, method="tail"), np.min),
        "divergences": int(trace.sample_stats["diverging"].values.sum()),
        "seconds": round(sampling, 1),
        "versions": f"nutpie {nutpie.__version__}, PyMC {pm.__version__}, ArviZ {az.__version__}",
    }
    Path(target).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
