"""All overlays of 100 systems on 1,000,000 topics: seconds, and memory beyond the scores.

Against plain NumPy that forms the differences of one system at a time.
"""

import subprocess
import sys

import numpy as np

import surefoot as sf
from benchmarks.harness import interleave, markdown_table, publish
from surefoot.data.scores import ScoreMatrix
from surefoot.overlays.compare import compare
from surefoot.overlays.z_risk import deviations

SYSTEMS, TOPICS = 100, 1_000_000
ALPHAS = (0.0, 1.0, 5.0, 10.0)
REPEATS = 3


def scores(systems: int = SYSTEMS, topics: int = TOPICS) -> np.ndarray:
    rng = np.random.default_rng(1)
    out = np.empty((systems, topics))
    for row in out:
        rng.random(out=row)
    return out


def ours(values: np.ndarray, threads: int = 0) -> dict[str, np.ndarray]:
    z = deviations(values, threads=threads)
    return compare(values, values[0], z, alphas=ALPHAS, threads=threads)


def whole_verb(matrix: ScoreMatrix) -> None:
    """What a user calls: verdict, notes and all."""
    sf.risk(matrix, champion="s0", alpha=ALPHAS)


def plain_numpy(values: np.ndarray) -> dict[str, list[float]]:
    """The same numbers, each as its definition says, a system at a time."""
    champion = values[0]
    topic_total, grand = values.sum(axis=0), values.sum()
    out: dict[str, list[float]] = {"u_risk": [], "se": [], "losses": [], "over": [], "z_risk": []}
    for row in values:
        delta = row - champion
        out["losses"].append(float((delta < 0).sum()))
        out["over"].append(float((-delta > 0.2 * champion).sum()))
        e = row.sum() * topic_total / grand
        z = (row - e) / np.sqrt(e)
        for alpha in ALPHAS:
            x = np.where(delta < 0, (1 + alpha) * delta, delta)
            out["u_risk"].append(float(x.mean()))
            out["se"].append(float(x.std(ddof=1) / np.sqrt(len(x))))
            out["z_risk"].append(float(z[z > 0].sum() + (1 + alpha) * z[z < 0].sum()))
    return out


def fresh_peak(code: str) -> float:
    """Peak memory of a fresh interpreter that runs `code`."""
    command = [sys.executable, "-c", code + _PEAK]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


# not ru_maxrss, which begins with the size of the process that started this one
_PEAK = """
status = open("/proc/self/status")
print(next(int(line.split()[1]) for line in status if "VmHWM" in line) / 1024)
"""


def main() -> None:
    values = scores()
    got, want = ours(values), plain_numpy(values)
    np.testing.assert_allclose(got["u_risk"].ravel(), want["u_risk"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(got["se_parametric"].ravel(), want["se"], rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(got["z_risk"].ravel(), want["z_risk"], rtol=1e-6, atol=1e-4)
    names = tuple(f"s{i}" for i in range(SYSTEMS))
    matrix = ScoreMatrix(names, tuple(map(str, range(TOPICS))), values)
    timings = interleave(
        {
            "overlays": lambda: ours(values),
            "overlays, one thread": lambda: ours(values, threads=1),
            "`sf.risk`, verdict and notes included": lambda: whole_verb(matrix),
            "plain NumPy, a system at a time": lambda: plain_numpy(values),
        },
        repeats=REPEATS,
    )

    base = fresh_peak("from benchmarks.bench_overlays import scores; v = scores()")
    with_ours = fresh_peak("from benchmarks.bench_overlays import *; v = scores(); ours(v)")
    first = timings["overlays"].wall
    first_cpu = timings["overlays"].cpu
    rows = [(name, t.wall, t.cpu, t.wall / first, t.cpu / first_cpu) for name, t in timings.items()]
    publish(
        "overlays",
        "# All overlays of 100 systems on 1,000,000 topics\n\n"
        "Four alphas, all systems as population; medians of three interleaved rounds.\n\n"
        + markdown_table(("", "wall s", "CPU s", "times (wall)", "(CPU)"), rows)
        + f"\n\nThe scores alone take {base:.0f} MB of memory, with all overlays computed "
        f"{with_ours:.0f} MB: {with_ours - base:.0f} MB more.",
    )


if __name__ == "__main__":
    main()
