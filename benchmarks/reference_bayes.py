"""Bayesian fits against long runs of a general sampler that shares no code with them.

Each study is one table and one family, sampled by nutpie's NUTS from the model that
`reference_nuts` writes down in PyMC. Summaries are kept in build/reference_bayes as they come, so a
run that stops goes on where it was; tests/golden/bayes_references.json holds those of the last run.
With --report the same tables are fitted by Surefoot and compared, and
docs/method/bayes_references.md is written; that needs no sampler but ours.

Run: python -m benchmarks.reference_bayes [--only TEXT] [--fresh]
     python -m benchmarks.reference_bayes --report [--only TEXT]
"""

import argparse
import csv
import hashlib
import json
import math
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

import surefoot as sf
from benchmarks.bench_bayes import DATA, PEERS
from benchmarks.bench_gpu import covid
from benchmarks.harness import HERE, markdown_table, peer_python
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import UnreliableWarning
from surefoot.inference.bayes.brisk import risk_adjusted
from surefoot.inference.bayes.summary import parameter_draws, parameter_names
from surefoot.results.posterior import Posterior, RankGains

ROOT = HERE.parent
PAGE = ROOT / "docs" / "method" / "bayes_references.md"
GOLDEN = ROOT / "tests" / "golden" / "bayes_references.json"
KEPT = ROOT / "build" / "reference_bayes"
QUANTILES = (0.025, 0.5, 0.975)
COLUMNS = ["mean", "sd", "q2.5", "q50", "q97.5"]
COLUMNS += [f"{what} {of}" for what in ("ess", "mcse") for of in ("mean", "q2.5", "q50", "q97.5")]
# what the fits are to hold, in posterior standard deviations
MEANS, ENDS = 0.1, 0.15
# a reference beyond these has not converged
RHAT, EFFECTIVE = 1.01, 4000
WHAT = ("mean", "2.5 %", "median", "97.5 %")
DRAWS = 40_000

FloatArray = npt.NDArray[np.float64]
Table = ScoreMatrix | RankGains


@dataclass(frozen=True)
class Study:
    """One table, one family, and how NUTS is run on it.

    `centred` names the effects that NUTS sees as they are; the others it sees divided by their
    spread. `tested` studies are part of the test suite, where a fit takes seconds at most.
    """

    name: str
    table: Callable[[], Table | None] = field(repr=False)
    family: str
    draws: int = 10_000
    warmup: int = 1000
    centred: tuple[str, ...] = ("system", "topic")
    accept: float = 0.8
    tested: bool = True
    ours: int = DRAWS

    @property
    def label(self) -> str:
        return f"{self.family}, {self.name}"

    @property
    def options(self) -> dict[str, object]:
        """What `reference_nuts` is given."""
        return {
            "chains": 4, "warmup": self.warmup, "draws": self.draws, "centred": self.centred,
            "accept": self.accept, "seed": 1,
        }  # fmt: skip


def studies(data: Path = DATA) -> list[Study]:
    """All of them; a table is None where its collection is absent."""
    small = {"draws": 40_000, "ours": 100_000}
    near, free = small | {"accept": 0.99}, small | {"accept": 0.97, "centred": ()}
    skewed = free | {"draws": 60_000, "ours": 20_000}
    # systems that hardly differ
    alike = {"draws": 25_000, "centred": ("topic",)}
    # fits that may need chains take too long for the suite
    slow = {"tested": False}
    degenerate = slow | {"draws": 25_000, "accept": 0.95, "centred": ()}
    round1 = "TREC-COVID 42 x 30", lambda: covid(str(data / "trec_covid" / "round1"))
    robust = "Robust 2004 45 x 50", lambda: thesis(data, "rb04")
    core = "TREC 2017 45 x 50", lambda: thesis(data, "trec17")
    robust_risk = "Robust 2004 45 x 50, risk-adjusted", lambda: adjusted(data, "rb04")
    core_risk = "TREC 2017 45 x 50, risk-adjusted", lambda: adjusted(data, "trec17")
    gains = "TREC-COVID 12 x 30 x 7 ranks", lambda: covid_gains(data)
    return [
        Study("generated 4 x 6, missing cells", gaussian_table, "gaussian", **near),
        Study("generated 3 x 8", student_table, "student", **near),
        Study("generated 6 x 12, missing cells", zoib_table, "zoib", **free),
        Study("generated 4 x 6 x 5 ranks", rank_table, "zoib_rank", **free),
        Study("generated 10 x 20", skewed_table, "skew_normal", **skewed),
        *(Study(*round1, family) for family in ("gaussian", "student", "zoib")),
        Study(*round1, "skew_normal", **degenerate),
        Study(*gains, "zoib_rank"),
        *(Study(*robust, family, **alike) for family in ("gaussian", "student", "zoib")),
        # lambda has a mode on either side of 0
        Study(*robust, "skew_normal", **(alike | slow | {"draws": 60_000})),
        *(Study(*core, family) for family in ("gaussian", "student", "zoib")),
        Study(*core, "skew_normal", **slow),
        Study(*robust_risk, "gaussian", **alike),
        # two topics have effects with two modes, between which chains of either side cross rarely
        Study(*robust_risk, "student", **alike, **slow, ours=160_000),
        Study(*robust_risk, "skew_normal", **alike, **slow),
        Study(*core_risk, "gaussian"),
        *(Study(*core_risk, family, **slow) for family in ("student", "skew_normal")),
    ]


def thesis(data: Path, file: str) -> ScoreMatrix | None:
    path = data / "thesis_ch4" / f"{file}_data.csv"
    return sf.read_scores(path) if path.exists() else None


def adjusted(data: Path, file: str) -> ScoreMatrix | None:
    """The scores that `brisk` models, losses counted five times."""
    scores = thesis(data, file)
    return None if scores is None else risk_adjusted(scores, "Champion", 5.0)


def covid_gains(data: Path) -> RankGains | None:
    """Gains by rank of the first twelve pooled systems."""
    folder = data / "trec_covid" / "round1"
    scores = covid(str(folder))
    if scores is None:
        return None
    systems = scores.systems[:12]
    with (folder / "round1_rbpgain.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["system"] in systems]
    topics = tuple(dict.fromkeys(row["topic"] for row in rows))
    return RankGains(
        systems,
        topics,
        np.array([systems.index(row["system"]) for row in rows]),
        np.array([topics.index(row["topic"]) for row in rows]),
        np.array([float(row["rank"]) for row in rows]),
        np.array([float(row["score"]) for row in rows]),
    )


class Uniforms:
    """Draws through quantile functions, which no version of NumPy changes."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def uniform(self, shape: tuple[int, ...]) -> FloatArray:
        return 0.0005 + 0.999 * self.rng.random(shape)

    def normal(self, shape: tuple[int, ...]) -> FloatArray:
        return np.asarray(special.ndtri(self.uniform(shape)))

    def effects(self, shape: tuple[int, int], systems: float, topics: float) -> FloatArray:
        rows, columns = self.normal((shape[0], 1)), self.normal((1, shape[1]))
        return systems * rows + topics * columns


def named(values: FloatArray, holes: FloatArray | None = None) -> ScoreMatrix:
    values = np.round(values, 3)
    if holes is not None:
        values = np.where(holes < 0.2, np.nan, values)
    names = (tuple(f"{k}{i}" for i in range(n)) for k, n in zip("st", values.shape, strict=True))
    return ScoreMatrix(*names, values)


def gaussian_table() -> ScoreMatrix:
    draw, shape = Uniforms(11), (4, 6)
    values = 0.4 + draw.effects(shape, 0.1, 0.15) + 0.1 * draw.normal(shape)
    return named(values, draw.uniform(shape))


def student_table() -> ScoreMatrix:
    draw, shape = Uniforms(12), (3, 8)
    noise = special.stdtrit(3.0, draw.uniform(shape))
    return named(0.4 + draw.effects(shape, 0.1, 0.15) + 0.08 * noise)


def zoib_table() -> ScoreMatrix:
    draw, shape = Uniforms(13), (6, 12)
    mu = special.expit(-0.5 + draw.effects(shape, 0.5, 1.0))
    inside = special.betaincinv(6 * mu, 6 * (1 - mu), draw.uniform(shape))
    edge, one = draw.uniform(shape) < 0.1, draw.uniform(shape) < 0.3
    return named(np.where(edge, one.astype(float), inside), draw.uniform(shape))


def rank_table() -> RankGains:
    draw, shape = Uniforms(14), (4, 6, 5)
    effects = draw.effects(shape[:2], 0.4, 0.6)[:, :, None]
    mu = special.expit(-1.5 + effects - 0.2 * (np.arange(5) - 2.0))
    inside = special.betaincinv(8 * mu, 8 * (1 - mu), draw.uniform(shape))
    gains = np.round(np.where(draw.uniform(shape) < 0.4, 0.0, inside), 3)
    index = np.indices(shape).reshape(3, -1)
    names = (tuple(f"{k}{i}" for i in range(n)) for k, n in zip("st", shape[:2], strict=True))
    return RankGains(*names, index[0], index[1], index[2] + 1.0, gains.ravel())


def skewed_table() -> ScoreMatrix:
    """Errors of a skew normal with lambda 3."""
    draw, shape = Uniforms(15), (10, 20)
    delta = 3 / math.sqrt(10)
    noise = delta * np.abs(draw.normal(shape)) + math.sqrt(0.1) * draw.normal(shape)
    noise = noise - delta * math.sqrt(2 / math.pi)
    return named(0.4 + draw.effects(shape, 0.06, 0.12) + 0.15 * noise)


def observations(table: Table) -> dict[str, npt.NDArray[np.generic]]:
    """What was observed, cell by cell."""
    if isinstance(table, RankGains):
        return {"system": table.system, "topic": table.topic, "y": table.score, "rank": table.rank}
    system, topic = np.nonzero(~np.isnan(table.values))
    return {"system": system, "topic": topic, "y": table.values[system, topic]}


def fingerprint(table: Table) -> str:
    """Names and scores in one word, so that a reference is never held against another table."""
    digest = hashlib.sha256("\n".join((*table.systems, *table.topics)).encode())
    for name, values in observations(table).items():
        kind = "<f8" if name in ("y", "rank") else "<i8"
        digest.update(np.ascontiguousarray(values, dtype=kind).tobytes())
    return digest.hexdigest()[:16]


def kept(study: Study, kind: str = "nuts") -> Path:
    """Where the summary of one study lies."""
    safe = "".join(c if c.isalnum() else "_" for c in study.label)
    return KEPT / f"{safe}.{kind}.json"


def run_nuts(study: Study, table: Table) -> dict[str, object]:
    """The reference of one study: diagnostics, and a row of `COLUMNS` by parameter."""
    python = peer_python("nutpie", PEERS["nutpie"])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.json"
        np.savez(
            source,
            family=study.family, n_systems=len(table.systems), n_topics=len(table.topics),
            **observations(table),
        )  # fmt: skip
        script = [str(python), str(HERE / "reference_nuts.py"), str(source), str(target)]
        done = subprocess.run(
            [*script, json.dumps(study.options)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{study.label}: NUTS failed: {done.stderr[-2000:]}")
        found = json.loads(target.read_text())
    names = {f"system[{i}]": f"system[{name}]" for i, name in enumerate(table.systems)}
    names |= {f"topic[{j}]": f"topic[{name}]" for j, name in enumerate(table.topics)}
    rows = {names.get(name, name): row for name, row in found.pop("parameters").items()}
    return {"table": fingerprint(table), "options": study.options, **found, "parameters": rows}


def references() -> dict[str, dict[str, object]]:
    """By label: the golden file's, and newer ones of this machine in their place."""
    out = json.loads(GOLDEN.read_text())["studies"] if GOLDEN.exists() else {}
    for study in studies():
        if kept(study).exists():
            out[study.label] = json.loads(kept(study).read_text())
    return {study.label: out[study.label] for study in studies() if study.label in out}


def write_golden() -> None:
    """One line a parameter, so that a change can be read."""
    command = '"command": "python -m benchmarks.reference_bayes"'
    blocks = []
    for label, study in references().items():
        rows = study.pop("parameters")
        head = json.dumps(study)[1:-1]
        body = ",\n".join(f"{json.dumps(name)}: [{_brief(row)}]" for name, row in rows.items())
        blocks.append(f'  {json.dumps(label)}: {{{head},\n    "parameters": {{\n{body}}}}}')
    text = ",\n".join(blocks)
    columns = json.dumps(COLUMNS)
    GOLDEN.write_text(f'{{{command},\n"columns": {columns},\n"studies": {{\n{text}}}}}\n')


def _brief(row: Sequence[float]) -> str:
    """Six digits of what is compared, whole effective sizes, three digits of their errors."""
    digits = [6] * 5 + [None] * 4 + [3] * 4
    return ", ".join(
        f"{v:.0f}" if n is None else f"{v:.{n}g}" for v, n in zip(row, digits, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Apart:
    """How far a fit and its reference are apart, in posterior standard deviations.

    Rows are parameters; columns of `off` and `error` are the mean and the three quantiles, `error`
    being one standard error of the difference and `of_reference` the reference's part of it.
    """

    names: tuple[str, ...]
    off: FloatArray = field(repr=False)
    error: FloatArray = field(repr=False)
    of_reference: FloatArray = field(repr=False)
    sd_ratio: FloatArray = field(repr=False)

    def noise(self, column: int) -> float:
        """What the largest of all differences stays below in 95 % of cases, by noise alone."""
        error = self.error[:, column]

        def excess(x: float) -> float:
            return float(np.log(2 * special.ndtr(x / error) - 1).sum()) - math.log(0.95)

        return float(optimize.brentq(excess, error.max() / 100, 20 * error.max()))


def apart(posterior: Posterior, rows: Mapping[str, Sequence[float]]) -> Apart:
    """Compare a fit with a reference, parameter by parameter."""
    names = parameter_names(posterior.draws, posterior.systems, posterior.topics)
    if sorted(names) != sorted(rows):
        raise ValueError("the fit and its reference have different parameters")
    off, error, of_reference, ratio = [], [], [], []
    for name, draws in zip(names, parameter_draws(posterior.draws), strict=True):
        row = dict(zip(COLUMNS, rows[name], strict=True))
        sd, size = row["sd"], posterior.ess[name]
        ours = [float(draws.mean()), *(float(q) for q in np.quantile(draws, QUANTILES))]
        ours_error = [float(draws.std()) / math.sqrt(size)]
        for p in QUANTILES:
            half = math.sqrt(p * (1 - p) / size)
            ends = np.quantile(draws, np.clip([p - half, p + half], 0, 1))
            ours_error.append(float(np.ptp(ends)) / 2)
        off.append(
            [(a - row[c]) / sd for a, c in zip(ours, (COLUMNS[0], *COLUMNS[2:5]), strict=True)]
        )
        theirs = np.array([row[c] for c in COLUMNS[9:]]) / sd
        of_reference.append(theirs)
        error.append(np.hypot(theirs, np.array(ours_error) / sd))
        ratio.append(float(draws.std()) / sd)
    return Apart(
        tuple(names), np.array(off), np.array(error), np.array(of_reference), np.array(ratio)
    )


def fit(study: Study, table: Table) -> Posterior:
    return sf.fit(table, family=study.family, draws=study.ours, criteria=False, seed=1)


def compare(study: Study, table: Table, reference: Mapping[str, object]) -> dict[str, object]:
    """One row of the page."""
    if reference["table"] != fingerprint(table):
        raise RuntimeError(f"{study.label}: the reference is of another table")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        posterior = fit(study, table)
    found = apart(posterior, reference["parameters"])
    worst = np.abs(found.off).argmax(axis=0)
    ratio = int(np.abs(np.log(found.sd_ratio)).argmax())
    return {
        "parameters": len(found.names),
        "cells": len(observations(table)["y"]),
        "off": [float(abs(found.off[w, c])) for c, w in enumerate(worst)],
        "at": [found.names[w] for w in worst],
        "noise": [found.noise(c) for c in range(4)],
        "sd_ratio": float(found.sd_ratio[ratio]),
        "sd_ratio_at": found.names[ratio],
        "method": posterior.method,
        "warnings": list(posterior.warnings),
        "seconds": posterior.seconds,
    }


def sample_references(wanted: Sequence[Study], fresh: bool) -> None:
    """Run what is missing, one study after the other."""
    for study in wanted:
        table = study.table()
        if table is None:
            print(f"{study.label}: the collection is absent", flush=True)
            continue
        path = kept(study)
        if path.exists() and not fresh:
            old = json.loads(path.read_text())
            if old["table"] == fingerprint(table) and old["options"] == _plain(study.options):
                continue
        began = time.perf_counter()
        found = run_nuts(study, table)
        path.write_text(json.dumps(found))
        said = ", ".join(f"{k} {found[k]:.4g}" for k in ("rhat", "bulk", "tail", "divergences"))
        print(f"{study.label}: {said}, {time.perf_counter() - began:.0f} s", flush=True)
    write_golden()


def _plain(options: Mapping[str, object]) -> object:
    return json.loads(json.dumps(options))


def compare_all(wanted: Sequence[Study]) -> None:
    """Fit what is wanted, compare it with its reference and keep the comparison."""
    known = references()
    for study in wanted:
        table = study.table()
        if study.label not in known or table is None:
            print(f"{study.label}: no {'collection' if table is None else 'reference'}", flush=True)
            continue
        found = compare(study, table, known[study.label])
        kept(study, "ours").write_text(json.dumps(found))
        print(
            f"{study.label}: means {found['off'][0]:.3f}, quantiles {max(found['off'][1:]):.3f} "
            f"sd apart; {found['method']}, {found['seconds']:.1f} s",
            flush=True,
        )


def page() -> str:
    """What all kept comparisons say."""
    known = references()
    rows, said, outside, beyond, unsure = [], [], [], [], []
    for study in studies():
        nuts, found = known[study.label], json.loads(kept(study, "ours").read_text())
        pairs = list(zip(WHAT, found["off"], found["noise"], found["at"], strict=True))
        size = min(nuts["bulk"], nuts["tail"])
        rows.append(
            [
                *(study.name, study.family, f"{found['cells']:,}, {found['parameters']}"),
                *(f"{off:.3f} ({noise:.3f})" for _, off, noise, _ in pairs),
                f"{found['sd_ratio']:.3f}",
                f"{nuts['rhat']:.3f}, {nuts['divergences']}, {size:,.0f}",
                f"{found['method'].partition(' (')[0]}, {study.ours:,}",
                len(found["warnings"]),
            ]
        )
        if found["warnings"] or "(" in found["method"]:
            said.append(f"- {study.label}: {'; '.join([found['method'], *found['warnings']])}.")
        if nuts["rhat"] > RHAT or size < EFFECTIVE:
            unsure.append(f"{study.label} (R-hat {nuts['rhat']:.2f}, {size:.0f} effective draws)")
            continue
        if found["off"][0] > MEANS or max(found["off"][1:]) > ENDS:
            outside.append(study.label)
        beyond += [
            f"{what} of {at} ({study.label}; {off:.3f}, noise {noise:.3f})"
            for what, off, noise, at in pairs
            if off > noise
        ]
    trusted = len(rows) - len(unsure)
    header = ["table", "family", "scores, parameters", *(f"{what} (noise)" for what in WHAT)]
    header += ["sd ratio", "NUTS: R-hat, divergences, effective draws", "ours, draws", "warnings"]
    verdict = f"{trusted - len(outside)} of {trusted} studies keep it."
    if outside:
        verdict += f" Outside: {'; '.join(outside)}."
    tested = len(WHAT) * trusted
    noise = (
        f"Of the {tested} largest differences ({trusted} studies, four figures each) {len(beyond)} "
        f"exceed their noise; chance alone would make it up to {math.ceil(tested / 20)}"
    )
    noise += f": {'; '.join(beyond)}." if beyond else "."
    doubt = (
        f"\n\nNot counted, because NUTS itself did not converge: {'; '.join(unsure)}."
        if unsure
        else ""
    )
    versions = sorted({str(nuts["versions"]) for nuts in known.values()})
    return f"""# Fits against a general sampler that shares no code with them

The same tables, fitted by Surefoot and by long runs of NUTS. The models of [bayes.md](bayes.md)
are written down a second time in PyMC for this: its likelihoods, its priors, its count of zeros and
ones. NUTS too moves without the ridge of b and the effects' means, because with it it hardly mixes.
Where systems hardly differ it sees their effects divided by sd_system: seen as they are, its chains
miss the smallest values of sd_system while their R-hat looks fine.

The aim: means within {MEANS:g} posterior standard deviations, 2.5, 50 and 97.5 % quantiles within
{ENDS:g}. {verdict}

{noise}{doubt}

{markdown_table(header, rows)}

Differences are the largest over all parameters, the effect of every system and topic among them, in
posterior standard deviations of the reference. Noise: what this largest difference stays below in
19 of 20 cases if both samplers are right, from the effective draws that they report for every
parameter. "Sd ratio": our standard deviation of a parameter over the reference's, where it is
furthest from 1. Effective draws of NUTS: the least of bulk and tail over all parameters (Vehtari et
al. 2021, by ArviZ). Risk-adjusted: the scores that `brisk` models (Eq. 4.5), losses counted five
times. Of the gains by rank the first twelve pooled systems are taken.

{"What the fits said:" if said else "No fit warned."}

{chr(10).join(said)}

References by {"; ".join(versions)}, 4 chains. The suite holds fits against their
[summaries](../../tests/golden/bayes_references.json)
(`tests/inference/bayes/test_independent_references.py`). Command:
`python -m benchmarks.reference_bayes`, then `python -m benchmarks.reference_bayes --report`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="studies whose label holds this text")
    parser.add_argument("--report", action="store_true", help="fit and compare; writes the page")
    parser.add_argument("--fresh", action="store_true", help="sample again what is kept")
    options = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    wanted = [study for study in studies() if options.only in study.label]
    if options.report:
        compare_all(wanted)
        lacking = [study.label for study in studies() if not kept(study, "ours").exists()]
        if lacking:
            raise SystemExit(f"no page: not compared yet are {'; '.join(lacking)}")
        PAGE.write_text(page())
    else:
        sample_references(wanted, options.fresh)


if __name__ == "__main__":
    main()
