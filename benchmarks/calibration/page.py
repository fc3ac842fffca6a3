"""docs/method/calibration.md, made of the study's indicators."""

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.calibration.families import AGAINST, JOINT, SYSTEMS
from benchmarks.calibration.pairs import PAIRS, TESTS, TOPICS, R
from benchmarks.calibration.populations import MATRICES
from surefoot.inference.intervals import DEFAULT_METHOD, METHODS

Cells = Mapping[tuple[int, ...], Mapping[str, np.ndarray]]
# of the skewness of the mean, in absolute value
_BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, np.inf)


def rate(values: np.ndarray) -> str:
    """A share and its Monte Carlo standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    if error == 0:  # none or all: the error that one event more would have
        error = 1 / len(values)
    return f"{values.mean():.3f} ± {error:.3f}"


def pooled(cells: Cells, n: int, key: str, matrix: int | None = None) -> np.ndarray:
    """Indicators of all units of that many topics (of one matrix)."""
    return np.concatenate(
        [cell[key] for u, cell in cells.items() if u[-1] == n and matrix in (None, u[0])]
    )


def table(cells: Cells, columns: Mapping[str, str], matrix: int | None = None) -> str:
    """Rows r x topics; over all matrices, or of one."""
    return _rows(
        list(columns),
        lambda r, n: [rate(pooled(cells, n, f"r{r} {key}", matrix)) for key in columns.values()],
    )


def _rows(header: list[str], row: Callable[[int, int], list[str]]) -> str:
    lines = ["| r | topics | " + " | ".join(header) + " |", "|---:|---:|" + "---:|" * len(header)]
    for r in R:
        for n in TOPICS:
            lines.append(f"| {r} | {n} | " + " | ".join(row(r, n)) + " |")
    return "\n".join(lines)


def widths(cells: Cells) -> str:
    """Median width of each bootstrap interval over Student's."""
    return _rows(
        list(METHODS[1:]),
        lambda r, n: [
            f"{np.nanmedian(pooled(cells, n, f'r{r} width {m}')):.3f}" for m in METHODS[1:]
        ],
    )


def shortfalls(cells: Cells, method: str) -> list[tuple[float, float, str, int, int]]:
    """(coverage, error, matrix, r, topics) of each matrix and setting, worst first."""
    rows = []
    for m, name in enumerate(MATRICES):
        for r in R:
            for n in TOPICS:
                covered = pooled(cells, n, f"r{r} covers {method}", m)
                share = float(covered.mean())
                error = float(np.sqrt(share * (1 - share) / len(covered)))
                rows.append((share, error, name, r, n))
    return sorted(rows)


def verdict(cells: Cells) -> str:
    """One line an interval: on the whole, and at its worst."""
    lines = [
        "| interval | mean coverage | lowest over r and topics | cells of one matrix below 0.93 "
        "| worst cell of one matrix | without an end |",
        "|---|---:|---:|---:|---|---:|",
    ]
    for method in METHODS:
        rows = shortfalls(cells, method)
        everything = np.concatenate([c[f"r{r} covers {method}"] for c in cells.values() for r in R])
        low = min(
            (float(pooled(cells, n, f"r{r} covers {method}").mean()), r, n)
            for r in R
            for n in TOPICS
        )
        share, error, name, r, n = rows[0]
        below = sum(s + 2 * e < 0.93 for s, e, *_ in rows)
        ends = np.concatenate([c[f"r{r} bounded {method}"] for c in cells.values() for r in R])
        lines.append(
            f"| {method} | {rate(everything)} | {low[0]:.3f} (r = {low[1]}, {low[2]} topics) "
            f"| {below} of {len(rows)} | {share:.3f} ± {error:.3f} ({name}, r = {r}, {n} topics) "
            f"| {1 - ends.mean():.4f} |"
        )
    return "\n".join(lines)


def choice(cells: Cells) -> str:
    """How far each interval is from its promises, and whether the default is the nearest."""
    grid = [(r, n) for r in R for n in TOPICS]

    def distance(what: str, promised: float, method: str) -> float:
        shares = [pooled(cells, n, f"r{r} {what} {method}").mean() for r, n in grid]
        return float(np.mean(np.abs(np.array(shares) - promised)))

    of = {m: (distance("covers", 0.95, m), distance("above", 0.025, m)) for m in METHODS}
    lines = [
        "| mean distance over r and topics | " + " | ".join(METHODS) + " |",
        "|---|" + "---:|" * len(METHODS),
        "| of coverage from 0.95 | " + " | ".join(f"{of[m][0]:.4f}" for m in METHODS) + " |",
        "| of misses on one side from 0.025 | "
        + " | ".join(f"{of[m][1]:.4f}" for m in METHODS)
        + " |",
    ]
    nearest = min(METHODS, key=lambda m: sum(of[m]))
    said = "and is the one nearest to both promises" if nearest == DEFAULT_METHOD else (
        f"while {nearest} comes nearest to both promises together"
    )  # fmt: skip
    lines += [
        "",
        f"The default of `surefoot ci` and `sf.intervals` is **{DEFAULT_METHOD}**, {said}.",
    ]
    return "\n".join(lines)


def under(cells: Cells) -> str:
    """In words: where each interval falls short of 95 % by more than a point."""
    out = []
    for method in METHODS:
        by_r = {
            r: [n for n in TOPICS if pooled(cells, n, f"r{r} covers {method}").mean() < 0.94]
            for r in R
        }
        text = "; ".join(
            f"r = {r} at {', '.join(map(str, ns))} topics" for r, ns in by_r.items() if ns
        )
        out.append(f"- **{method}**: {text or 'nowhere'}.")
    return "\n".join(out)


def by_skewness(cells: Cells) -> str:
    """Coverage by the skewness of the mean, the population's over the root of the topics."""
    groups: dict[int, list[tuple[Mapping[str, np.ndarray], int]]] = {}
    for (*_, n), cell in cells.items():
        for r in R:
            of_mean = abs(float(cell[f"r{r} skewness"][0])) / np.sqrt(n)
            groups.setdefault(int(np.digitize(of_mean, _BINS)) - 1, []).append((cell, r))
    lines = [
        "| skewness of the mean | settings | " + " | ".join(METHODS) + " |",
        "|---|---:|" + "---:|" * len(METHODS),
    ]
    for b in sorted(groups):
        top = f"to {_BINS[b + 1]:g}" if np.isfinite(_BINS[b + 1]) else "and more"
        values = [
            rate(np.concatenate([c[f"r{r} covers {m}"] for c, r in groups[b]])) for m in METHODS
        ]
        lines.append(f"| {_BINS[b]:g} {top} | {len(groups[b])} | " + " | ".join(values) + " |")
    return "\n".join(lines)


def page(single: Cells, joint: Cells, sets: int, resamples: int) -> str:
    """The whole page."""
    intervals = {m: f"covers {m}" for m in METHODS}
    family_sets = len(next(iter(joint.values()))["r1 alike tukey"])
    parts = [
        "# Calibration: which interval and which test to trust on risk-adjusted scores",
        f"""\
Every figure below comes from one run of
`python -m benchmarks.calibrate_inference --sets {sets} --resamples {resamples}`;
`make calibrate` runs it with its defaults.

**Question.** Counting a loss r times makes the differences skewed, the more so the larger r
is. Do the usual intervals still hold the true mean in 95 of 100 cases, and do tests still
raise a false alarm in only 5 (thesis, Chapter 3)?

**Method.** From each of {len(MATRICES)} real score matrices, {PAIRS} pairs of systems of its
better three quarters are drawn. Each pair becomes a population of topics: every system's
scores smoothed half way to their neighbours, ties kept, systems tied together by the ranks of
observed topics. Its true mean of the risk-adjusted differences, x = difference or r times the
difference where it is negative, is known from 2,000,000 draws. From each population {sets:,}
sets of topics are drawn for each r and number of topics, so a cell of one matrix counts
{sets * PAIRS:,} sets, a pooled cell {sets * PAIRS * len(MATRICES):,}; bootstraps use
{resamples:,} resamples. The number behind ± is the Monte Carlo standard error.

The Bayesian models have studies of their own: [simulation-based calibration](bayes_calibration.md)
of every family and engine, and [coverage of predictive risk](ppd_calibration.md).""",
        "## Answer",
        verdict(single),
        choice(single),
        """\
The last column of the first table is the share of sets for which ties leave an interval without
an end; it is said in a note and counts as covering.""",
        "Where the pooled coverage falls below 0.94:",
        under(single),
        "## What decides: the skewness of the mean",
        """\
The skewness of n differences over √n, all settings together. `surefoot normality` reads its
recommendation off this table.""",
        by_skewness(single),
        "## Coverage of 95 % intervals, all matrices",
        table(single, intervals),
        "## How often the whole interval lies below the true mean, all matrices",
        """\
A one-sided reading, "the risk is at least this bad", relies on it: it should be 0.025. (The
other side is what coverage leaves.)""",
        table(single, {m: f"above {m}" for m in METHODS}),
        "## Width relative to Student's interval (median)",
        widths(single),
        "## Type I error at 5 %, true mean zero",
        """\
The differences are moved to a true mean of zero and stay skewed. The sign and Wilcoxon tests
ask whether the differences lie evenly around zero; risk-adjusted differences of mean zero do
not, so their rejections here are not errors of arithmetic but the answer to another question:
do not use them on risk-adjusted scores.""",
        table(single, {t: f"centred {t}" for t in TESTS}),
        "## Type I error at 5 %, symmetric differences",
        "Signs are drawn at random: the two systems are exchangeable, which every test assumes.",
        table(single, {t: f"symmetric {t}" for t in TESTS}),
        "## Power: a regression that the t-test would find 4 times in 5 if scores were normal",
        table(single, {t: f"finds {t}" for t in TESTS}),
        "The same by whether the 95 % interval leaves zero out:",
        table(single, {m: f"power {m}" for m in METHODS}),
        "## Many comparisons: all pairs of challengers, family-wise error at 5 %",
        f"""\
A champion and {SYSTEMS} challengers of each matrix, {family_sets:,} sets each; the pairs compare
challengers by their risk-adjusted differences to the champion (at r = 1 that is a comparison of
plain scores). Max-T permutes labels {resamples // 2:,} times. All challengers alike, exchangeable
within topics, so any rejection is false:""",
        table(joint, {t: f"alike {t}" for t in JOINT}),
        """\
Challengers as they are, spread and correlation of their own each, moved to equal true means. Any
rejection is false here too, but no longer excluded by exchangeability, on which ANOVA's and
Tukey's common residual and max-T's permutation of labels rest:""",
        table(joint, {t: f"equal {t}" for t in JOINT}),
        """\
Half of the alike challengers better than the other half. Rejections within a half are false:""",
        table(joint, {t: f"half {t}" for t in JOINT[1:]}),
        """\
Power: how often ANOVA sees that there is a difference, and the share of the differences between
the halves that Tukey's test and max-T find, where a single t-test finds 4 in 5:""",
        table(joint, {t: f"found {t}" for t in JOINT}),
        "## Many comparisons: challengers against the champion, family-wise error at 5 %",
        """\
The differences to the champion have true means of zero each: the chance of any rejection
(Benjamini-Hochberg promises it only because all are null). Max-T flips signs, which skewed
differences do not survive unharmed; Holm and Bonferroni correct t-tests.""",
        table(joint, {t: f"error {t}" for t in AGAINST}),
        "Share of the challengers found, each with a loss that a single t-test finds 4 in 5 times:",
        table(joint, {t: f"finds {t}" for t in AGAINST}),
        """\
All challengers' intervals at once with Bonferroni's correction, 95 % for all of them together:
how often every one holds its true mean.""",
        table(joint, {m: f"together {m}" for m in METHODS}),
        "## Effect sizes: coverage of their 95 % intervals",
        """\
Cohen's d by the noncentral t distribution, Glass's delta by its large-sample error. Both lean on
normal differences, which risk-adjusted ones are not.""",
        table(single, {"Cohen's d": "covers cohen", "Glass's delta": "covers glass"}),
        "## Coverage, matrix by matrix",
    ]
    for m, name in enumerate(MATRICES):
        parts += [f"### {name}", table(single, intervals, m)]
    return "\n\n".join(parts) + "\n"
