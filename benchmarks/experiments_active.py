"""Section 5 of Sawade et al. 2012 on fully labelled collections: `make experiments-active`.

Three steps: `prepare` fits models and writes what studies need to know of each query (needs the
data and LightGBM); `run` simulates studies, a line of JSON a case, and goes on where it was stopped
(NumPy and SciPy suffice); `report` writes docs/method/active_experiments.md and the answer at the
top of docs/method/active.md (needs Altair).
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from benchmarks.active.cases import Case, load, prepare
from benchmarks.active.studies import study

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "experiments-active"
ORDER = (
    *("compare", "estimate", "index update", "training set"),
    *("measure", "together", "apart", "given pair", "given"),
)


def _one(case: Case, repeats: int) -> tuple[str, list[dict[str, Any]]]:
    return case.name, study(case, repeats)


def run(cases: list[Case], out: Path, *, repeats: int, processes: int, minutes: float) -> None:
    """Studies of every case that `out` does not hold yet."""
    out.parent.mkdir(parents=True, exist_ok=True)
    done = {name for name, _ in finished(out, repeats)}
    todo = [c for c in cases if c.name not in done]
    # what matters most and takes longest first; every fold before the next
    todo.sort(key=lambda c: (ORDER.index(c.experiment), c.fold))
    start = time.monotonic()
    print(f"{len(done)} cases are done, {len(todo)} to do", file=sys.stderr)
    context = multiprocessing.get_context("spawn")
    with (
        out.open("a", encoding="utf-8") as file,
        ProcessPoolExecutor(processes, mp_context=context) as pool,
    ):
        waiting = [pool.submit(_one, case, repeats) for case in todo]
        for number, future in enumerate(as_completed(waiting), start=1):
            name, rows = future.result()
            file.write(json.dumps({"case": name, "repeats": repeats, "rows": rows}) + "\n")
            file.flush()
            passed = time.monotonic() - start
            if number % 10 == 0 or number == len(todo):
                print(f"{number}/{len(todo)} cases, {passed:.0f} s", file=sys.stderr, flush=True)
            if passed > 60 * minutes:
                pool.shutdown(cancel_futures=True)
                print("out of time; run again to go on", file=sys.stderr)
                return


def finished(out: Path, repeats: int | None = None) -> list[tuple[str, list[dict[str, Any]]]]:
    """Cases that a file holds; a line that a kill cut short is left out."""
    if not out.exists():
        return []
    found: dict[str, list[dict[str, Any]]] = {}
    for line in out.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if repeats is None or record["repeats"] == repeats:
            found[record["case"]] = record["rows"]
    return list(found.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["prepare", "run", "report", "all"])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--work", type=Path, default=WORK)
    parser.add_argument("--repetitions", type=int, default=None)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=1e9, help="Stop by then; run again later.")
    parser.add_argument("--quick", action="store_true", help="One fold, few repetitions.")
    given = parser.parse_args()
    work = given.work / "quick" if given.quick else given.work
    out = work / "studies.jsonl"
    repeats = given.repetitions or (200 if given.quick else 5000)
    if given.step in ("prepare", "all"):
        if not (given.data / "mq2007_agg").exists():
            sys.exit(f"{given.data}: has no folder mq2007_agg. Hint: --data")
        prepare(given.data, work, quick=given.quick)
    if given.step in ("run", "all"):
        cases = load(work)
        if not cases:
            sys.exit(f"{work}: holds no cases. Hint: the step prepare comes first")
        run(
            cases,
            out,
            repeats=repeats,
            processes=given.processes,
            minutes=given.minutes,
        )
    if given.step in ("report", "all"):
        from benchmarks.active.page import report

        report([row for _, rows in finished(out) for row in rows], quick=given.quick)


if __name__ == "__main__":
    main()
