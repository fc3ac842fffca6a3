"""Do the tests and intervals keep what they promise on risk-adjusted differences?

Systems of real score matrices serve as populations: margins smoothed, ranks of observed topics kept
(`surefoot.inference.population`). Their true risk-adjusted mean is known from many draws, so
coverage, type I error and power can be counted. Finished pieces are kept under build/calibration,
so that an interrupted run of the same study goes on where it stopped; writes
docs/method/calibration.md.

Run: python -m benchmarks.calibrate_inference [--quick] [--sets N] [--processes N] [--data DIR]
"""

import argparse
import hashlib
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.calibration import families, pairs
from benchmarks.calibration.page import page, verdict
from benchmarks.calibration.populations import shared_data
from surefoot.io.atomic import atomic_path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "method" / "calibration.md"


def piece(kind: str, unit: tuple[int, ...], data: Path, sets: int, resamples: int, to: Path) -> str:
    """One unit of the study, kept in a file of its own; its CPU seconds are part of it."""
    start = time.process_time()
    module = {"pairs": pairs, "families": families}[kind]
    found = module.run(unit, data, sets, resamples)
    with atomic_path(to) as path, path.open("wb") as file:
        np.savez_compressed(file, seconds=time.process_time() - start, **found)
    return f"{kind} {unit}"


def edition() -> str:
    """What the study asks, as a short digest: pieces of another edition do not mix with it."""
    sources = sorted((ROOT / "benchmarks" / "calibration").glob("*.py"))
    asked = (path.read_bytes() for path in sources if path.name != "page.py")
    return hashlib.sha256(b"".join(asked)).hexdigest()[:8]


def study(
    data: Path, work: Path, sets: int, resamples: int, processes: int
) -> tuple[dict, dict, float]:
    """Results by unit of both kinds, and the CPU seconds that they took."""
    family_sets = max(sets // 5, 20)
    jobs = [("pairs", u, sets) for u in pairs.units()]
    jobs += [("families", u, family_sets) for u in families.units()]
    work.mkdir(parents=True, exist_ok=True)
    files = {(kind, u): work / f"{kind}-{'-'.join(map(str, u))}.npz" for kind, u, _ in jobs}
    todo = [(kind, u, n) for kind, u, n in jobs if not files[kind, u].exists()]
    start = time.monotonic()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        running = [
            pool.submit(piece, kind, u, data, n, resamples, files[kind, u]) for kind, u, n in todo
        ]
        for done, future in enumerate(as_completed(running), 1):
            future.result()
            print(f"{done}/{len(todo)} pieces, {time.monotonic() - start:.0f} s", flush=True)
    found: dict[str, dict] = {"pairs": {}, "families": {}}
    seconds = 0.0
    for (kind, u), path in files.items():
        with np.load(path, allow_pickle=False) as file:
            found[kind][u] = {key: file[key] for key in file.files if key != "seconds"}
            seconds += float(file["seconds"])
    return found["pairs"], found["families"], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sets; prints only")
    parser.add_argument("--sets", type=int, default=2000, help="sets of topics in a piece")
    parser.add_argument("--resamples", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--data", type=Path, help="the real collections; default ../shared/data")
    given = parser.parse_args()
    sets, resamples = (given.sets // 10, given.resamples // 2) if given.quick else (
        given.sets,
        given.resamples,
    )  # fmt: skip
    data = given.data or shared_data(ROOT)
    work = ROOT / "build" / "calibration" / f"{sets}x{resamples}-{edition()}"
    single, joint, seconds = study(data, work, sets, resamples, given.processes)
    text = page(single, joint, sets, resamples)
    if given.quick:
        print(text)
    else:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
        print(verdict(single))
    print(f"{seconds:.0f} CPU seconds in all")


if __name__ == "__main__":
    main()
