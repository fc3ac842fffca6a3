"""Ours against other evaluators as they run today, on the whole TREC-COVID round 1 runs."""

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.conformance import Check, Tally
from benchmarks.harness import peer_python
from surefoot.io.trec import read_qrels, read_run
from surefoot.workflows.evaluate import evaluate
from surefoot.workflows.inst_eval import inst_eval

Scores = Mapping[str, Mapping[str, Mapping[str, float]]]  # run -> measure -> topic -> score

PYTREC_EVAL = """
import json, sys, pytrec_eval
qrels, runs, measures = json.load(open(sys.argv[1]))
evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(measures))
out = {}
for name, run in runs.items():
    scores = evaluator.evaluate(run)
    out[name] = {m: {t: s[m] for t, s in scores.items()} for m in next(iter(scores.values()))}
print(json.dumps(out))
"""

IR_MEASURES = """
import json, sys, ir_measures
qrels, runs, measures = json.load(open(sys.argv[1]))
wanted = {m: ir_measures.parse_measure(m) for m in measures}
out = {}
for name, run in runs.items():
    out[name] = {}
    for label, measure in wanted.items():
        rows = ir_measures.iter_calc([measure], qrels, run)
        out[name][label] = {r.query_id: r.value for r in rows}
print(json.dumps(out))
"""

CWL_EVAL = """
import json, sys, numpy as np
from cwl.ruler.cwl_ruler import CWLRuler
from cwl.ruler.ranking import Ranking
from cwl.ruler.measures.cwl_rbp import RBPCWLMetric
from cwl.ruler.measures.cwl_inst import INSTCWLMetric
qrels, runs, measures = json.load(open(sys.argv[1]))
top = max(g for d in qrels.values() for g in d.values())
out = {}
for name, run in runs.items():
    out[name] = {"RBP(p=0.8)": {}, "INST(T=3)": {}}
    for topic, docs in run.items():
        order = sorted(docs, key=lambda d: (docs[d], d), reverse=True)
        gains = [max(qrels[topic].get(d, 0), 0) / top for d in order]
        for label, metric in (("RBP(p=0.8)", RBPCWLMetric(0.8)), ("INST(T=3)", INSTCWLMetric(3.0))):
            ranking = Ranking(topic, np.array(gains), np.ones(len(gains)))
            out[name][label][topic] = float(metric.measure(ranking))
print(json.dumps(out))
"""


def _peer(python: Path, program: str, qrels: object, runs: object, measures: list[str]) -> Scores:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([qrels, runs, measures], file)
        file.flush()
        done = subprocess.run(
            [str(python), "-W", "ignore", "-c", program, file.name],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found: Scores = json.loads(done.stdout.splitlines()[-1])
    return found


def _compare(
    against: str,
    names: Mapping[str, str],
    theirs: Scores,
    qrels: Path,
    runs: list[Path],
    why: Mapping[str, str],
    ties: str = "trec",
) -> Iterator[Check]:
    result = evaluate(qrels, runs, list(names.values()), per_topic=True, ties=ties)
    for j, (their_name, our_name) in enumerate(names.items()):
        # gdeval, which ir_measures calls for exponential gains, prints five decimals
        digits = 5 if "exp" in our_name else 6
        what = f"{our_name} (`{their_name}`)" + (f", --ties {ties}" if ties != "trec" else "")
        tally = Tally(against, what, digits=digits, why=why.get(our_name, ""))
        for i, system in enumerate(result.systems):
            for t, topic in enumerate(result.topics):
                value = theirs[system].get(their_name, {}).get(topic)
                if value is not None:
                    tally.compare(f"{system} {topic}", float(result.value[i, j, t]), value)
        yield tally.check()


def peers(data: Path) -> Iterator[Check]:
    """Everything that runs from the package index, then programs named by the environment."""
    qrels_path = data / "trec_covid" / "qrels.covid-round1.txt.gz"
    paths = sorted((data / "trec_covid" / "round1" / "runs_full").glob("*.gz"))
    qrels = {
        t: {d: int(g) for d, g in docs.items()}
        for t, docs in read_qrels(qrels_path).to_dict().items()
    }
    runs = {read_run(p).name: read_run(p).to_dict() for p in paths}

    names = {
        "map": "AP",
        "ndcg": "nDCG",
        "ndcg_cut_10": "nDCG@10",
        "P_5": "P@5",
        "recall_100": "R@100",
        "recip_rank": "RR",
        "bpref": "bpref",
        "Rprec": "Rprec",
        "success_1": "Success@1",
        "set_P": "SetP",
    }
    float_ties = (
        "scores are kept as 32-bit floats there, so that different scores tie; expected for the "
        "runs whose scores need more digits"
    )
    theirs = _peer(
        peer_python("pytrec_eval", ["pytrec-eval-terrier"]), PYTREC_EVAL, qrels, runs, list(names)
    )
    why = dict.fromkeys(names.values(), float_ties)
    yield from _compare("pytrec_eval", names, theirs, qrels_path, paths, why)

    same = ["AP", "nDCG", "nDCG@10", "P@5", "P(rel=2)@5", "R@100", "RR", "RR@10", "Bpref", "Rprec"]
    same += ["Success@1", "Judged@10", "RBP(p=0.8,rel=1)", "AP@100", "nDCG(dcg='exp-log2')@10"]
    names = {n: n.replace("dcg='exp-log2'", "gain='exp'").replace("Bpref", "bpref") for n in same}
    theirs = _peer(
        peer_python("ir_measures_cwl", ["ir-measures", "cwl-eval"]), IR_MEASURES, qrels, runs, same
    )
    why = dict.fromkeys(names.values(), f"computed by pytrec_eval: {float_ties}")
    by_id = ["RBP(p=0.8,rel=1)", "Judged@10"]
    why |= dict.fromkeys(by_id, "its own code breaks ties by document id ascending: next lines")
    yield from _compare("ir_measures", names, theirs, qrels_path, paths, why)
    again = {n: n for n in by_id}
    yield from _compare("ir_measures", again, theirs, qrels_path, paths, {}, ties="docid")

    names = {"RBP(p=0.8)": "RBP(p=0.8)", "INST(T=3)": "INST(T=3)"}
    theirs = _peer(peer_python("cwl", ["cwl-eval"]), CWL_EVAL, qrels, runs, list(names))
    why = {
        "INST(T=3)": "cwl-eval leaves the tail of the user model out and divides by the sum of "
        "the weights of the list alone"
    }
    yield from _compare("cwl-eval", names, theirs, qrels_path, paths, why)

    if program := os.environ.get("TREC_EVAL"):
        yield from _trec_eval(program, qrels_path, paths)
    if program := os.environ.get("INST_EVAL"):
        yield from _inst_eval(program, qrels_path, paths[:3])


def _trec_eval(program: str, qrels: Path, paths: list[Path]) -> Iterator[Check]:
    labels = ["map", "ndcg", "ndcg_cut_10", "P_5", "recall_100", "recip_rank", "bpref", "Rprec"]
    wanted = [
        w
        for m in ("map", "ndcg", "ndcg_cut.10", "P.5", "recall.100", "recip_rank", "bpref", "Rprec")
        for w in ("-m", m)
    ]
    result = evaluate(qrels, paths, labels, per_topic=True)
    tally = Tally("trec_eval 10, the program", ", ".join(result.measures), digits=4)
    with tempfile.TemporaryDirectory() as folder:
        plain_qrels = _plain(qrels, folder)
        for i, path in enumerate(paths):
            printed = subprocess.run(
                [program, "-q", *wanted, plain_qrels, _plain(path, folder)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for line in printed.splitlines():
                name, topic, value = line.split()
                if name not in labels:
                    continue
                j = labels.index(name)
                t = None if topic == "all" else result.topics.index(topic)
                ours = result.mean[i, j] if t is None else result.value[i, j, t]
                tally.compare(f"{name} {path.name} {topic}", float(ours), float(value))
    yield tally.check()


def _inst_eval(program: str, qrels: Path, paths: list[Path]) -> Iterator[Check]:
    """The reference program reads a run in the order of its lines, so it gets them sorted.

    The first query's list is cut at 50 documents, to see what becomes of the others.
    """
    depth = "it cuts every list at the length of the first query's; next line"
    tail = "it cuts the tail of the user model at limit(T), ours is summed to infinity"
    for what, why in (("as it runs", depth), ("one query at a time", tail)):
        tally = Tally("inst_eval.py", f"inst_min and inst_max for T=3, {what}", digits=4, why=why)
        for path in paths:
            run = read_run(path).to_dict()
            first = min(run)
            kept = sorted(run[first], key=lambda d: (run[first][d], d), reverse=True)[:50]
            run[first] = {d: run[first][d] for d in kept}
            ours = inst_eval(qrels, run, T=3, ties="trec")
            at = {t: (lo, hi) for t, lo, hi in zip(ours.topics, ours.low, ours.high, strict=True)}
            with tempfile.TemporaryDirectory() as folder:
                plain_qrels = _plain(qrels, folder)
                for part in _ordered(run, folder, one_by_one=what != "as it runs"):
                    printed = subprocess.run(
                        [sys.executable, program, plain_qrels, part, "-T", "3", "-q"],
                        capture_output=True,
                        text=True,
                        check=True,
                    ).stdout
                    for line in printed.splitlines():
                        name, topic, value = line.split()
                        if topic != "all" and name in ("inst_min", "inst_max"):
                            mine = at[topic][name == "inst_max"]
                            tally.compare(f"{name} {path.name} {topic}", float(mine), float(value))
        yield tally.check()


def _plain(path: Path, folder: str) -> str:
    """An uncompressed copy, for programs that read no .gz."""
    if path.suffix != ".gz":
        return str(path)
    target = Path(folder) / path.name.removesuffix(".gz")
    if not target.exists():
        target.write_bytes(gzip.decompress(path.read_bytes()))
    return str(target)


def _ordered(
    run: Mapping[str, Mapping[str, float]], folder: str, *, one_by_one: bool
) -> Iterator[str]:
    """The run in trec_eval's order, whole or a file a query."""
    lines: dict[str, list[str]] = {}
    for topic, docs in run.items():
        order = sorted(docs, key=lambda d: (docs[d], d), reverse=True)
        lines[topic] = [
            f"{topic} Q0 {d} {r} {len(order) - r} x\n" for r, d in enumerate(order, start=1)
        ]
    groups = [[t] for t in lines] if one_by_one else [list(lines)]
    for k, topics in enumerate(groups):
        target = Path(folder) / f"ordered{k}"
        target.write_text("".join(line for t in topics for line in lines[t]))
        yield str(target)
