"""Do the tests and intervals keep what they promise on risk-adjusted differences?

Pairs of systems of real score matrices serve as populations: margins smoothed, ranks of observed
topics kept (`surefoot.inference.population`). Their true risk-adjusted mean is known from many
draws, so coverage, type I error and power can be counted. Writes docs/method/calibration.md.

Run: python -m benchmarks.calibrate_inference [--quick]
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

import surefoot as sf
from surefoot.errors import UnreliableWarning
from surefoot.inference.bootstrap_test import bootstrap_test
from surefoot.inference.intervals import DEFAULT_METHOD, METHODS, bootstrap_intervals
from surefoot.inference.population import fit_population
from surefoot.inference.power_formulas import smallest, t_power
from surefoot.inference.randomization import randomization_test
from surefoot.inference.sign_test import sign_test
from surefoot.inference.t_test import t_test
from surefoot.inference.wilcoxon import wilcoxon

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "method" / "calibration.md"
MATRICES = {
    "Web 2012, ERR@20": "web2012/web2012_err20.csv",
    "Web 2011, nDCG@20": "trec_score_matrices/web2011_ndcg20.csv",
    "ad hoc 8, AP": "trec_score_matrices/adhoc8_ap.csv",
    "Robust 2004, AP": "trec_score_matrices/robust2004_ap.csv",
    "Terabyte 2006, AP": "trec_score_matrices/terabyte2006_ap.csv",
}
R = (1, 2, 5, 10)
TOPICS = (25, 50, 100, 250)
PAIRS = 4  # of each matrix
TESTS = ("t", "bootstrap", "randomization", "wilcoxon", "sign")
LEVEL = 0.05
SEED = 20


def shared_data() -> Path:
    for parent in (ROOT.parent, ROOT.parent.parent):
        if (parent / "shared" / "data").is_dir():
            return parent / "shared" / "data"
    raise SystemExit("the real collections (../shared/data) are not beside this checkout")


def pairs(path: Path, rng: np.random.Generator) -> list[np.ndarray]:
    """Challenger and champion of each pair: different systems of the better three quarters."""
    matrix = sf.read_scores(path)
    order = np.argsort(matrix.means())[len(matrix.systems) // 4 :]
    found = []
    while len(found) < PAIRS:
        both = matrix.values[rng.choice(order, size=2, replace=False)]
        if (both[0] != both[1]).mean() > 0.5:  # not two names of one run
            found.append(both)
    return found


def decisions(x: np.ndarray, resamples: int, seed: int) -> dict[str, np.ndarray]:
    """p-values of every test on each row."""
    return {
        "t": t_test(x).p_value,
        "bootstrap": bootstrap_test(x, n_resamples=resamples, seed=seed).p_value,
        "randomization": randomization_test(x, n_permutations=resamples, seed=seed).p_value,
        "wilcoxon": wilcoxon(x, exact_limit=50).p_value,
        "sign": sign_test(x).p_value,
    }


def effect_for(n: int, power: float = 0.8) -> float:
    """The effect that the t-test finds with that power at n normal topics."""
    return smallest(lambda k: t_power(n, k / 1000) >= power) / 1000


def study(sets: int, resamples: int) -> dict[tuple[str, int, int], dict[str, np.ndarray]]:
    """Per-set indicators for each (matrix, r, topics)."""
    data = shared_data()
    cells: dict[tuple[str, int, int], dict[str, list[np.ndarray]]] = {}
    for m, (name, path) in enumerate(MATRICES.items()):
        for p, both in enumerate(pairs(data / path, np.random.default_rng([SEED, m]))):
            population = fit_population(both)
            truth = np.random.default_rng([SEED, m, p])
            large = population.draw(2_000_000, 1, truth)
            large = (large[0] - large[1]).ravel()
            for r in R:
                worth = np.where(large < 0, r * large, large)
                mean, sd = float(worth.mean()), float(worth.std())
                for n in TOPICS:
                    seed = [SEED, m, p, r, n]
                    rng = np.random.default_rng(seed)
                    scores = population.draw(n, sets, rng)
                    x = scores[0] - scores[1]
                    x = np.where(x < 0, r * x, x)
                    number = int(rng.integers(2**31))
                    out = cells.setdefault((name, r, n), {})

                    def note(key: str, value: np.ndarray, out: dict = out) -> None:
                        out.setdefault(key, []).append(value)

                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", UnreliableWarning)
                        found = bootstrap_intervals(
                            x, methods=METHODS, n_resamples=resamples, seed=number
                        )
                        shift = -effect_for(n) * sd - mean  # a loss that the t-test finds 4 in 5
                        lost = bootstrap_intervals(
                            x + shift, methods=METHODS, n_resamples=resamples, seed=number
                        )
                    for k, method in enumerate(METHODS):
                        low, high = found.low[k], found.high[k]
                        note(f"covers {method}", (low <= mean) & (mean <= high))
                        note(f"above {method}", high < mean)
                        note(f"bounded {method}", np.isfinite(low) & np.isfinite(high))
                        width = (high - low) / (found.high[0] - found.low[0])
                        note(f"width {method}", np.where(np.isfinite(width), width, np.nan))
                        note(f"power {method}", (lost.low[k] > 0) | (lost.high[k] < 0))
                    for test, value in decisions(x - mean, resamples, number).items():
                        note(f"centred {test}", value <= LEVEL)
                    signs = rng.choice((-1.0, 1.0), size=x.shape)
                    for test, value in decisions(signs * x, resamples, number).items():
                        note(f"symmetric {test}", value <= LEVEL)
                    for test, value in decisions(x + shift, resamples, number).items():
                        note(f"power {test} test", value <= LEVEL)
    return {key: {k: np.concatenate(v) for k, v in cell.items()} for key, cell in cells.items()}


def pooled(cells: dict, r: int, n: int, key: str) -> np.ndarray:
    return np.concatenate([cells[name, r, n][key] for name in MATRICES])


def rate(values: np.ndarray) -> str:
    share = float(values.mean())
    error = np.sqrt(max(share * (1 - share), 1 / len(values)) / len(values))
    return f"{share:.3f} ± {error:.3f}"


def table(cells: dict, columns: dict[str, str], name: str | None = None) -> str:
    """Rows r x topics; over all matrices, or of one."""
    lines = [
        "| r | topics | " + " | ".join(columns) + " |",
        "|---:|---:|" + "---:|" * len(columns),
    ]
    for r in R:
        for n in TOPICS:
            values = [
                rate(pooled(cells, r, n, key) if name is None else cells[name, r, n][key])
                for key in columns.values()
            ]
            lines.append(f"| {r} | {n} | " + " | ".join(values) + " |")
    return "\n".join(lines)


def widths(cells: dict) -> str:
    lines = ["| r | topics | " + " | ".join(METHODS[1:]) + " |", "|---:|---:|" + "---:|" * 4]
    for r in R:
        for n in TOPICS:
            row = [np.nanmedian(pooled(cells, r, n, f"width {m}")) for m in METHODS[1:]]
            lines.append(f"| {r} | {n} | " + " | ".join(f"{w:.3f}" for w in row) + " |")
    return "\n".join(lines)


def shortfalls(cells: dict) -> dict[str, list[tuple[float, float, str, int, int]]]:
    """(coverage, error, matrix, r, topics) of each matrix and setting, worst first."""
    out = {}
    for method in METHODS:
        rows = []
        for (name, r, n), cell in cells.items():
            covered = cell[f"covers {method}"]
            share = float(covered.mean())
            rows.append((share, float(np.sqrt(share * (1 - share) / len(covered))), name, r, n))
        out[method] = sorted(rows)
    return out


def verdict(cells: dict) -> str:
    worst = shortfalls(cells)
    lines = [
        "| interval | mean coverage | worst pooled cell | cells of one matrix below 0.93 "
        "| worst cell of one matrix | without an end |",
        "|---|---:|---:|---:|---|---:|",
    ]
    for method in METHODS:
        rows = worst[method]
        everything = np.concatenate([c[f"covers {method}"] for c in cells.values()])
        low = min(
            (float(pooled(cells, r, n, f"covers {method}").mean()), r, n) for r in R for n in TOPICS
        )
        share, error, name, r, n = rows[0]
        below = sum(s + 2 * e < 0.93 for s, e, *_ in rows)
        open_ended = 1 - np.concatenate([c[f"bounded {method}"] for c in cells.values()]).mean()
        lines.append(
            f"| {method} | {rate(everything)} | {low[0]:.3f} (r = {low[1]}, {low[2]} topics) "
            f"| {below} of {len(rows)} | {share:.3f} ± {error:.3f} ({name}, r = {r}, {n} topics) "
            f"| {open_ended:.4f} |"
        )
    return "\n".join(lines)


def under(cells: dict) -> str:
    """In words: where each interval falls short of 95 % by more than a point."""
    out = []
    for method in METHODS:
        places = [
            (r, n)
            for r in R
            for n in TOPICS
            if pooled(cells, r, n, f"covers {method}").mean() < 0.94
        ]
        if not places:
            out.append(f"- **{method}**: nowhere.")
            continue
        by_r = {r: [n for q, n in places if q == r] for r in R}
        text = "; ".join(
            f"r = {r} at {', '.join(map(str, ns))} topics" for r, ns in by_r.items() if ns
        )
        out.append(f"- **{method}**: {text}.")
    return "\n".join(out)


def page(cells: dict, sets: int, resamples: int) -> str:
    per_cell = sets * PAIRS
    intervals = {m: f"covers {m}" for m in METHODS}
    parts = [
        "# Calibration: which interval and which test to trust on risk-adjusted scores",
        f"""\
Written by `make calibrate` (`benchmarks/calibrate_inference.py`); every figure below comes
from that run.

**Question.** Counting a loss r times makes the differences skewed, the more so the larger r
is. Do the usual intervals still hold the true mean in 95 of 100 cases, and do tests still
raise a false alarm in only 5 (thesis, Chapter 3)?

**Method.** From each of {len(MATRICES)} real score matrices, {PAIRS} pairs of systems of its
better three quarters are drawn. Each pair becomes a population of topics: every system's
scores smoothed half way to their neighbours, ties kept, systems tied together by the ranks of
observed topics. Its true mean of the risk-adjusted differences, x = difference or r times the
difference where it is negative, is known from 2,000,000 draws. From each population {sets:,}
sets of topics are drawn for each r and number of topics, so a cell of one matrix counts
{per_cell:,} sets, a pooled cell {per_cell * len(MATRICES):,}; bootstraps use {resamples:,}
resamples. The number behind ± is the Monte Carlo standard error.""",
        "## Answer",
        verdict(cells),
        f"""\
The default of `surefoot ci` and `sf.intervals` is **{DEFAULT_METHOD}**. The last column is
the share of sets for which ties leave an interval without an end; it is said in a note and
counts as covering.""",
        "Where the pooled coverage falls below 0.94:",
        under(cells),
        "## Coverage of 95 % intervals, all matrices",
        table(cells, intervals),
        "## How often the whole interval lies below the true mean, all matrices",
        """\
A one-sided reading, "the risk is at least this bad", relies on it: it should be 0.025. (The
other side is what coverage leaves.)""",
        table(cells, {m: f"above {m}" for m in METHODS}),
        "## Width relative to Student's interval (median)",
        widths(cells),
        "## Type I error at 5 %, true mean zero",
        """\
The differences are moved to a true mean of zero and stay skewed. The sign and Wilcoxon tests
ask whether the differences lie evenly around zero; risk-adjusted differences of mean zero do
not, so their rejections here are not errors of arithmetic but the answer to another question:
do not use them on risk-adjusted scores.""",
        table(cells, {t: f"centred {t}" for t in TESTS}),
        "## Type I error at 5 %, symmetric differences",
        "Signs are drawn at random: the two systems are exchangeable, which every test assumes.",
        table(cells, {t: f"symmetric {t}" for t in TESTS}),
        "## Power: a regression that the t-test would find 4 times in 5 if scores were normal",
        table(cells, {t: f"power {t} test" for t in TESTS}),
        "The same by whether the 95 % interval leaves zero out:",
        table(cells, {m: f"power {m}" for m in METHODS}),
        "## Coverage, matrix by matrix",
    ]
    for name in MATRICES:
        parts += [f"### {name}", table(cells, intervals, name)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sets; prints only")
    quick = parser.parse_args().quick
    sets, resamples = (100, 1000) if quick else (1000, 2000)
    start = time.process_time()
    cells = study(sets, resamples)
    text = page(cells, sets, resamples)
    if quick:
        print(text)
    else:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
        print(verdict(cells))
    print(f"{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
