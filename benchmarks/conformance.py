"""Ours against what other evaluators print: `python -m benchmarks.conformance` writes the page.

The checks against stored outputs are part of the test suite too.
"""

import csv
import gzip
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from surefoot.io.join import judge_run
from surefoot.io.trec import read_run
from surefoot.metrics.contributions import contributions
from surefoot.metrics.grammar import parse_measure, parse_measures
from surefoot.metrics.measure import Conditions
from surefoot.metrics.rbp import RankBiasedPrecision
from surefoot.workflows.evaluate import evaluate

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "conformance.md"


@dataclass(frozen=True, slots=True)
class Check:
    """How many figures of somebody else's ours equals, to the digits they print."""

    against: str
    what: str
    figures: int
    agree: int
    largest: float  # difference, over all figures
    why: str = ""
    differing: tuple[str, ...] = field(default=(), repr=False)


class Tally:
    """Collects comparisons into a check."""

    def __init__(self, against: str, what: str, *, digits: int, why: str = "") -> None:
        self.against, self.what, self.why = against, what, why
        self.tolerance = 0.5 * 10.0**-digits + 1e-9
        self.figures, self.agree, self.largest = 0, 0, 0.0
        self.differing: list[str] = []

    def compare(self, where: str, ours: float, theirs: float) -> None:
        """One figure, equal when ours rounds to theirs."""
        self.figures += 1
        off = abs(ours - theirs)
        self.largest = max(self.largest, off)
        if off <= self.tolerance:
            self.agree += 1
        else:
            self.differing.append(f"{where}: ours {ours:.6f}, theirs {theirs:g}")

    def check(self) -> Check:
        """The finished check."""
        return Check(
            self.against,
            self.what,
            self.figures,
            self.agree,
            self.largest,
            self.why if self.differing else "",
            tuple(self.differing),
        )


def shared_data() -> Path | None:
    """The real collections beside the checkout, if they are there."""
    for folder in (ROOT.parent, ROOT.parent.parent):
        if (folder / "shared" / "data").is_dir():
            return folder / "shared" / "data"
    return None


# -- trec_eval's own test suite --------------------------------------------------------------------

# expected output -> judgments, run, options
QUICKTEST: dict[str, tuple[str, str, dict[str, object]]] = {
    "out.test": ("qrels.test", "results.test", {}),
    "out.test.a": ("qrels.test", "results.test", {}),
    "out.test.aq": ("qrels.test", "results.test", {}),
    "out.test.aqc": ("qrels.test", "results.trunc", {"complete": True}),
    "out.test.aqcM": ("qrels.test", "results.trunc", {"complete": True, "depth": 100}),
    "out.test.aql": ("qrels.rel_level", "results.test", {"level": 2}),
    "out.test.meas_params": ("qrels.test", "results.test", {}),
}


def known_to_both(label: str) -> bool:
    """Whether a trec_eval measure is one of ours."""
    try:
        parse_measures([label])
    except ValueError:
        return False
    return label != "runid"


def trec_eval_quicktest(data: Path) -> Iterator[Check]:
    folder = data / "trec_eval_tests"
    for expected, (qrels, run, options) in QUICKTEST.items():
        rows = [line.split() for line in (folder / expected).read_text().splitlines()]
        rows = [r for r in rows if len(r) == 3 and known_to_both(r[0])]
        labels = list(dict.fromkeys(r[0] for r in rows))
        result = evaluate(folder / qrels, folder / run, labels, per_topic=True, **options)
        ours = {
            tuple(line.split("\t")[:2]): line.split("\t")[2]
            for line in result.trec_eval_text().splitlines()
        }
        tally = Tally(
            "trec_eval 10, make quicktest",
            f"`{expected}`: {len(labels)} measures",
            digits=4,
            why="trec_eval scales the gains of RBP by the topic's highest grade: next line",
        )
        for label, topic, value in rows:
            tally.compare(f"{label} {topic}", float(ours[label, topic]), float(value))
        yield tally.check()
        if tally.differing:
            yield _topic_maximum(folder, expected, qrels, run, rows)


def _topic_maximum(
    folder: Path, expected: str, qrels: str, run: str, rows: list[list[str]]
) -> Check:
    """RBP with the highest grade of each topic as the largest."""
    judged = judge_run(folder / qrels, folder / run)
    tally = Tally(
        "trec_eval 10, make quicktest", f"`{expected}`: rbp with max_rel per topic", digits=4
    )
    printed = {topic: float(value) for label, topic, value in rows if label == "rbp"}
    scores = []
    for i, topic in enumerate(judged.topics):
        top = float(judged.qrel_grade[judged.qrel_offsets[i]])
        measure = RankBiasedPrecision(p=0.9, max_rel=top)
        scores.append(float(measure.score(judged, Conditions()).value[i]))
        tally.compare(f"rbp {topic}", scores[-1], printed[topic])
    tally.compare("rbp all", float(np.mean(scores)), printed["all"])
    return tally.check()


# -- rbp_eval --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Spec:
    """One specification of rbp_eval: what to run and the figures it expects."""

    number: int
    words: tuple[str, ...]
    depths: tuple[int, ...]
    persistences: tuple[str, ...]
    gain: str
    expected: tuple[tuple[float, float], ...]  # sum, residual; topics in order, then their mean

    def names(self) -> list[str]:
        """Our measures, in the order of the figures of a topic."""
        return [f"RBP(p={p}{self.gain})@{d}" for d in self.depths for p in self.persistences]


def read_spec(path: Path) -> Spec:
    """A specification file; its README describes the format."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and line[0] != "#"]
    words = lines[0].split()
    gain = ""  # -b X: binary from X on; -B: binary; -f X: gain = X * grade
    if "-b" in words:
        gain = f",rel={words[words.index('-b') + 1]}"
    if "-B" in words:
        gain = ",rel=1"
    if "-f" in words:
        gain = f",max_rel={1 / float(words[words.index('-f') + 1]):g}"
    return Spec(
        int(path.stem),
        tuple(words),
        tuple(int(d) for d in words[words.index("-d") + 1].split(",")),
        tuple(words[words.index("-p") + 1].split(",")),
        gain,
        tuple((float(a), float(b)) for a, b in (x.split() for x in lines[1:] if " " in x.strip())),
    )


def rbp_eval_specs(data: Path) -> Iterator[Check]:
    folder = data / "rbp_eval_tests"
    for number in range(1, 12):
        spec = read_spec(folder / f"{number}.spec")
        qrels, run = (folder / name for name in spec.words[-2:])
        result = evaluate(qrels, run, spec.names(), per_topic=True, ties="average")
        values = [*result.value[0].T, result.mean[0]]
        uppers = [*result.upper[0].T, result.mean_upper[0]]
        tally = Tally(
            "rbp_eval",
            f"`{number}.spec`: {' '.join(spec.words)}",
            digits=4,
            why="a depth divides a group of ties: next line",
        )
        flat = zip(np.concatenate(values), np.concatenate(uppers), strict=True)
        for (value, upper), (total, residual) in zip(flat, spec.expected, strict=True):
            tally.compare("sum", float(value), total)
            tally.compare("residual", float(upper - value), residual)
        yield tally.check()
        if tally.differing:
            yield _mean_weights(spec, qrels, run)


def _mean_weights(spec: Spec, qrels: Path, run: Path) -> Check:
    """rbp_eval's own rule: a tied document has the mean weight of ALL ranks of its group."""
    judged = judge_run(qrels, run)
    tally = Tally(
        "rbp_eval",
        f"`{spec.number}.spec` again, every tied document weighted with the mean over its whole "
        "group, also over ranks beyond the depth",
        digits=4,
        why="rank 8 of this run is shared by documents of different scores; rbp_eval ties by the "
        "rank column, we by the score",
    )
    rows = []
    for i in range(len(judged.topics)):
        here = slice(judged.offsets[i], judged.offsets[i + 1])
        grade, score = judged.grade[here], judged.score[here]
        for depth in spec.depths:
            for p in map(float, spec.persistences):
                total, residual = 0.0, p**depth
                for same in np.unique(score):
                    group = np.flatnonzero(score == same)
                    weight = ((1 - p) * p**group).mean() * (group < depth).mean()
                    total += weight * (grade[group] >= 1).sum()
                    residual += weight * np.isnan(grade[group]).sum()
                rows.append((total, residual))
    per_topic = len(rows) // len(judged.topics)
    rows += np.mean(np.reshape(rows, (-1, per_topic, 2)), axis=0).tolist()
    for (total, residual), expected in zip(rows, spec.expected, strict=True):
        tally.compare("sum", total, expected[0])
        tally.compare("residual", residual, expected[1])
    return tally.check()


# -- TREC-COVID ------------------------------------------------------------------------------------

LEADERBOARD = {
    1: {"ndcg@10": "nDCG@10", "p@5": "P@5", "RBP(p=.5)": "RBP(p=0.5)"},
    5: {"ndcg@20": "nDCG@20", "P@20": "P@20", "rbp_p5": "RBP(p=0.5)"},
}
WHOLE_RUN = {1: {"MAP": "AP", "bpref": "bpref"}, 5: {"map": "AP", "bpref": "bpref"}}


def trec_covid_leaderboard(data: Path) -> Iterator[Check]:
    for round_number, columns in LEADERBOARD.items():
        folder = data / "trec_covid" / f"round{round_number}"
        qrels = data / "trec_covid" / f"qrels.covid-round{round_number}.txt.gz"
        with (folder / "leaderboard.csv").open(newline="") as file:
            board = {next(iter(row.values())): row for row in csv.DictReader(file)}
        for kind, measures in (("top100", columns), ("full", WHOLE_RUN[round_number])):
            paths = sorted((folder / f"runs_{kind}").glob("*.gz"))
            runs = {path.name.removesuffix(".gz"): path for path in paths}
            result = evaluate(qrels, runs, list(measures.values()), complete=True)
            for j, (column, ours) in enumerate(measures.items()):
                tally = Tally(
                    f"TREC-COVID round {round_number}, official means",
                    ours,
                    digits=4,
                    why="trec_eval 9 keeps scores as 32-bit floats and sees ties where these runs "
                    "have none: next line",
                )
                differing = []
                for i, system in enumerate(result.systems):
                    row = board.get(system)
                    if row is None or not row[column]:
                        continue
                    before = tally.agree
                    tally.compare(system, float(result.mean[i, j]), float(row[column]))
                    if tally.agree == before:
                        differing.append((system, float(row[column])))
                yield tally.check()
                if differing:
                    yield _rounded_scores(f"round {round_number}", ours, qrels, folder, differing)


def _rounded_scores(
    label: str, measure: str, qrels: Path, folder: Path, expected: list[tuple[str, float]]
) -> Check:
    """The same runs with their scores rounded to 32-bit floats, as trec_eval 9 reads them."""
    tally = Tally(
        f"TREC-COVID {label}, official means",
        f"{measure} of {', '.join(s for s, _ in expected)}, scores rounded to 32 bits first",
        digits=4,
        why="a mean of .88845 is a tie between two roundings",
    )
    for system, official in expected:
        run = read_run(folder / "runs_top100" / f"{system}.gz")
        run.scores[:] = run.scores.astype(np.float32)
        result = evaluate(qrels, run, measure, complete=True)
        tally.compare(system, float(result.mean[0, 0]), official)
    return tally.check()


def trec_covid_per_topic(data: Path) -> Iterator[Check]:
    names = {
        "ndcg10": "nDCG@10",
        "ndcg20": "nDCG@20",
        "p5": "P@5",
        "p20": "P@20",
        "rbp_p0.5_binary": "RBP(p=0.5,rel=1)",
        "rbp_p0.5_graded": "RBP(p=0.5)",
    }
    for round_number in (1, 5):
        folder = data / "trec_covid" / f"round{round_number}"
        qrels = data / "trec_covid" / f"qrels.covid-round{round_number}.txt.gz"
        with gzip.open(folder / "per_topic_scores.csv.gz", "rt", newline="") as file:
            theirs = {(row["system"], row["topic"]): row for row in csv.DictReader(file)}
        runs = sorted((folder / "runs_full").glob("*.gz"))
        result = evaluate(qrels, runs, ["AP", *names.values()], complete=True)
        tally = Tally(
            f"TREC-COVID round {round_number}, scores per topic",
            f"{', '.join(['AP', *names.values()])}; {len(runs)} whole runs",
            digits=5,
        )
        for i, system in enumerate(result.systems):
            for t, topic in enumerate(result.topics):
                row = theirs.get((system, topic))
                if row is None:
                    continue
                for j, column in enumerate(["map", *names]):
                    tally.compare(
                        f"{column} {system} {topic}", result.value[i, j, t], float(row[column])
                    )
        yield tally.check()


def thesis_scores(data: Path) -> Iterator[Check]:
    """Chapter 5's scores are binary RBP p=.5; its per-rank gains are phi=.8 with gains 0, .5, 1."""
    folder = data / "trec_covid" / "round1"
    qrels = data / "trec_covid" / "qrels.covid-round1.txt.gz"
    runs = {p.name.removesuffix(".gz"): p for p in (folder / "runs_top100").glob("*.gz")}
    with (folder / "round1_data.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["system"] in runs]
    wanted = sorted({r["system"] for r in rows})
    measure = "RBP(p=0.5,rel=1)"
    result = evaluate(qrels, [runs[s] for s in wanted], measure, complete=True, ties="average")
    at = {
        (s, t): result.value[i, 0, j]
        for i, s in enumerate(result.systems)
        for j, t in enumerate(result.topics)
    }
    tally = Tally(
        "Thesis chapter 5, round1_data.csv",
        "RBP(p=0.5,rel=1) per topic, ties averaged",
        digits=4,
    )
    for row in rows:
        tally.compare(
            f"{row['system']} {row['topic']}", at[row["system"], row["topic"]], float(row["score"])
        )
    yield tally.check()

    tally = Tally(
        "Thesis chapter 5, round1_rbpgain.csv",
        "what each rank adds to RBP(p=0.8), ties by document id ascending",
        digits=4,
    )
    gains: dict[str, dict[tuple[str, int], float]] = {}
    with (folder / "round1_rbpgain.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            gains.setdefault(row["system"], {})[row["topic"], int(row["rank"])] = float(
                row["score"]
            )
    for system, by_rank in gains.items():
        judged = judge_run(qrels, runs[system], ties="docid")
        table = contributions(parse_measure("RBP(p=0.8)"), judged)
        for topic, rank, score in zip(table.topic, table.rank, table.score, strict=True):
            theirs = by_rank.get((judged.topics[topic], int(rank)))
            if theirs is not None:
                tally.compare(f"{system} {judged.topics[topic]} {rank}", float(score), theirs)
    yield tally.check()


# -- gdeval and LETOR ------------------------------------------------------------------------------


def gdeval(data: Path) -> Iterator[Check]:
    folder = data / "web2012"
    measures = ["nDCG(gain='exp')@20", "ERR@20"]
    tally = Tally(
        "gdeval 1.3, TREC 2012 Web track",
        "nDCG(gain='exp')@20 and ERR@20, 8 runs, per topic and mean",
        digits=5,
    )
    for path in sorted((folder / "gdeval_output").glob("*.csv")):
        run = folder / "indri_runs" / f"{path.stem.replace('-', '-results-', 1)}.txt.gz"
        result = evaluate(folder / "qrels.adhoc.txt", run, measures, complete=True)
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                t = None if row["topic"] == "amean" else result.topics.index(row["topic"])
                for j, column in enumerate(("ndcg@20", "err@20")):
                    ours = result.mean[0, j] if t is None else result.value[0, j, t]
                    tally.compare(
                        f"{path.stem} {row['topic']} {column}", float(ours), float(row[column])
                    )
    yield tally.check()


def letor(data: Path) -> Iterator[Check]:
    """Single features of OHSUMED as rankings: LETOR's discount, stable order on ties."""
    folder = data / "ltr_svmlight" / "ohsumed"
    judged: dict[str, dict[str, float]] = {}
    scores: list[dict[str, dict[str, float]]] = [{} for _ in range(25)]
    for fold in range(1, 6):
        with gzip.open(folder / f"fold{fold}_test.txt.gz", "rt") as file:
            for line in file:
                label, query, *features = line.partition("#")[0].split()
                document = f"d{len(judged.setdefault(query, {}))}"
                judged[query][document] = float(label)
                for k in range(25):
                    value = float(features[k].partition(":")[2])
                    scores[k].setdefault(query, {})[document] = value
    names = [f"nDCG(gain='exp',discount='letor')@{k}" for k in range(1, 11)]
    names += [*(f"P@{k}" for k in range(1, 11)), "AP"]
    columns = [*(f"ndcg{k}" for k in range(1, 11)), *(f"p{k}" for k in range(1, 11)), "map"]
    result = evaluate(
        judged, {f"f{k + 1}": s for k, s in enumerate(scores)}, names, ties="file", complete=True
    )
    tally = Tally(
        "LETOR OHSUMED, published single features",
        "nDCG@1-10 with `gain='exp',discount='letor'`, P@1-10, AP; 25 features",
        digits=5,
    )
    with (folder / "single_features_published.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            i = result.systems.index(f"f{row['feature']}")
            for j, column in enumerate(columns):
                tally.compare(
                    f"{column} feature {row['feature']}", result.mean[i, j], float(row[column])
                )
    yield tally.check()


STORED: tuple[Callable[[Path], Iterator[Check]], ...] = (
    trec_eval_quicktest,
    rbp_eval_specs,
    trec_covid_leaderboard,
    trec_covid_per_topic,
    thesis_scores,
    gdeval,
    letor,
)


# -- the page --------------------------------------------------------------------------------------

INTRODUCTION = """# Conformance

Written by `make conformance`. A figure agrees when ours is the same to the digits that the other
side prints; *largest* is the largest difference over all figures of the line, before rounding.
"""

KNOWN = """
## Where other programs differ, and why ours stays as it is

- **trec_eval 9, pytrec_eval** keep scores as 32-bit floats: documents whose scores differ after the
  seventh digit become ties and change places. Ours compares the numbers as written. The lines
  "scores rounded to 32 bits first" above reproduce the official figures this way.
- **trec_eval 10** scales the gains of RBP by the highest grade of the *topic*, from uninitialised
  bounds; ours by the highest grade of the collection. Its `rbp_resid` prints 0 for a list without
  unjudged documents and forgets the tail of the user model (0.81 for two documents at p=0.9). It
  stops with exit code 4 where a judged topic is missing from the run and `-c` is not given; ours
  averages over the topics that both have and says which are missing.
- **trec_eval** treats a negative grade as "in the pool but not judged". Ours does so for bpref
  only: elsewhere it is a judgment, worth nothing, and `-J` keeps it.
- **gdeval** takes 4 for the highest grade whatever the judgments say; give `ERR(max_rel=4)@20`
  where they do not reach it.
- **inst_eval.py** evaluates every query to the depth of the first one it sees, reads documents in
  the order of the lines whatever their scores, cuts the tail at limit(T) (undefined for T above
  50), takes a whole T only, skips with `-T` the missing queries that `-c` should count, and reads a
  grade of -1 as unjudged where the highest grade is 1. Ours does none of that; output and flags are
  the same.
- **cwl-eval** leaves out the tail of INST altogether.
- **ir_measures** computes RBP and Judged@k itself and breaks ties by document id ascending there,
  unlike in the measures that it takes from pytrec_eval.
- **rbp_eval** gives a tied document the mean weight of all ranks of its group, also of those below
  the depth; ours averages over orderings, of which a list cut at the depth shows some.
"""


def page(stored: list[Check], live: list[Check]) -> str:
    """The whole page."""
    lines = [INTRODUCTION]
    for title, checks in (
        ("Against stored outputs", stored),
        ("Against programs run side by side", live),
    ):
        if not checks:
            continue
        total, agree = sum(c.figures for c in checks), sum(c.agree for c in checks)
        lines += [f"## {title}", "", f"{agree:,} of {total:,} figures agree.", ""]
        lines += ["| against | what | figures | agree | largest | why not all |"]
        lines += ["|---|---|---:|---:|---:|---|"]
        lines += [
            f"| {c.against} | {c.what} | {c.figures:,} | {c.agree:,} | {c.largest:.1e} | {c.why} |"
            for c in checks
        ]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n" + KNOWN


def main() -> int:
    """Write the page; unexplained differences are an error."""
    data = shared_data()
    if data is None:
        print("the real collections (../shared/data) are not beside this checkout")
        return 1
    from benchmarks.conformance_peers import peers

    stored = [check for checks in STORED for check in checks(data)]
    live = list(peers(data))
    PAGE.write_text(page(stored, live), encoding="utf-8")
    unexplained = [c for c in [*stored, *live] if c.differing and not c.why]
    for check in unexplained:
        print(f"{check.against}, {check.what}: {'; '.join(check.differing[:5])}")
    print(PAGE.read_text())
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
