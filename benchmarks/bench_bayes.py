"""Bayesian fits against nutpie, NumPyro and brms: effective draws of the worst parameter a second.

The same models with the same priors on one machine in one run; every sampler's means and standard
deviations are compared with ours before its time counts. CPU seconds throughout. brms runs where
`Rscript` and the package are (on Debian: apt-get install r-cran-brms).

Run: python -m benchmarks.bench_bayes [--quick] [--data FOLDER]
"""

import argparse
import csv
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import surefoot as sf
from benchmarks.bench_gpu import CALIBRATION_SHAPE, PRIORS, calibration_tables, covid
from benchmarks.harness import HERE, markdown_table, peak_mb, peer_python, publish
from surefoot.data.scores import ScoreMatrix
from surefoot.inference.bayes.diagnostics import ess, rank_normalise
from surefoot.inference.bayes.families import pose
from surefoot.inference.bayes.priors import choose_priors
from surefoot.kernels.hierarchy import Observations, gradient, likelihood_terms, pointwise
from surefoot.kernels.replicate import replicate_sums

DATA = HERE.parent.parent / "shared" / "data"
PEERS = {
    "nutpie": ("nutpie>=0.16", "pymc>=5.20", "numba"),
    "numpyro": ("numpyro>=0.18", "jax[cpu]>=0.4.30"),
}
LABELS = {
    "nutpie": "nutpie, sum-to-zero coordinates",
    "numpyro": "NumPyro NUTS, non-centred",
    "brms": "brms (rstan)",
}
# fits that effective draws are measured by
REPEATS = 100
KINDS = ("b", "sigma", "phi", "sd_system", "sd_topic", "system", "topic")


@dataclass(frozen=True, slots=True)
class Case:
    """One table, one family, and what each sampler is given to do."""

    name: str
    scores: ScoreMatrix
    family: str
    draws: int
    peers: dict[str, tuple[int, int, int]]  # chains, warm-up, draws


@dataclass(frozen=True, slots=True)
class Run:
    """Draws by parameter, (chains, draws, ...), and CPU seconds."""

    draws: dict[str, np.ndarray]
    compiling: float
    sampling: float


def cases(data: Path, quick: bool) -> list[Case]:
    covid, wide, robust = load_covid(data), load_thesis(data), load_robust(data)
    few = {"nutpie": (1, 50, 50), "numpyro": (1, 20, 20)}
    if quick:
        small = generated((6, 12), 1)
        return [Case(f"{f} 6 x 12, generated", small, f, 2000, few) for f in ("zoib", "gaussian")]
    stan = {"brms": (1, 300, 300)}
    usual = {"nutpie": (4, 400, 1000), "numpyro": (1, 120, 120)}
    large = {"nutpie": (2, 400, 700), "numpyro": (1, 50, 50)}
    return [
        Case(f"ZOiB, {covid[0]}", covid[1], "zoib", 60_000, usual | stan),
        Case(f"ZOiB, {wide[0]}", wide[1], "zoib", 50_000, usual),
        Case(f"ZOiB, {robust[0]}", robust[1], "zoib", 10_000, large),
        Case(f"Gaussian, {covid[0]}", covid[1], "gaussian", 72_000, usual | stan),
    ]


def load_covid(data: Path) -> tuple[str, ScoreMatrix]:
    scores = covid(str(data / "trec_covid" / "round1"))
    if scores is None:
        return "42 x 30 (generated)", generated((42, 30), 2)
    return "42 x 30 (TREC-COVID)", scores


def load_thesis(data: Path) -> tuple[str, ScoreMatrix]:
    path = data / "thesis_ch4" / "rb04_data.csv"
    if not path.exists():
        return "45 x 50 (generated)", generated((45, 50), 3)
    return "45 x 50 (Robust 2004, artifact systems)", sf.read_scores(path)


def load_robust(data: Path) -> tuple[str, ScoreMatrix]:
    path = data / "trec_score_matrices" / "robust2004_ap.csv"
    if not path.exists():
        return "110 x 99 (generated)", generated((110, 99), 4)
    with path.open() as file:
        rows = list(csv.reader(file))
    values = np.array(rows[1:], dtype=float).T
    topics = tuple(f"t{j}" for j in range(values.shape[1]))
    return "110 x 99 (Robust 2004)", ScoreMatrix(tuple(rows[0]), topics, values)


def generated(shape: tuple[int, int], seed: int) -> ScoreMatrix:
    """Scores like the average precision of an ad-hoc collection."""
    rng = np.random.default_rng(seed)
    eta = -0.9 + 0.3 * rng.standard_normal((shape[0], 1)) + rng.standard_normal(shape[1])
    mu = 1 / (1 + np.exp(-eta))
    y = np.clip(rng.beta(5 * mu, 5 * (1 - mu)), 1e-6, 1 - 1e-6)
    y[rng.random(shape) < 0.01] = 0.0
    names = (tuple(f"{k}{i}" for i in range(n)) for k, n in zip("st", shape, strict=True))
    return ScoreMatrix(*names, y)


def fit(case: Case, draws: int, seed: int = 1):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sf.fit(case.scores, family=case.family, draws=draws, criteria=False, seed=seed)


def timed_fit(case: Case) -> tuple[object, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    posterior = fit(case, case.draws)
    return posterior, time.perf_counter() - wall, time.process_time() - cpu


def run_peer(sampler: str, case: Case, budget: tuple[int, int, int], folder: Path) -> Run:
    chains, warmup, draws = budget
    if sampler == "brms":
        return run_brms(case, budget, folder)
    priors = choose_priors(case.family, case.scores.values, ())
    problem = pose(case.family, case.scores, priors)
    beta = case.family == "zoib"
    first = problem.data.first
    source, target = folder / "in.npz", folder / "out.npz"
    np.savez(
        source,
        family=case.family,
        n_systems=problem.data.n_systems, n_topics=problem.data.n_topics,
        system=problem.data.system, topic=problem.data.topic,
        y=1 / (1 + np.exp(-first)) if beta else first,
        zeros=problem.zeros, ones=problem.ones,
        location=priors["b"].location, scale=priors["sd_system"].numbers[-1],
        start=problem.centre,
    )  # fmt: skip
    python = peer_python(sampler, PEERS[sampler])
    options = json.dumps({"chains": chains, "warmup": warmup, "draws": draws})
    script = str(HERE / "bayes_peers.py")
    _checked([str(python), script, sampler, str(source), str(target), options])
    found = dict(np.load(target))
    return Run(found, float(found.pop("compiling")), float(found.pop("sampling")))


def run_brms(case: Case, budget: tuple[int, int, int], folder: Path) -> Run:
    chains, _, draws = budget
    scores = case.scores
    # names that no dialect of R changes
    rows = [
        (f"s{i}", f"t{j}", repr(float(scores.values[i, j])))
        for i in range(len(scores.systems))
        for j in range(len(scores.topics))
    ]
    with (folder / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("system", "topic", "score"), *rows])
    files = [str(folder / name) for name in ("in.csv", "out.csv", "times.csv")]
    numbers = [str(n) for n in budget]
    _checked(["Rscript", str(HERE / "bayes_peer.R"), case.family, *files, *numbers])
    with (folder / "times.csv").open() as file:
        times = next(csv.DictReader(file))
    with (folder / "out.csv").open() as file:
        header = next(csv.reader(file))
        table = np.array([[float(v) for v in row] for row in csv.reader(file)])
    column = {name: table[:, k].reshape(chains, draws) for k, name in enumerate(header)}

    def effects(kind: str, letter: str, n: int) -> np.ndarray:
        return np.stack([column[f"r_{kind}[{letter}{i},Intercept]"] for i in range(n)], axis=-1)

    found = {
        "b": column["b_Intercept"],
        "sd_system": column["sd_system__Intercept"],
        "sd_topic": column["sd_topic__Intercept"],
        "system": effects("system", "s", len(scores.systems)),
        "topic": effects("topic", "t", len(scores.topics)),
    }
    found |= {k: column[k] for k in ("sigma", "phi", "zoi", "coi") if k in column}
    return Run(found, float(times["compiling"]), float(times["sampling"]))


def _checked(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-2000:]}")


def has_brms() -> bool:
    if shutil.which("Rscript") is None:
        return False
    command = ["Rscript", "-e", 'quit(status = !requireNamespace("brms", quietly = TRUE))']
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def worst_parameter(run: Run) -> tuple[float, str]:
    """Smallest bulk effective sample size (Vehtari et al. 2021), and whose it is."""
    found = []
    for name, values in run.draws.items():
        columns = values.reshape(*values.shape[:2], -1)
        for c in range(columns.shape[2]):
            found.append((ess(rank_normalise(columns[:, :, c])), name))
    return min(found)


def agreement(run: Run, posterior) -> str:
    """Largest difference of means in posterior sd; an error where noise does not explain it."""
    worst = 0.0
    for name, values in run.draws.items():
        theirs = values.reshape(*values.shape[:2], -1)
        ours = posterior.draws[name].reshape(posterior.n_draws, -1)
        for c in range(theirs.shape[2]):
            size = ess(rank_normalise(theirs[:, :, c]))
            sd = float(ours[:, c].std())
            off = abs(float(theirs[:, :, c].mean()) - float(ours[:, c].mean())) / sd
            ratio = float(theirs[:, :, c].std()) / sd
            # a chain that mixes slowly says little about its own effective size
            noise = 6 / math.sqrt(min(size, theirs[:, :, c].size / 4))
            if size > 20 and (off > 0.05 + noise or abs(math.log(ratio)) > 0.05 + noise):
                raise RuntimeError(
                    f"{name}[{c}]: mean off by {off:.2f} sd, sd ratio {ratio:.2f} "
                    f"({size:.0f} effective draws)"
                )
            worst = max(worst, off)
    return f"{worst:.2g}"


def measured_share(case: Case, fits: int, draws: int) -> tuple[float, str]:
    """Effective draws over draws by definition: posterior variance over that of repeated means.

    Parameters of a kind are pooled; the worst kind is returned.
    """
    reference = fit(case, case.draws, seed=10_000)
    errors: dict[str, list[np.ndarray]] = {}
    for seed in range(fits):
        posterior = fit(case, draws, seed=100 + seed)
        for name in KINDS:
            if name in posterior.draws:
                mean = posterior.draws[name].mean(axis=0)
                target = reference.draws[name]
                scaled = (mean - target.mean(axis=0)) ** 2 / target.var(axis=0)
                errors.setdefault(name, []).append(scaled)
    # the reference has noise of its own
    found = []
    for name, squares in errors.items():
        error = float(np.mean(squares))
        found.append((1 / (error * draws), name))
    return min(found)


def sampler_rows(case: Case, quick: bool, brms: bool) -> tuple[list[list[object]], str]:
    """One row a sampler; ours is timed before, between and after the others."""
    times, walls, runs = [], [], {}
    posterior, wall, cpu = timed_fit(case)
    times.append(cpu), walls.append(wall)
    with tempfile.TemporaryDirectory() as folder:
        for sampler, budget in case.peers.items():
            if sampler == "brms" and not brms:
                continue
            print(f"  {case.name}: {sampler} {budget}", flush=True)
            runs[sampler] = run = run_peer(sampler, case, budget, Path(folder))
            print(f"    {run.compiling:.1f} + {run.sampling:.1f} CPU s", flush=True)
            _, wall, cpu = timed_fit(case)
            times.append(cpu), walls.append(wall)
    cpu, wall = float(np.median(times)), float(np.median(walls))
    share, kind = measured_share(case, 6 if quick else REPEATS, min(4000, case.draws))
    reported = float(posterior.effective_draws)
    measured = min(share, 1.0) * case.draws
    worst = min(posterior.ess, key=posterior.ess.get)
    ours = [case.name, f"Surefoot, {case.draws:,} draws", 0.0, cpu, f"{measured:,.0f} ({kind})"]
    rows: list[list[object]] = [[*ours, measured / cpu, "1", "1", "1", ""]]
    for sampler, run in runs.items():
        size, name = worst_parameter(run)
        speed, whole = size / run.sampling, size / (run.sampling + run.compiling)
        chains, warmup, draws = case.peers[sampler]
        label = f"{LABELS[sampler]}, {chains} x ({warmup} + {draws})"
        close = "" if quick else agreement(run, posterior)
        ratios = [measured / cpu / speed, reported / cpu / speed, measured / cpu / whole]
        rows.append(
            ["", label, run.compiling, run.sampling, f"{size:,.0f} ({name})", speed]
            + [f"{ratio:,.0f}" for ratio in ratios]
            + [close]
        )
    note = (
        f"{case.name}: {case.draws:,} draws in {wall:.2f} s of wall time and {cpu:.2f} CPU s by "
        f"{posterior.method}; the fit reports {reported:,.0f} effective draws of {worst}, repeated "
        f"fits measure {measured:,.0f} ({share:.2f} a draw, worst kind {kind})."
    )
    return rows, note


def nanoseconds(job, count: int, rounds: int) -> float:
    """Fastest of many calls, by the thread's own clock, over what it worked through."""
    best = math.inf
    for _ in range(rounds):
        began = time.thread_time_ns()
        job()
        best = min(best, time.thread_time_ns() - began)
    return best / count


def kernel_rows(rounds: int) -> list[list[object]]:
    """Likelihood and replicates on one thread."""
    rng = np.random.default_rng(0)
    systems, topics, m = 42, 30, 64
    n = systems * topics
    y = rng.beta(2, 3, n)
    first, second = np.log(y / (1 - y)), np.log1p(-y)
    index = (np.repeat(np.arange(systems), topics), np.tile(np.arange(topics), systems))
    data = Observations(systems, topics, *(k.astype(np.int32) for k in index), first, second)
    shape, x = np.tile([5.0, 0.0], (m, 1)), rng.normal(0, 0.3, (m, data.size))
    # as many as a table of 110 x 99 has
    many = np.resize(np.arange(n), 110 * 99)
    wide = rng.standard_normal(many.size), first[many], second[many]
    rows: list[list[object]] = [
        [
            "beta: value, gradient, curvature, information and by phi",
            nanoseconds(lambda: likelihood_terms("beta", shape[0], *wide), many.size, rounds),
        ],
        [
            "beta: value and gradient by every effect and phi",
            nanoseconds(lambda: gradient("beta", data, shape, x, threads=1), n * m, rounds),
        ],
        [
            "beta: value alone",
            nanoseconds(lambda: pointwise("beta", data, shape, x, threads=1), n * m, rounds),
        ],
    ]
    draws, systems, topics = 500, 45, 50
    parameters = {
        "gaussian": [0.1],
        "student": [0.1, 5.0],
        "skew_normal": [0.1, 2.0],
        "zoib": [4.0, 0.01, 0.2],
    }
    system, topic = rng.normal(0, 0.3, (draws, systems)), rng.normal(0, 0.9, (draws, topics))
    for family, shapes in parameters.items():
        fixed = np.tile(shapes, (draws, 1))
        job = replicate_job(family, system, topic, fixed)
        spent = nanoseconds(job, draws * systems * topics, max(rounds // 20, 3))
        rows.append([f"replicates, {family}", spent])
    return rows


def replicate_job(family: str, system: np.ndarray, topic: np.ndarray, parameter: np.ndarray):
    selected = np.arange(system.shape[1])
    return lambda: replicate_sums(family, system, topic, parameter, selected, seed=1, threads=1)


def cost(family: str, shape: tuple[int, int], draws: int) -> dict[str, object]:
    """One fit in a process of its own, for its peak memory."""
    scores = generated(shape, 7)
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = sf.fit(scores, family=family, draws=draws, criteria=False, seed=1)
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak": peak_mb(),
        "effective": posterior.effective_draws,
        "method": posterior.method,
    }


def cost_rows(quick: bool) -> list[list[object]]:
    shapes = [(5, 10), (10, 50), (42, 30), (45, 50), (110, 99), (110, 249), (200, 1000)]
    rows: list[list[object]] = []
    for shape in shapes[:2] if quick else shapes:
        for family in ("gaussian", "zoib"):
            print(f"  cost of {family} {shape}", flush=True)
            arguments = ["--cost", family, *(str(n) for n in shape)]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.bench_bayes", *arguments],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            found = json.loads(done.stdout.splitlines()[-1])
            size, peak = f"{found['effective']:,.0f}", f"{found['peak']:.0f}"
            table = f"{shape[0]} x {shape[1]}"
            rows.append([table, family, found["wall"], found["cpu"], size, peak, found["method"]])
    return rows


def many_fits(count: int) -> str:
    """What a calibration run takes: tables from the prior, fitted one after the other."""
    _, tables = calibration_tables(count)
    options = {"family": "zoib", "priors": PRIORS, "draws": 1000, "criteria": False}
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chains = sum("HMC" in sf.fit(table, **options).method for table in tables)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    size = " x ".join(str(n) for n in CALIBRATION_SHAPE)
    return (
        f"A calibration run, {count:,} ZOiB fits of {size} tables with 1,000 draws each, takes "
        f"{wall:.1f} s on all cores ({cpu:.1f} CPU s; {chains} fits by chains)."
    )


COST_DRAWS = 4000
COST_HEADER = ["systems x topics", "family", "wall s", "CPU s", "effective draws of the worst"]
COST_HEADER += ["peak MB", "by"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="try it out; publishes nothing")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the real collections")
    parser.add_argument("--cost", nargs=3, metavar=("FAMILY", "SYSTEMS", "TOPICS"))
    options = parser.parse_args()
    if options.cost:
        family, systems, topics = options.cost
        print(json.dumps(cost(family, (int(systems), int(topics)), COST_DRAWS)))
        return
    began = time.perf_counter()
    brms = has_brms()
    rows: list[list[object]] = []
    notes = [] if brms else ["brms was not there: `Rscript` with it (Debian: r-cran-brms)."]
    kernels, costs = kernel_rows(50 if options.quick else 500), []
    many = many_fits(20 if options.quick else 1000)
    todo = [(case.name, case) for case in cases(options.data, options.quick)]
    for name, case in [*todo[:1], ("costs", None), *todo[1:]]:
        if case is None:
            costs = cost_rows(options.quick)
        else:
            more, note = sampler_rows(case, options.quick, brms)
            rows += more
            notes.append(note)
        # each result is kept as soon as it is there
        text = page(rows, notes, kernels, costs, many, time.perf_counter() - began)
        if options.quick:
            print(text)
        else:
            print(f"{name} done", flush=True)
            publish("bayes", text)


def page(rows, notes, kernels, costs, many: str, seconds: float) -> str:
    header = ["table", "sampler", "compiling, CPU s", "sampling, CPU s"]
    header += ["effective draws (of)", "a CPU second", "ours times faster"]
    header += ["as the fit reports", "compiling included", "means apart, sd"]
    return f"""# Bayesian fits against general samplers

The same model with the same priors, the scores of exactly 0 and 1 included; CPU seconds of all
threads, warm-up included. Effective draws are those of the worst parameter: bulk effective sample
size of chains (Vehtari et al. 2021), and for Surefoot, whose draws are no chain, what the
definition says: posterior variance over the variance of the mean in {REPEATS} repeated fits,
parameters of a kind pooled, at most one a draw. "As the fit reports" is the ratio by what a fit
says of itself: the weights' worth for the worst parameter, less what resampling costs. Chains of
few draws suffice to measure a rate; where fewer than 20 are effective, the rate is a guess. "Means
apart" is the largest difference of a posterior mean from ours.

{markdown_table(header, rows)}

{chr(10).join(f"- {note}" for note in notes)}

## One observation, one replicate

Nanoseconds on one thread, the fastest of many calls, vectors as wide as the machine has them.

{markdown_table(["what", "ns"], kernels)}

PPDRisk- at full size against NumPy has a [page of its own](ppd.md).

## What a fit costs

{COST_DRAWS:,} draws of a generated table; peak memory is the whole process'.

{markdown_table(COST_HEADER, costs)}

{many}

The run took {seconds / 60:.1f} minutes up to here.
"""


if __name__ == "__main__":
    main()
