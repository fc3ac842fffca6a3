"""PPDRisk- at full size against a streamed NumPy version: 44 challengers, 50 topics, 72,000 draws.

Both get the same posterior draws of a zero-one-inflated beta model, in memory, and report median,
interval and P(risky) for four r. NumPy draws with `Generator.beta` in chunks of draws.
"""

import subprocess
import sys

import numpy as np

from benchmarks.harness import interleave, markdown_table, peak_mb, publish

DRAWS, SYSTEMS, TOPICS = 72_000, 45, 50
LEVELS = (1.0, 2.0, 5.0, 10.0)


def draws(n=DRAWS):
    """Posterior draws like those of an ad-hoc collection's average precision."""
    rng = np.random.default_rng(0)
    return {
        "b": rng.normal(-0.9, 0.1, n),
        "system": np.linspace(-0.6, 0.6, SYSTEMS) + rng.normal(0, 0.1, (n, SYSTEMS)),
        "topic": np.linspace(-1.2, 1.2, TOPICS) + rng.normal(0, 0.15, (n, TOPICS)),
        "phi": rng.normal(4.0, 0.15, n),
        "zoi": np.full(n, 0.01),
        "coi": np.full(n, 0.2),
    }


def ours(d, threads):
    from surefoot.data.scores import ScoreMatrix
    from surefoot.inference.bayes.predictive import predicted_risk, risk_replicates
    from surefoot.results.posterior import Posterior

    systems = tuple(f"s{i}" for i in range(SYSTEMS))
    topics = tuple(f"t{j}" for j in range(TOPICS))
    scores = ScoreMatrix(systems, topics, np.full((SYSTEMS, TOPICS), 0.5))
    posterior = Posterior(
        family="zoib", systems=systems, topics=topics, draws=d, scores=scores, method="given"
    )
    replicates = risk_replicates(posterior, 0, range(1, SYSTEMS), threads=threads)
    return [predicted_risk(replicates, r) for r in LEVELS]


def streamed_numpy(d, chunk=500):
    rng = np.random.default_rng(1)
    n = len(d["b"])
    gains, losses = np.empty((n, SYSTEMS - 1)), np.empty((n, SYSTEMS - 1))
    for start in range(0, n, chunk):
        s = slice(start, start + chunk)
        eta = d["b"][s, None, None] + d["system"][s, :, None] + d["topic"][s, None, :]
        mu = 1 / (1 + np.exp(-eta))
        phi = d["phi"][s, None, None]
        y = rng.beta(mu * phi, (1 - mu) * phi)
        u = rng.random(y.shape)
        zoi, coi = d["zoi"][s, None, None], d["coi"][s, None, None]
        y[u < zoi] = 0.0
        y[u < zoi * coi] = 1.0
        delta = y[:, 1:] - y[:, :1]
        gains[s] = np.maximum(delta, 0).sum(axis=2)
        losses[s] = np.minimum(delta, 0).sum(axis=2)
    out = []
    for r in LEVELS:
        risk = -(gains + r * losses) / TOPICS
        out.append((*np.quantile(risk, (0.025, 0.5, 0.975), axis=0), (risk > 0).mean(axis=0)))
    return out


def main():
    if sys.argv[1:] == ["--peak"]:
        ours(draws(), 0)
        print(f"{peak_mb():.0f}")
        return
    command = [sys.executable, "-m", "benchmarks.bench_ppd", "--peak"]
    memory = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    d = draws()
    contenders = {
        "surefoot, 1 thread": lambda: ours(d, 1),
        "surefoot, all cores": lambda: ours(d, 0),
        "NumPy Generator.beta, streamed": lambda: streamed_numpy(d),
    }
    times = interleave(contenders, repeats=3)
    slow = times["NumPy Generator.beta, streamed"]
    rows = [
        (name, t.wall, t.cpu, slow.wall / t.wall, slow.cpu / t.cpu) for name, t in times.items()
    ]
    worst = max(
        float(np.abs(a.median - b[1]).max())
        for a, b in zip(ours(d, 0), streamed_numpy(d), strict=True)
    )
    text = f"""# PPDRisk- at full size

{SYSTEMS - 1} challengers, {TOPICS} topics, {DRAWS:,} posterior draws
({DRAWS * SYSTEMS * TOPICS / 1e6:.0f} million replicates), r = 1, 2, 5, 10. Medians of three
interleaved rounds; peak memory of a whole process with the draws in it: **{memory:.0f} MB**.

{markdown_table(("", "wall s", "CPU s", "times faster (wall)", "times faster (CPU)"), rows)}

Largest difference between the two in a median of PPDRisk-: {worst:.4f} (two independent samples).
"""
    publish("ppd", text)


if __name__ == "__main__":
    main()
