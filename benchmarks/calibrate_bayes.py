"""Simulation-based calibration of every Bayesian family and engine.

Parameters are drawn from the prior, scores from the model, and the model is fitted to the scores:
then the rank of each true parameter among its posterior draws is uniform if, and only if, the
sampler is right (Talts et al. 2018; Modrak et al. 2023 add quantities that depend on the data).
Results are kept in build/calibrate_bayes as they come, so a run that stops goes on where it was;
writes docs/method/bayes_calibration.md.

Run: python -m benchmarks.calibrate_bayes [--processes N] [--repetitions N | --quick] [--only TEXT]
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy import stats

import surefoot as sf
from benchmarks.harness import markdown_table
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import UnreliableWarning
from surefoot.inference.bayes.likelihood import log_likelihood_chunks
from surefoot.inference.bayes.paired import paired_priors, sample_paired
from surefoot.inference.bayes.predictive import risk_replicates
from surefoot.inference.bayes.prior_draws import draw_parameter
from surefoot.inference.bayes.priors import Prior, choose_priors
from surefoot.results.posterior import RankGains

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "method" / "bayes_calibration.md"
KEPT = ROOT / "build" / "calibrate_bayes"
DRAWS = 1000
BINS = 10
R = 5.0
SEED = 20260219

Draw = dict[str, np.ndarray]

IDENTITY = {"b": "normal(0.4,0.2)", "sd_system": "half_normal(0.15)"}
IDENTITY |= {"sd_topic": "half_normal(0.2)", "sigma": "half_normal(0.2)"}
BRMS = {"b": "t(3,0.4,2.5)"} | dict.fromkeys(("sd_system", "sd_topic", "sigma"), "half_t(3,0,2.5)")
PERCENT = {"b": "t(3,40,25)"} | dict.fromkeys(("sd_system", "sd_topic", "sigma"), "half_t(3,0,25)")
SKEWED = IDENTITY | {"lambda": "normal(0,4)"}
MILD = IDENTITY | {"lambda": "normal(0,1.5)"}
HEAVY = IDENTITY | {"nu": "gamma(2,0.1)"}
LOGIT = {"b": "normal(0,1)", "sd_system": "half_normal(0.7)", "sd_topic": "half_normal(1)"}
LOGIT |= {"phi": "gamma(2,0.3)", "zoi": "beta(1,9)", "coi": "beta(1,1)"}
LOGIT_BRMS = LOGIT | {"b": "t(3,0,2.5)", "sd_system": "half_t(3,0,2.5)"}
LOGIT_BRMS |= {"sd_topic": "half_t(3,0,2.5)", "zoi": "beta(1,1)"}
BOUNDED = LOGIT | {"sd_system": "uniform(0.1,0.5)", "sd_topic": "uniform(0,1)"}
BOUNDED |= {"phi": "uniform(1,20)"}
NEAR_ZERO = LOGIT | {"b": "normal(-3,0.5)", "phi": "gamma(8,8)", "sd_topic": "half_normal(2)"}
NEAR_ONE = LOGIT | {"b": "normal(3,0.5)", "phi": "gamma(20,4)", "sd_topic": "half_normal(0.5)"}
EQUAL = LOGIT | {"sd_system": "half_normal(0.001)", "phi": "gamma(50,0.005)"}
MANY_ZEROS = LOGIT | {"zoi": "beta(20,20)", "coi": "beta(1,10)"}
RANKED = {n: p for n, p in LOGIT.items() if n != "coi"} | {"k": "normal(0,0.2)"}
PAIR = {"b": "normal(0,0.1)", "sigma": "half_normal(0.3)"}


@dataclass(frozen=True)
class Case:
    """One model, one engine, one size of study.

    `accept` keeps only tables that it says yes to. That is a choice by the data alone, which
    leaves the posterior, and so uniformity, as they are.
    """

    name: str
    family: str
    engine: str
    shape: tuple[int, int]
    priors: dict[str, str] = field(repr=False)
    missing: float = 0.0
    ranks: int = 0
    accept: Callable[[np.ndarray], bool] | None = None
    repetitions: int = 300

    @property
    def label(self) -> str:
        """Name for the page and for the kept results."""
        n, m = self.shape
        return f"{self.name}, {n} x {m}" if self.family != "paired" else f"{self.name}, {m} topics"


def inside(y: np.ndarray) -> bool:
    """Beta scores that double precision can hold apart from 0 and 1."""
    y = y[(y > 0) & (y < 1)]
    return len(y) > 2 and bool((y > 1e-290).all() and (y < 1 - 1e-12).all())


def a_zero_topic(y: np.ndarray) -> bool:
    """At least one topic where every system scores 0."""
    return inside(y) and bool((y == 0).all(axis=0).any())


def cases() -> list[Case]:
    """Every family with every engine that it has, easy and hard."""
    out = [
        Case("gaussian", "gaussian", "auto", (10, 25), IDENTITY),
        Case("gaussian, scores on 0-100", "gaussian", "auto", (5, 10), PERCENT),
        Case("gaussian, missing cells", "gaussian", "auto", (6, 8), BRMS, missing=0.3),
        Case("gaussian by chains", "gaussian", "hmc", (4, 6), IDENTITY, repetitions=100),
        Case("student", "student", "auto", (8, 10), HEAVY),
        Case("student", "student", "auto", (3, 5), HEAVY, repetitions=150),
        Case("student by chains", "student", "hmc", (4, 6), HEAVY, repetitions=100),
        Case("skew normal", "skew_normal", "auto", (4, 8), SKEWED, repetitions=100),
        Case("skew normal", "skew_normal", "auto", (8, 15), SKEWED, repetitions=100),
        Case("skew normal, mild", "skew_normal", "auto", (12, 25), MILD, repetitions=200),
        Case("skew normal by chains", "skew_normal", "hmc", (4, 8), SKEWED, repetitions=100),
        Case("student", "student", "auto", (12, 25), HEAVY, repetitions=150),
        Case("zoib", "zoib", "auto", (10, 25), LOGIT, accept=inside),
        Case("zoib", "zoib", "auto", (30, 20), LOGIT, accept=inside, repetitions=200),
        Case("zoib, uniform priors", "zoib", "auto", (6, 20), BOUNDED, accept=inside),
        Case("zoib, missing cells", "zoib", "auto", (6, 8), LOGIT, missing=0.3, accept=inside),
        Case("zoib, brms' wide priors", "zoib", "auto", (6, 8), LOGIT_BRMS, accept=inside),
        Case("zoib near 0, large sd_topic", "zoib", "auto", (6, 10), NEAR_ZERO, accept=inside),
        Case("zoib near 1", "zoib", "auto", (6, 10), NEAR_ONE, accept=inside),
        Case("zoib, systems all but equal", "zoib", "auto", (4, 10), EQUAL, accept=inside),
        Case("zoib, a topic of zeros", "zoib", "auto", (3, 12), MANY_ZEROS, accept=a_zero_topic),
        Case("zoib by chains", "zoib", "hmc", (4, 6), LOGIT, accept=inside, repetitions=100),
        Case("zoib_rank, 5 ranks", "zoib_rank", "auto", (4, 6), RANKED, ranks=5, accept=inside),
        Case("paired gaussian", "paired", "gaussian", (2, 5), PAIR),
        Case("paired gaussian", "paired", "gaussian", (2, 30), PAIR),
        Case(
            "paired skew normal", "paired", "skew_normal", (2, 30), PAIR | {"lambda": "normal(0,4)"}
        ),
    ]
    for n in (2, 3, 5, 10):
        for m in (1, 2, 5) if n > 2 else (2, 5):
            out.append(Case("gaussian", "gaussian", "auto", (n, m), BRMS, repetitions=200))
            # chains that take over cost far more than importance draws
            out.append(Case("zoib", "zoib", "auto", (n, m), LOGIT, accept=inside, repetitions=150))
    return out


def chosen(case: Case) -> dict[str, Prior]:
    """All priors of a case, checked as a user's are."""
    if case.family == "paired":
        return paired_priors(case.engine, np.zeros(1), case.priors)
    return choose_priors(case.family, np.zeros(1), case.priors)


def truth(case: Case, rng: np.random.Generator) -> Draw:
    """One draw of all parameters from their priors."""
    out = {name: draw_parameter(name, p, 1, rng) for name, p in chosen(case).items()}
    if case.family != "paired":
        out["system"] = out["sd_system"] * rng.standard_normal((1, case.shape[0]))
        out["topic"] = out["sd_topic"] * rng.standard_normal((1, case.shape[1]))
    return out


def simulate(case: Case, true: Draw, rng: np.random.Generator) -> np.ndarray:
    """Scores (systems, topics) or gains (systems, topics, ranks); plain NumPy, not our kernels."""
    eta = true["b"] + true["system"][0][:, None] + true["topic"][0]
    if case.ranks:
        rank = np.arange(case.ranks) - (case.ranks - 1) / 2
        eta = eta[:, :, None] + true["k"] * rank
    if case.family in ("zoib", "zoib_rank"):
        mu = 1 / (1 + np.exp(-eta))
        a, b = (np.maximum(m * true["phi"], 1e-290) for m in (mu, 1 - mu))
        y = rng.beta(a, b)
        edge = rng.random(eta.shape) < true["zoi"]
        one = rng.random(eta.shape) < true["coi"] if "coi" in true else np.zeros(eta.shape, bool)
        # a beta draw of exactly 0 or 1 has fallen off the numbers: `inside` must refuse it
        y = np.where((y == 0) | (y == 1), 1 - 1e-16, y)
        return np.where(edge, one.astype(float), y)
    if case.family == "student":
        return eta + true["sigma"] * rng.standard_t(true["nu"], eta.shape)
    if case.family == "skew_normal":
        return eta + skewed(true, eta.shape, rng)
    return rng.normal(eta, true["sigma"])


def skewed(true: Draw, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Skew-normal errors with mean 0 and standard deviation sigma, as |Z| and Z mixed."""
    delta = true["lambda"] / np.sqrt(1 + true["lambda"] ** 2)
    z = delta * np.abs(rng.standard_normal(shape))
    z = z + np.sqrt(1 - delta**2) * rng.standard_normal(shape) - delta * np.sqrt(2 / np.pi)
    return true["sigma"] * z / np.sqrt(1 - 2 * delta**2 / np.pi)


def risk(table: np.ndarray) -> float:
    """URisk- of the last system against the first."""
    delta = table[-1] - table[0]
    return float(-np.where(delta < 0, R * delta, delta).mean())


def rank_of(value: float, draws: np.ndarray, rng: np.random.Generator) -> float:
    """Share of draws below the truth; ties are broken at random."""
    return float((draws < value).mean() + rng.random() * (draws == value).mean())


def repeat(case: Case, k: int) -> dict[str, object]:
    """One truth, one study, one fit: where each true value lies among its draws."""
    rng = np.random.default_rng([SEED, crc32(f"{case.label} {case.engine}".encode()), k])
    began = time.process_time()
    if case.family == "paired":
        out = _pair(case, rng)
    else:
        out = _study(case, k, rng)
    return out | {"k": k, "seconds": time.process_time() - began}


def _pair(case: Case, rng: np.random.Generator) -> dict[str, object]:
    true = truth(case, rng)
    n = case.shape[1]
    if case.engine == "skew_normal":
        x = true["b"] + skewed(true, (n,), rng)
    else:
        x = rng.normal(true["b"], true["sigma"], n)
    champion = rng.random(n)
    found = sample_paired(
        case.engine, champion, champion - x, n_draws=DRAWS, priors=case.priors, rng=rng
    )
    ranks = {name: rank_of(float(v[0]), found.draws[name], rng) for name, v in true.items()}
    return {"ranks": ranks, "method": "importance sampling", "doubts": list(found.warnings)}


def _study(case: Case, k: int, rng: np.random.Generator) -> dict[str, object]:
    while True:
        true = truth(case, rng)
        table = simulate(case, true, rng)
        if case.accept is None or case.accept(table):
            break
    new = simulate(case, true, rng)
    names = (
        tuple(f"s{i}" for i in range(case.shape[0])),
        tuple(f"t{j}" for j in range(case.shape[1])),
    )
    scores: object
    if case.ranks:
        index = np.indices(table.shape).reshape(3, -1)
        scores = RankGains(*names, index[0], index[1], index[2] + 1.0, table.ravel())
    else:
        if case.missing:
            hole = rng.random(case.shape) < case.missing
            hole[0, 0] = hole[-1, -1] = False
            table = np.where(hole, np.nan, table)
        scores = ScoreMatrix(*names, table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        try:
            posterior = sf.fit(
                scores, family=case.family, engine=case.engine, priors=case.priors,
                draws=DRAWS, criteria=False, seed=k, threads=1,
            )  # fmt: skip
        except sf.SurefootError as refusal:  # such as: too few scores are left
            return {"ranks": {}, "method": f"refused: {refusal}", "doubts": []}
    ranks = {
        n: rank_of(float(v[0]), posterior.draws[n], rng) for n, v in true.items() if v.ndim == 1
    }
    for kind in ("system", "topic"):
        draws, value = posterior.draws[kind], true[kind][0]
        ranks[kind] = rank_of(value[0], draws[:, 0], rng)
        if len(value) > 1:
            contrast = draws[:, 0] - draws[:, -1]
            ranks[f"{kind} contrast"] = rank_of(value[0] - value[-1], contrast, rng)
    likelihood = np.concatenate(
        [c.sum(axis=1) for c in log_likelihood_chunks(posterior, threads=1)]
    )
    at_truth = replace(posterior, draws=true)
    ranks["log likelihood"] = rank_of(
        float(next(log_likelihood_chunks(at_truth, threads=1)).sum()), likelihood, rng
    )
    if not case.ranks:
        sums = risk_replicates(posterior, 0, [case.shape[0] - 1], seed=k, threads=1)
        ranks["new risk"] = rank_of(risk(new), sums.risk(R)[:, 0], rng)
    doubts = [said for said in posterior.warnings if said not in posterior.settings["notes"]]
    return {"ranks": ranks, "method": posterior.method, "doubts": doubts}


def kept(case: Case) -> Path:
    """Where the results of a case accumulate, one line a repetition."""
    safe = "".join(c if c.isalnum() else "_" for c in f"{case.label} {case.engine}")
    return KEPT / f"{safe}.jsonl"


def results(case: Case) -> list[dict[str, object]]:
    """What is there already; a line cut off by a kill is left out."""
    path, out = kept(case), {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        out[row["k"]] = row
    return [out[k] for k in sorted(out)]


def run(todo: list[tuple[Case, int]], processes: int) -> None:
    """Run what is missing; append each result as it comes."""
    began = time.perf_counter()
    with ProcessPoolExecutor(processes) as pool:
        futures = {pool.submit(repeat, case, k): case for case, k in todo}
        for done, future in enumerate(as_completed(futures), start=1):
            path = kept(futures[future])
            with path.open("a") as file:
                if file.tell() and not path.read_bytes().endswith(b"\n"):
                    file.write("\n")
                file.write(json.dumps(future.result()) + "\n")
            if done % 100 == 0 or done == len(todo):
                print(f"{done} of {len(todo)}, {time.perf_counter() - began:.0f} s", flush=True)


def uniform(u: np.ndarray) -> tuple[float, float]:
    """p-values of a chi-square test of the histogram and of Kolmogorov's test of the ECDF."""
    counts = np.histogram(u, BINS, (0, 1))[0]
    return float(stats.chisquare(counts).pvalue), float(stats.kstest(u, "uniform").pvalue)


def judged(case: Case, rows: list[dict[str, object]]) -> Iterator[tuple[str, np.ndarray]]:
    """Ranks by quantity, of the fits that carry no warning."""
    trusted = [row["ranks"] for row in rows if not row["doubts"] and row["ranks"]]
    for name in trusted[0] if trusted else ():
        yield name, np.array([ranks[name] for ranks in trusted])


def bars(u: np.ndarray) -> str:
    """A histogram as text; full height is twice the uniform one."""
    share = np.histogram(u, BINS, (0, 1))[0] / len(u) * BINS
    return "".join("▁▂▃▄▅▆▇█"[min(int(4 * s), 7)] for s in share)


def report(studied: list[tuple[Case, list[dict[str, object]]]], command: str) -> str:
    """The page."""
    table, every = [], []
    for case, rows in studied:
        tests = [(name, u, *uniform(u)) for name, u in judged(case, rows)]
        if not tests:
            continue
        every += [(min(c, k), case.label, name) for name, _, c, k in tests]
        every_u = np.concatenate([u for _, u, _, _ in tests])
        name, u, chi, ks = min(tests, key=lambda t: min(t[2:]))
        chains = sum("HMC" in str(row["method"]) for row in rows)
        doubted = sum(bool(row["doubts"]) for row in rows)
        refused = sum(not row["ranks"] for row in rows)
        adjusted = min(1.0, 2 * len(tests) * min(chi, ks))
        cover = [f"{100 * (np.abs(every_u - 0.5) <= q / 2).mean():.1f}" for q in (0.5, 0.95)]
        table.append(
            [
                *(case.label, len(rows), chains, doubted, refused, *cover),
                *(bars(every_u), name, bars(u)),
                *(f"{p:.3f}" for p in (chi, ks, adjusted)),
            ]
        )
    p_values = np.array([p for p, _, _ in every])
    # each quantity has two tests; Holm over all of them
    order = np.argsort(p_values)
    n_tests = 2 * len(p_values)
    holm = np.maximum.accumulate(p_values[order] * (n_tests - 2 * np.arange(len(order))))
    failed = [f"{every[i][1]}: {every[i][2]}" for i, p in zip(order, holm, strict=True) if p < 0.05]
    seconds = sum(float(row["seconds"]) for _, rows in studied for row in rows)
    header = ["study", "fits", "by chains", "doubtful", "refused", "in 50%", "in 95%", "all ranks"]
    header += ["worst quantity", "its ranks", "chi-square p", "ECDF p", "adjusted p"]
    verdict = (
        f"Holm's correction over all {n_tests} tests rejects none at 5%."
        if not failed
        else f"Holm's correction over all {n_tests} tests rejects at 5%: {'; '.join(failed)}."
    )
    by_priors: dict[str, list[str]] = {}
    for case, _ in studied:
        priors = ", ".join(f"{name} ~ {prior}" for name, prior in case.priors.items())
        by_priors.setdefault(priors, []).append(case.label)
    told = [["; ".join(labels), priors] for priors, labels in by_priors.items()]
    return f"""# Are the posteriors right? Simulation-based calibration

Parameters drawn from the prior, scores drawn from the model, a fit to the scores: then each true
value is equally likely to have any rank among its posterior draws (Talts et al. 2018). A sampler
that is too sure makes ∪-shaped histograms, one that is too timid ∩-shaped ones, a biased one
slopes. Ranked are all scalar parameters, one effect and one contrast of systems and of topics, the
log likelihood (it depends on the data, and so sees errors that parameters alone hide: Modrák et al.
2023), and the URisk- (r = {R:g}) of a *new* table against the draws of PPDRisk-, which tests the
replicates too. Scores are simulated with NumPy, not with the kernels under test.

{verdict} Of the smaller p-value of each quantity's two tests {(p_values < 0.025).mean():.1%} lie
below 0.025, where two independent tests would put 4.9%.

{markdown_table(header, table)}

"By chains": fits where importance sampling failed its diagnostics (or the model has no other
engine). "Doubtful": fits that carried a warning; they are left out of the histograms, which the
theory allows, because the warning depends on the data alone. "Refused": simulated tables that have
too few scores for a fit. "In 50%" and "in 95%": how often the central intervals hold the truth,
over all quantities. "Adjusted p": Bonferroni over the tests of that study.

## What is conditioned

Uniform ranks need proper priors that simulate scores within double precision. brms' flat prior of
k, and its Gamma(0.01, 0.01) of phi, whose draws lie mostly below 1e-20, are replaced by the
narrower ones below, through the public prior option. Tables with beta scores beyond 1e-290 or
1 - 1e-12 are drawn again; so are those of "a topic of zeros" without one. Choosing tables by their
scores leaves the posterior as it is. Identical systems have probability zero under every model;
"all but equal" has systems that differ by 0.001 on the logit scale and noise of about 0.005.
Sakai's bivariate model has improper priors only, so it has no such study: its tests compare with
closed forms.

{markdown_table(["studies", "priors"], told)}

{seconds / 60:.0f} core-minutes. Coverage of risk intervals, default priors against fixed truths:
[ppd_calibration.md](ppd_calibration.md). Tests and intervals without a model:
[calibration.md](calibration.md). Command: `{command}`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--repetitions", type=int, help="of each study at most")
    parser.add_argument("--quick", action="store_true", help="20 repetitions of each study")
    parser.add_argument("--only", default="", help="studies whose label holds this text")
    parser.add_argument("--fresh", action="store_true", help="forget results of earlier runs")
    options = parser.parse_args()
    most = 20 if options.quick else options.repetitions or 10**6
    KEPT.mkdir(parents=True, exist_ok=True)
    wanted = [c for c in cases() if options.only in c.label]
    if options.fresh:
        for case in wanted:
            kept(case).unlink(missing_ok=True)
    todo = []
    for case in wanted:
        have = {row["k"] for row in results(case)}
        todo += [(case, k) for k in range(min(case.repetitions, most)) if k not in have]
    # dear ones first, so that no process is left alone with them at the end
    todo.sort(key=lambda item: -(item[0].shape[0] * item[0].shape[1]))
    run(todo, options.processes)
    studied = [(case, results(case)) for case in wanted]
    text = report(
        [(c, rows) for c, rows in studied if rows], "python -m benchmarks.calibrate_bayes"
    )
    if not options.only:
        PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
