"""Does an accelerator pay? The Bayesian engines compiled for the CPU against JAX on a GPU.

Fits of the pooled systems of TREC-COVID round 1 (from --data, if there) and of a generated 110 x
249 table, PPDRisk- for four r of both, chains, and a calibration run of 1,000 fits. Each result is
kept as soon as it is measured; what the time does not suffice for is named.

Only a run with --device gpu publishes a page (results/gpu.md), which names the device; while that
page is absent, nothing has been measured on a GPU and no gain is claimed. jax-cpu tries the
programs out: the same arrays through JAX on the CPU, slower than the compiled core.

Run: python -m benchmarks.bench_gpu [--device gpu|jax-cpu] [--data FOLDER] [--out FOLDER]
     [--seconds N] [--small]
"""

import argparse
import csv
import importlib.util
import json
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

HAS_CORE = importlib.util.find_spec("surefoot._kernels") is not None
if not HAS_CORE:  # the accelerator can be measured on a machine without a compiler
    sys.modules["surefoot._kernels"] = types.ModuleType("surefoot._kernels")

import surefoot as sf  # noqa: E402
from benchmarks.harness import RESULTS, markdown_table, publish  # noqa: E402
from surefoot.data.scores import ScoreMatrix  # noqa: E402
from surefoot.inference.bayes.engines import draw_many, use_device  # noqa: E402
from surefoot.inference.bayes.families import pose  # noqa: E402
from surefoot.inference.bayes.predictive import predicted_risk, risk_replicates  # noqa: E402
from surefoot.inference.bayes.priors import choose_priors  # noqa: E402
from surefoot.results.posterior import Posterior  # noqa: E402

LEVELS = (1.0, 2.0, 5.0, 10.0)
# priors that simulate tables with scores apart from 0 and 1
PRIORS = {
    "b": "normal(0,1)",
    "sd_system": "half_normal(0.7)",
    "sd_topic": "half_normal(1)",
    "phi": "gamma(2,0.3)",
    "zoi": "beta(1,9)",
    "coi": "beta(1,1)",
}
CALIBRATION_SHAPE = (10, 25)

Row = list[object]


class Study:
    """What was measured so far, and the clock."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.began = time.perf_counter()
        self.rows: list[Row] = []
        self.remarks: list[str] = []
        self.posteriors: dict[str, Posterior] = {}
        self.accelerator = use_device(options.device)
        assert self.accelerator is not None
        self.label = self.accelerator.label

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    def say(self, text: str) -> None:
        print(f"[{self.elapsed:6.1f} s] {text}", flush=True)

    def add(self, job: str, first: float, again: float, cpu: float | None, agreement: str) -> None:
        gain = "not measured" if cpu is None else f"{cpu / again:.3g}"
        self.rows.append(
            [job, first, again, "not measured" if cpu is None else cpu, gain, agreement]
        )
        self.say(f"{job}: first {first:.2f} s, again {again:.3f} s, CPU {cpu}; {agreement}")
        self.save()

    def save(self) -> None:
        text = self.page()
        if self.options.out:
            out = Path(self.options.out)
            out.mkdir(parents=True, exist_ok=True)
            (out / "gpu.md").write_text(text, encoding="utf-8")
            (out / "gpu.json").write_text(json.dumps({"rows": self.rows, "remarks": self.remarks}))

    def page(self) -> str:
        header = ["job", "first call, s", "again, s", "compiled core on all cores, s"]
        header += ["times faster, compilation apart", "agreement"]
        remarks = "\n".join(f"- {remark}" for remark in self.remarks)
        return f"""# Does an accelerator pay?

{self.label} against the compiled core on the CPU of the same machine, wall seconds. The first
call of a program on a table of a new shape compiles it; "again" is the median of three calls after
it. Fits and replicates use the same random numbers on both, so that they agree to rounding where
they agree at all; "agreement" is the largest difference of posterior means (or of PPDRisk-'s median
and interval ends) in units of a posterior standard deviation.

{markdown_table(header, self.rows)}

{remarks}
"""


def median_time(job: Callable[[], object], repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        job()
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def timed(job: Callable[[], object]) -> tuple[float, object]:
    began = time.perf_counter()
    out = job()
    return time.perf_counter() - began, out


def covid(folder: str | None) -> ScoreMatrix | None:
    """The 42 pooled systems of TREC-COVID round 1, if their files are in the folder."""
    if folder is None or not (Path(folder) / "round1_data.csv").exists():
        return None
    with (Path(folder) / "round1_pooled.csv").open() as file:
        pooled = {row["system"] for row in csv.DictReader(file) if row["pooled"] == "1"}
    scores = sf.read_scores(Path(folder) / "round1_data.csv")
    return scores.select(systems=[s for s in scores.systems if s in pooled])


def named(values: np.ndarray) -> ScoreMatrix:
    names = (tuple(f"{k}{i}" for i in range(n)) for k, n in zip("st", values.shape, strict=True))
    return ScoreMatrix(*names, values)


def simulated(shape: tuple[int, int], truth: dict[str, float], rng: np.random.Generator):
    """A zero-one-inflated beta table."""
    eta = truth["b"] + truth["sd_system"] * rng.standard_normal((shape[0], 1))
    eta = eta + truth["sd_topic"] * rng.standard_normal(shape[1])
    mu = 1 / (1 + np.exp(-eta))
    y = rng.beta(*(np.maximum(m * truth["phi"], 1e-290) for m in (mu, 1 - mu)))
    edge = rng.random(shape) < truth["zoi"]
    return np.where(edge, (rng.random(shape) < truth["coi"]).astype(float), y)


def large(shape: tuple[int, int]) -> ScoreMatrix:
    """Like the average precision of a robust-track collection."""
    truth = {"b": -0.9, "sd_system": 0.3, "sd_topic": 1.0, "phi": 5.0, "zoi": 0.01, "coi": 0.1}
    return named(simulated(shape, truth, np.random.default_rng(11)))


def apart(one: Posterior, two: Posterior) -> str:
    """Largest difference in posterior means, in posterior standard deviations."""
    worst = 0.0
    for name, values in one.draws.items():
        off = np.abs(values.mean(axis=0) - two.draws[name].mean(axis=0))
        worst = max(worst, float(np.max(off / values.std(axis=0))))
    return f"{worst:.2g} sd"


def fit(study: Study, job: str, scores: ScoreMatrix, draws: int, engine: str = "auto") -> None:
    options = {"family": "zoib", "draws": draws, "criteria": False, "engine": engine}
    device = study.options.device
    repeats = 1 if engine == "hmc" else 3

    def run(where: str) -> Posterior:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sf.fit(scores, **options, device=where)

    first, there = timed(lambda: run(device))
    study.say(f"{job}: first call {first:.1f} s ({there.method})")
    again = median_time(lambda: run(device), repeats)
    study.posteriors[job] = there
    cpu, agreement = None, "not measured"
    if HAS_CORE:
        run("cpu")
        cpu = median_time(lambda: run("cpu"), repeats)
        here = run("cpu")
        agreement = apart(here, there)
    study.add(f"fit, {job}, {draws:,} draws", first, again, cpu, agreement)


def ppd(study: Study, job: str, posterior: Posterior) -> None:
    challengers = range(1, len(posterior.systems))

    def run(accelerator: object) -> list[object]:
        found = risk_replicates(posterior, 0, challengers, accelerator=accelerator)
        return [predicted_risk(found, r, accelerator=accelerator) for r in LEVELS]

    first, there = timed(lambda: run(study.accelerator))
    again = median_time(lambda: run(study.accelerator))
    cpu, agreement = None, "not measured"
    if HAS_CORE:
        here = run(None)
        cpu = median_time(lambda: run(None))
        worst = 0.0
        for one, two in zip(here, there, strict=True):
            spread = (one.high - one.low) / 4  # about a standard deviation
            for end in ("low", "median", "high"):
                off = np.abs(getattr(one, end) - getattr(two, end)) / spread
                worst = max(worst, float(off.max()))
        agreement = f"{worst:.2g} sd"
    size = f"{len(challengers)} challengers, {len(posterior.topics)} topics, {posterior.n_draws:,}"
    study.add(f"PPDRisk- for four r, {job}: {size} draws", first, again, cpu, agreement)


def full_ppd(study: Study, draws: int) -> None:
    """The size of the benchmark of replicates, from made-up posterior draws."""
    rng = np.random.default_rng(0)
    n_systems, n_topics = 45, 50
    made = {
        "b": rng.normal(-0.9, 0.1, draws),
        "system": np.linspace(-0.6, 0.6, n_systems) + rng.normal(0, 0.1, (draws, n_systems)),
        "topic": np.linspace(-1.2, 1.2, n_topics) + rng.normal(0, 0.15, (draws, n_topics)),
        "phi": rng.normal(4.0, 0.15, draws),
        "zoi": np.full(draws, 0.01),
        "coi": np.full(draws, 0.2),
    }
    scores = named(np.full((n_systems, n_topics), 0.5))
    posterior = Posterior(
        family="zoib", systems=scores.systems, topics=scores.topics, draws=made, scores=scores,
        method="given",
    )  # fmt: skip
    ppd(study, "made up", posterior)


def calibration_tables(fits: int) -> tuple[list[dict[str, float]], list[ScoreMatrix]]:
    """Parameters drawn from the prior, and scores drawn from the model."""
    rng = np.random.default_rng(5)
    priors = choose_priors("zoib", np.zeros(1), PRIORS)
    truths, tables = [], []
    while len(tables) < fits:
        truth = {name: float(priors[name].sample(rng, 1)[0]) for name in PRIORS}
        y = simulated(CALIBRATION_SHAPE, truth, rng)
        inner = y[(y > 0) & (y < 1)]
        if len(inner) < 3 or inner.min() < 1e-290 or inner.max() > 1 - 1e-12:
            continue  # off the numbers of double precision
        tables.append(named(y))
        truths.append(truth)
    return truths, tables


def calibration(study: Study, fits: int) -> None:
    """A posterior of each table, ranks of the truth: all in one pass."""
    truths, tables = calibration_tables(fits)
    priors = choose_priors("zoib", np.zeros(1), PRIORS)
    problems = [pose("zoib", table, priors) for table in tables]
    study.say(f"calibration: {fits} tables made")
    batch = min(125, fits)
    first, _ = timed(lambda: draw_many(problems[:batch], 1000, device=study.options.device))
    study.say(f"calibration: first batch of {batch} in {first:.1f} s")
    took, samples = timed(lambda: draw_many(problems, 1000, device=study.options.device))
    trusted = [k for k, sample in enumerate(samples) if not sample.warnings]
    smallest = 1.0
    for name in PRIORS:
        u = np.array([(samples[k].draws[name] < truths[k][name]).mean() for k in trusted])
        counts = np.histogram(u, 10, (0, 1))[0]
        chi = float(((counts - len(u) / 10) ** 2 / (len(u) / 10)).sum())
        # survival function of a chi-square with 9 df (Wilson and Hilferty 1931)
        z = ((chi / 9) ** (1 / 3) - (1 - 2 / 81)) / np.sqrt(2 / 81)
        smallest = min(smallest, float(_upper_normal(z)))
    cpu = None
    if HAS_CORE:
        few = min(24, fits)
        options = {"family": "zoib", "priors": PRIORS, "draws": 1000, "criteria": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, _ = timed(lambda: [sf.fit(t, **options) for t in tables[:few]])
        cpu = one * fits / few
        study.remarks.append(
            f"The compiled core fitted {few} of the tables, one after the other on all cores, in "
            f"{one:.1f} s; its figure is that times {fits / few:.3g}."
        )
    study.remarks.append(
        f"Calibration: {fits:,} zero-one-inflated beta tables of {CALIBRATION_SHAPE[0]} x "
        f"{CALIBRATION_SHAPE[1]} in {took:.1f} s ({first:.1f} s for the first batch of {batch}, "
        f"compilation included); {fits - len(trusted)} carried a warning; the smallest of six "
        f"chi-square p-values of the ranks of the true parameters is {smallest:.2g}."
    )
    job = f"calibration run, {fits:,} fits in step"
    study.add(job, first + took, took, cpu, f"ranks: p >= {smallest:.2g}")


def _upper_normal(z: float) -> float:
    from math import erfc, sqrt

    return 0.5 * erfc(z / sqrt(2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="gpu", choices=("gpu", "jax-cpu"))
    parser.add_argument("--data", help="folder with round1_data.csv and round1_pooled.csv")
    parser.add_argument("--out", help="folder that gets each result as it comes")
    parser.add_argument("--seconds", type=float, default=240, help="start no job after this")
    parser.add_argument("--small", action="store_true", help="try it out, in little time")
    options = parser.parse_args()
    study = Study(options)
    study.say(f"{study.label}; compiled core {'present' if HAS_CORE else 'absent'}")
    small = options.small
    pooled = covid(options.data)
    shape = (12, 20) if small else (110, 249)
    if pooled is not None and small:
        pooled = pooled.select(systems=pooled.systems[:8])
    wide = f"{shape[0]} x {shape[1]}"
    jobs: list[tuple[str, Callable[[], None]]] = []
    if pooled is not None:
        jobs.append(
            (
                "fit of TREC-COVID",
                lambda: fit(study, "TREC-COVID", pooled, 1000 if small else 20_000),
            )
        )
    else:
        study.remarks.append("TREC-COVID was not there (--data).")
    jobs.append(("calibration run", lambda: calibration(study, 12 if small else 1000)))
    jobs.append(("PPDRisk- at full size", lambda: full_ppd(study, 1000 if small else 72_000)))
    if pooled is not None:
        jobs.append(
            (
                "PPDRisk- of TREC-COVID",
                lambda: ppd(study, "TREC-COVID", study.posteriors["TREC-COVID"]),
            )
        )
    jobs.append((f"fit of {wide}", lambda: fit(study, wide, large(shape), 1000 if small else 8000)))
    jobs.append((f"PPDRisk- of {wide}", lambda: ppd(study, wide, study.posteriors[wide])))
    if pooled is not None:
        jobs.append(
            (
                "chains of TREC-COVID",
                lambda: fit(study, "TREC-COVID by chains", pooled, 5000, engine="hmc"),
            )
        )
    for name, job in jobs:
        if study.elapsed > options.seconds:
            study.remarks.append(f"No time was left for: {name}.")
            continue
        study.say(f"begin: {name}")
        try:
            job()
        except Exception as error:  # one job that fails must not cost the others
            traceback.print_exc()
            study.remarks.append(f"{name} failed: {type(error).__name__}: {str(error)[:200]}")
        study.save()
    if small or options.device != "gpu":
        print(study.page())
    else:
        publish("gpu", study.page())
        if options.out:
            text = (RESULTS / "gpu.md").read_text(encoding="utf-8")
            (Path(options.out) / "gpu.md").write_text(text, encoding="utf-8")
    study.say("done")


if __name__ == "__main__":
    main()
