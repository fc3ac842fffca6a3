"""Files to per-topic scores of seven measures, validation on, against other evaluators.

Two generated collections (`benchmarks.generate`): like a TREC track, and like MS MARCO. Whole
processes are timed, start-up included, in turns. Peers come from the package index, each in an
environment of its own; TREC_EVAL=/path/to/trec_eval (compiled with -O2) adds that program. Before
anything is timed all contenders must agree on every score. ``--quick`` tries the whole road on a
small collection and publishes nothing.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# nothing heavy here: the peak memory of a child begins with that of its parent
from benchmarks.harness import (
    DATA,
    Timing,
    interleave_commands,
    markdown_table,
    peer_python,
    publish,
)

BIN = Path(sys.executable).parent
MEASURES = ("AP", "nDCG", "nDCG@10", "P@10", "R@100", "RR", "Rprec")
TREC_EVAL = ("map", "ndcg", "ndcg_cut_10", "P_10", "recall_100", "recip_rank", "Rprec")
ASKED = [w for m in ("ndcg_cut.10", "P.10", "recall.100") for w in ("-m", m)] + [
    w for m in ("map", "ndcg", "recip_rank", "Rprec") for w in ("-m", m)
]
TOLERANCE = 5.1e-5  # trec_eval prints four decimals; the libraries agree to the last bits

# Every program takes the judgments and the runs; VALUES names a file for the scores, to compare.
HEAD = "import json, os, sys\nqrels_path, *run_paths = sys.argv[1:]\nvalues = {}\n"
TAIL = "\nif 'VALUES' in os.environ:\n    json.dump(values, open(os.environ['VALUES'], 'w'))\n"

SUREFOOT = f"""
import surefoot as sf
result = sf.evaluate(
    qrels_path, run_paths, {MEASURES!r}, per_topic=True, threads=int(os.environ["THREADS"])
)
if "VALUES" in os.environ:
    for i, path in enumerate(run_paths):
        columns = zip(*(result.value[i, j].tolist() for j in range({len(MEASURES)})))
        values[path] = dict(zip(result.topics, columns))
"""

PYTREC_EVAL = f"""
import pytrec_eval
with open(qrels_path) as file:
    evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set({TREC_EVAL!r}))
for path in run_paths:
    with open(path) as file:
        scores = evaluator.evaluate(pytrec_eval.parse_run(file))
    if "VALUES" in os.environ:
        values[path] = {{t: [s[m] for m in {TREC_EVAL!r}] for t, s in scores.items()}}
"""

IR_MEASURES = f"""
import ir_measures
wanted = [ir_measures.parse_measure(m) for m in {MEASURES!r}]
evaluator = ir_measures.evaluator(wanted, ir_measures.read_trec_qrels(qrels_path))
for path in run_paths:
    rows = list(evaluator.iter_calc(ir_measures.read_trec_run(path)))
    if "VALUES" in os.environ:
        here = values[path] = {{}}
        for row in rows:
            scores = here.setdefault(row.query_id, [0.0] * len(wanted))
            scores[wanted.index(row.measure)] = row.value
"""

RANX = """
import ranx
names = ["map", "ndcg", "ndcg@10", "precision@10", "recall@100", "mrr", "r-precision"]
qrels = ranx.Qrels.from_file(qrels_path, kind="trec")
for path in run_paths:
    run = ranx.Run.from_file(path, kind="trec")
    ranx.evaluate(qrels, run, names, threads=1, make_comparable=True)
    if "VALUES" in os.environ:
        values[path] = {
            t: [float(run.scores[m][t]) for m in names] for t in run.scores[names[0]]
        }
"""

SHELL = 'program=$1; qrels=$2; shift 2; for run in "$@"; do "$program" -q {} "$qrels" "$run"; done'


@dataclass(frozen=True, slots=True)
class Size:
    """Judgments and runs to evaluate."""

    title: str
    qrels: Path
    runs: tuple[Path, ...]
    lines: int

    @property
    def arguments(self) -> list[str]:
        return [str(self.qrels), *map(str, self.runs)]


def libraries() -> dict[str, tuple[Path, str]]:
    """Contender -> interpreter and program."""
    return {
        "surefoot, library": (BIN / "python", SUREFOOT),
        "pytrec_eval": (peer_python("pytrec_eval", ["pytrec-eval-terrier"]), PYTREC_EVAL),
        "ir_measures": (peer_python("ir_measures_cwl", ["ir-measures", "cwl-eval"]), IR_MEASURES),
        "ranx, which compiles first": (peer_python("ranx", ["ranx"]), RANX),
    }


def commands(size: Size) -> dict[str, list[str]]:
    """Every contender as one command over all the runs."""
    out = {
        f"surefoot, {threads} thread{'s' * (threads > 1)}": [
            str(BIN / "surefoot"),
            "evaluate",
            *size.arguments,
            *(word for m in MEASURES for word in ("-m", m)),
            *("-q", "--format", "trec_eval", "--threads", str(threads)),
        ]
        for threads in (1, 2)
    }
    for name, (python, program) in libraries().items():
        out[name] = [str(python), "-W", "ignore", "-c", HEAD + program + TAIL, *size.arguments]
    if program := os.environ.get("TREC_EVAL"):
        shell = SHELL.format(" ".join(ASKED))
        out["trec_eval"] = ["sh", "-c", shell, "sh", program, *size.arguments]
    return out


# -- agreement -------------------------------------------------------------------------------------

Values = Mapping[str, Mapping[str, Sequence[float]]]  # run -> topic -> scores in order of MEASURES


def check_agreement(size: Size) -> None:
    """Stop where a contender's scores are not ours."""
    wanted = commands(size)
    ours = _library_values(wanted["surefoot, library"])
    for name, command in wanted.items():
        if name.startswith("surefoot"):
            continue
        theirs = _printed_values(size) if name == "trec_eval" else _library_values(command)
        tolerance = TOLERANCE if name == "trec_eval" else 1e-9
        worst = max(
            abs(a - b)
            for path, topics in ours.items()
            for topic, scores in topics.items()
            for a, b in zip(scores, theirs[path][topic], strict=True)
        )
        if worst > tolerance:
            raise SystemExit(f"{size.title}: {name} differs from ours by {worst:.2g}")


def _library_values(command: Sequence[str]) -> Values:
    with tempfile.NamedTemporaryFile() as file:
        environment = {**os.environ, "VALUES": file.name, "THREADS": "1"}
        done = subprocess.run(
            list(command), env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(done.stderr.strip())
        found: Values = json.loads(Path(file.name).read_text())
    return found


def _printed_values(size: Size) -> Values:
    values: dict[str, dict[str, list[float]]] = {}
    for run in size.runs:
        printed = subprocess.run(
            [os.environ["TREC_EVAL"], "-q", *ASKED, str(size.qrels), str(run)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        here = values[str(run)] = {}
        for line in printed.splitlines():
            name, topic, value = line.split()
            here.setdefault(topic, [0.0] * 7)[TREC_EVAL.index(name)] = float(value)
    return values


# -- collections -----------------------------------------------------------------------------------


def trec() -> Size:
    return _generated("trec", "20 runs x 250 topics x 1,000 documents, 374,000 judgments")


def ms() -> Size:
    return _generated("ms", "1 run x 7,000 topics x 1,000 documents, 7,000 judgments")


def _generated(name: str, title: str) -> Size:
    subprocess.run([sys.executable, "-m", "benchmarks.generate"], check=True, capture_output=True)
    folder = DATA / name
    runs = tuple(sorted(folder.glob("*.run")))
    return Size(title, folder / "qrels.txt", runs, _lines(runs))


def first_topics(whole: Size, topics: int) -> Size:
    """The first topics of a collection, files of their own."""
    folder = DATA / f"{whole.qrels.parent.name}-{topics}"
    folder.mkdir(exist_ok=True)
    for path in (whole.qrels, *whole.runs):
        with path.open() as source, (folder / path.name).open("w") as target:
            groups = itertools.groupby(source, key=lambda line: line.partition(" ")[0])
            for _, lines in itertools.islice(groups, topics):
                target.writelines(lines)
    runs = tuple(folder / path.name for path in whole.runs)
    return Size(f"{topics:,} topics", folder / whole.qrels.name, runs, _lines(runs))


def _lines(paths: Sequence[Path]) -> int:
    total = 0
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                total += block.count(b"\n")
    return total


# -- tables ----------------------------------------------------------------------------------------

OURS = "surefoot, 1 thread"


def race(size: Size, repeats: int) -> tuple[str, dict[str, Timing]]:
    """Every contender on one collection."""
    check_agreement(size)
    timings = interleave_commands(commands(size), repeats=repeats, env={"THREADS": "1"})
    first = timings[OURS]
    rows = [
        [
            name,
            f"{t.wall:.2f}",
            f"{t.cpu:.2f}",
            f"{size.lines / t.wall / 1e6:.1f}",
            f"{t.peak_mb:.0f}",
            f"{t.wall / first.wall:.1f}",
            f"{t.cpu / first.cpu:.1f}",
        ]
        for name, t in timings.items()
    ]
    header = ("", "wall s", "CPU s", "Mlines/s", "peak MB", "times ours (wall)", "(CPU)")
    return f"## {size.title}\n\n{markdown_table(header, rows)}", timings


def speedup(size: Size, timings: Mapping[str, Timing], repeats: int) -> str:
    """What a second thread brings, also to the work that is more than starting the program."""
    little = {OURS: commands(first_topics(size, 1))[OURS]}
    start = interleave_commands(little, repeats=repeats)[OURS]
    one, two = timings[OURS].wall, timings["surefoot, 2 threads"].wall
    return (
        f"{one / two:.2f} times as fast ({(one - start.wall) / (two - start.wall):.2f} times once "
        f"start-up, {start.wall:.2f} s on one topic, is taken off)"
    )


def one_run(size: Size, repeats: int) -> str:
    """A single run: start-up weighs most."""
    alone = Size(size.title, size.qrels, size.runs[:1], 0)
    wanted = {n: c for n, c in commands(alone).items() if n in (OURS, "trec_eval", "pytrec_eval")}
    timings = interleave_commands(wanted, repeats=repeats)
    rows = [[n, f"{t.wall:.3f}", f"{t.cpu:.3f}", f"{t.peak_mb:.0f}"] for n, t in timings.items()]
    table = markdown_table(("", "wall s", "CPU s", "peak MB"), rows)
    return f"## One run of the first collection, start-up included\n\n{table}"


def growth(size: Size, most: int, repeats: int) -> str:
    """Cost against lines, over that of start-up."""
    steps = {n: first_topics(size, n) for n in (1, most // 8, most // 4, most // 2, most)}
    timings = interleave_commands(
        {str(n): commands(step)[OURS] for n, step in steps.items()}, repeats=repeats
    )
    base = timings["1"]
    rows = []
    for n, step in list(steps.items())[1:]:
        t = timings[str(n)]
        millions = (step.lines - steps[1].lines) / 1e6
        rows.append(
            [
                f"{n * 8 // most}x",
                f"{step.lines:,}",
                f"{t.wall:.2f}",
                f"{t.cpu:.2f}",
                f"{(t.wall - base.wall) / millions * 1e3:.0f}",
                f"{(t.cpu - base.cpu) / millions * 1e3:.0f}",
                f"{t.peak_mb:.0f}",
            ]
        )
    header = ("", "lines", "wall s", "CPU s", "wall ms a Mline", "CPU ms a Mline", "peak MB")
    return (
        "## Cost against lines\n\n"
        f"The second collection cut after so many topics, one thread; start-up ({base.wall:.2f} s, "
        "measured on one topic) is taken off in the columns a million lines.\n\n"
        + markdown_table(header, rows)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="A small try; publishes nothing.")
    options = parser.parse_args()
    big, wide = trec(), ms()
    most = 7000
    if options.quick:
        big, wide, most = first_topics(big, 10), first_topics(wide, 240), 160
    texts = [
        "# Files to per-topic scores",
        f"{', '.join(MEASURES)}; every score of every contender equal to ours before the clock "
        "starts. Whole processes, start-up included, in turns; medians of "
        f"{options.repeats} rounds. *surefoot* is the program, *library* `sf.evaluate` on one "
        "thread.",
    ]
    speedups = []
    for size in (big, wide):
        text, timings = race(size, options.repeats)
        texts.append(text)
        speedups.append(speedup(size, timings, options.repeats))
    texts.append(f"On two threads the first collection is {speedups[0]}, the second {speedups[1]}.")
    texts.append(one_run(big, 4 * options.repeats))
    texts.append(growth(wide, most, options.repeats))
    text = "\n\n".join(texts)
    if options.quick:
        print(text)
    else:
        publish("evaluate", text)


if __name__ == "__main__":
    main()
