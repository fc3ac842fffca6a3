"""The hierarchical models in general samplers, as their users write them; run by `bench_bayes`.

Runs in an environment that holds the sampler and not Surefoot: reads observations from a file,
writes draws of every parameter and the CPU seconds that compiling and sampling took.

Run: python bayes_peers.py SAMPLER IN.npz OUT.npz '{"chains": 4, "warmup": 400, "draws": 1000}'
"""

import json
import sys
import time

import numpy as np


def nutpie_zero_sum(data, chains, warmup, draws, seed=1):
    """Sum-to-zero coordinates: no ridge between the intercept and the means of the effects."""
    import nutpie
    import pymc as pm

    n_systems, n_topics = int(data["n_systems"]), int(data["n_topics"])
    location, scale = float(data["location"]), float(data["scale"])
    with pm.Model() as model:
        sd_system = pm.HalfStudentT("sd_system", nu=3, sigma=scale)
        sd_topic = pm.HalfStudentT("sd_topic", nu=3, sigma=scale)
        # level = b + mean(system) + mean(topic) ~ N(b, spread); b is drawn through z
        level = pm.Flat("level", initval=float(data["start"]))
        z = pm.Normal("z")
        spread = pm.math.sqrt(sd_system**2 / n_systems + sd_topic**2 / n_topics)
        b = pm.Deterministic("b", level - spread * z)
        pm.Potential("prior_b", pm.logp(pm.StudentT.dist(nu=3, mu=location, sigma=scale), b))
        system = pm.ZeroSumNormal("system", sigma=sd_system, shape=n_systems)
        topic = pm.ZeroSumNormal("topic", sigma=sd_topic, shape=n_topics)
        eta = level + system[data["system"]] + topic[data["topic"]]
        if data["family"] == "gaussian":
            sigma = pm.HalfStudentT("sigma", nu=3, sigma=scale)
            pm.Normal("y", eta, sigma, observed=data["y"])
        else:
            phi = pm.Gamma("phi", alpha=0.01, beta=0.01)
            mu = pm.math.sigmoid(eta)
            pm.Beta("y", mu * phi, (1 - mu) * phi, observed=data["y"])
            edge = int(data["zeros"] + data["ones"])
            zoi, coi = pm.Beta("zoi", 1, 1), pm.Beta("coi", 1, 1)
            pm.Binomial("edges", edge + len(data["y"]), zoi, observed=edge)
            pm.Binomial("of_edges", edge, coi, observed=int(data["ones"]))
    began = time.process_time()
    compiled = nutpie.compile_pymc_model(model)
    compiling = time.process_time() - began
    began = time.process_time()
    trace = nutpie.sample(
        compiled, draws=draws, tune=warmup, chains=chains, seed=seed, progress_bar=False
    )
    sampling = time.process_time() - began
    kept = {name: trace.posterior[name].values for name in trace.posterior.data_vars}
    kept = {name: value for name, value in kept.items() if name in _NAMES or name == "level"}
    return _whole_effects(kept, n_systems, n_topics), compiling, sampling


def _whole_effects(draws, n_systems, n_topics):
    """The means of the effects given the level and b, in closed form, added to the contrasts."""
    rng = np.random.default_rng(0)
    of_systems, of_topics = draws["sd_system"] ** 2 / n_systems, draws["sd_topic"] ** 2 / n_topics
    rest, total = draws.pop("level") - draws["b"], of_systems + of_topics
    mean = of_systems / total * rest
    mean += np.sqrt(of_systems * of_topics / total) * rng.standard_normal(rest.shape)
    draws["system"] = draws["system"] + mean[..., None]
    draws["topic"] = draws["topic"] + (rest - mean)[..., None]
    return draws


def numpyro_nuts(data, chains, warmup, draws, seed=1):
    """Non-centred effects around an intercept, as brms writes the model."""
    import jax
    import numpyro
    import numpyro.distributions as dist

    numpyro.enable_x64()
    import jax.numpy as jnp
    from numpyro.infer import MCMC, NUTS

    n_systems, n_topics = int(data["n_systems"]), int(data["n_topics"])
    location, scale = float(data["location"]), float(data["scale"])
    gaussian = data["family"] == "gaussian"
    edge, ones = int(data["zeros"] + data["ones"]), int(data["ones"])
    system_of, topic_of, y = (jnp.asarray(data[k]) for k in ("system", "topic", "y"))

    def half_t(name):
        folded = dist.FoldedDistribution(dist.StudentT(3.0, 0.0, scale))
        return numpyro.sample(name, folded)

    def model():
        b = numpyro.sample("b", dist.StudentT(3.0, location, scale))
        sd_system, sd_topic = half_t("sd_system"), half_t("sd_topic")
        standard = dist.Normal(0.0, 1.0)
        system = sd_system * numpyro.sample("z_system", standard.expand([n_systems]).to_event(1))
        topic = sd_topic * numpyro.sample("z_topic", standard.expand([n_topics]).to_event(1))
        numpyro.deterministic("system", system)
        numpyro.deterministic("topic", topic)
        eta = b + system[system_of] + topic[topic_of]
        if gaussian:
            numpyro.sample("y", dist.Normal(eta, half_t("sigma")), obs=y)
            return
        phi = numpyro.sample("phi", dist.Gamma(0.01, 0.01))
        mu = jax.nn.sigmoid(eta)
        numpyro.sample("y", dist.Beta(mu * phi, (1 - mu) * phi), obs=y)
        zoi, coi = (numpyro.sample(name, dist.Beta(1.0, 1.0)) for name in ("zoi", "coi"))
        numpyro.sample("edges", dist.Binomial(edge + len(y), zoi), obs=edge)
        numpyro.sample("of_edges", dist.Binomial(edge, coi), obs=ones)

    sampler = MCMC(
        NUTS(model), num_warmup=warmup, num_samples=draws, num_chains=chains,
        chain_method="sequential", progress_bar=False,
    )  # fmt: skip
    # the program is compiled by a first run; the difference to a second, of as many steps, is that
    times = []
    for key in (seed, seed):
        began = time.process_time()
        sampler.run(jax.random.PRNGKey(key))
        found = {k: np.asarray(v) for k, v in sampler.get_samples(group_by_chain=True).items()}
        times.append(time.process_time() - began)
    sampling = times[1]
    compiling = max(times[0] - sampling, 0.0)
    return found, compiling, sampling


_NAMES = ("b", "sigma", "phi", "zoi", "coi", "sd_system", "sd_topic", "system", "topic")
SAMPLERS = {"nutpie": nutpie_zero_sum, "numpyro": numpyro_nuts}


def main():
    sampler, source, target, options = sys.argv[1:]
    data = dict(np.load(source))
    draws, compiling, sampling = SAMPLERS[sampler](data, **json.loads(options))
    kept = {name: value for name, value in draws.items() if name in _NAMES}
    np.savez(target, compiling=compiling, sampling=sampling, **kept)


if __name__ == "__main__":
    main()
