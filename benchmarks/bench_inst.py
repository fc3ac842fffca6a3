"""INST against its reference: the kernel alone, and the program from files to figures.

50 topics x 1,000 documents. INST_EVAL=/path/to/inst_eval.py adds the reference program; without it
the peer is Algorithm 1 of the paper in plain Python, cut at the paper's limit(T).
"""

import os
import sys
from pathlib import Path

import numpy as np

from benchmarks.harness import (
    DATA,
    Timing,
    interleave,
    interleave_commands,
    markdown_table,
    publish,
)
from surefoot.io.join import judge_run
from surefoot.kernels.reference.measures import inst as algorithm_1
from surefoot.metrics.inst import Inst
from surefoot.metrics.measure import Conditions

TOPICS, SHOWN, JUDGED = 50, 1000, 400


def collection(folder: Path = DATA / "inst") -> tuple[Path, Path]:
    """Judgments with grades 0 to 2 and one run, ordered by score in the file."""
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    if (folder / "complete").exists():
        return qrels, run
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(5)
    with qrels.open("w") as judgments, run.open("w") as ranking:
        for topic in range(1, TOPICS + 1):
            pool = rng.permutation(3000)
            grades = rng.choice(3, JUDGED, p=(0.7, 0.2, 0.1))
            judgments.writelines(
                f"{topic} 0 D{d} {g}\n" for d, g in zip(pool[:JUDGED], grades, strict=True)
            )
            ranking.writelines(
                f"{topic} Q0 D{d} {r} {SHOWN - r} x\n"
                for r, d in enumerate(rng.permutation(pool[:2000])[:SHOWN], start=1)
            )
    (folder / "complete").touch()
    return qrels, run


def peer_scores(gains: list[list[float]], T: float) -> list[tuple[float, float]]:
    """Both passes of Algorithm 1 on every topic, cut at limit(T)."""
    depth = 20_000 if T <= 5 else 200_000
    out = []
    for shown in gains:
        low = [0.0 if g < 0 else g for g in shown]
        high = [1.0 if g < 0 else g for g in shown]
        out.append((algorithm_1(low, T, 0.0, depth)[0], algorithm_1(high, T, 1.0, depth)[0]))
    return out


def main() -> None:
    qrels, run = collection()
    judged = judge_run(qrels, run)
    unit = np.where(np.isnan(judged.grade), -1.0, judged.grade / judged.max_grade)
    gains = [
        unit[a:b].tolist() for a, b in zip(judged.offsets[:-1], judged.offsets[1:], strict=True)
    ]
    rows = []
    for T in (3.0, 10.0):
        measure = Inst(T=T)
        ours = measure.score(judged, Conditions())
        theirs = np.array(peer_scores(gains[:5], T))
        off = max(
            np.abs(theirs[:, 0] - ours.lower[:5]).max(), np.abs(theirs[:, 1] - ours.upper[:5]).max()
        )
        timing = interleave(
            {
                "ours": lambda m=measure: [m.score(judged, Conditions()) for _ in range(20)],
                "peer": lambda t=T: peer_scores(gains, t),
            },
            repeats=3 if T == 3 else 1,
        )
        mine, peer = timing["ours"].cpu / 20, timing["peer"].cpu
        rows.append(
            [
                f"T={T:g}",
                f"{mine * 1e3:.2f} ms",
                f"{peer:.2f} s",
                f"{peer / mine:,.0f}x",
                f"{off:.0e}",
            ]
        )
    lines = [
        "# INST",
        "",
        f"{TOPICS} topics x {SHOWN:,} documents, score and residual, CPU time, one thread.",
        "",
        "## The computation alone: ours against Algorithm 1 in Python",
        "",
        markdown_table(["", "ours", "Algorithm 1", "ratio", "largest difference"], rows),
        "",
        "The difference is the tail that Algorithm 1 leaves out.",
    ]
    program = os.environ.get("INST_EVAL")
    if program:
        lines += ["", *_programs(program, qrels, run)]
    publish("inst", "\n".join(lines))


def _programs(program: str, qrels: Path, run: Path) -> list[str]:
    """From files to printed figures, start-up included."""
    rows = []
    for T in (3, 10):
        files = [str(qrels), str(run), "-T", str(T), "-q"]
        contenders = {
            "ours": [str(Path(sys.executable).parent / "inst_eval"), *files],
            "peer": [sys.executable, program, *files],
        }
        timing: dict[str, Timing] = interleave_commands(contenders, repeats=5 if T == 3 else 1)
        mine, peer = timing["ours"], timing["peer"]
        rows.append(
            [f"T={T}", f"{mine.cpu:.2f} s", f"{peer.cpu:.2f} s", f"{peer.cpu / mine.cpu:.1f}x"]
        )
    table = markdown_table(["", "ours", "inst_eval.py", "ratio"], rows)
    return ["## The programs, from files to figures, start-up included (CPU time)", "", table]


if __name__ == "__main__":
    main()
