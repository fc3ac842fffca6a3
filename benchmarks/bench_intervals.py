"""All five bootstrap intervals of many challengers, against scipy's vectorised BCa alone.

48 challengers, 100,000 resamples, 50 and 249 topics. Both sides run in this process, one after the
other in every round; scipy gets the batch size that suits it best and the same array. Peak memory
is measured in a process of its own.
"""

import subprocess
import sys

import numpy as np
from scipy import stats

from benchmarks.harness import interleave, markdown_table, publish
from surefoot.inference.intervals import METHODS, bootstrap_intervals

CHALLENGERS, RESAMPLES = 48, 100_000
TOPICS = (50, 249)
BATCHES = (1000, 5000)
REPEATS = 3

MEMORY = """
import numpy as np
from surefoot.inference.intervals import METHODS, bootstrap_intervals
x = np.random.default_rng(0).gamma(1, size=({challengers}, {topics})) - 1
bootstrap_intervals(x, methods=METHODS, n_resamples={resamples})
# not ru_maxrss, which begins with the size of the process that started this one
print(next(int(line.split()[1]) for line in open("/proc/self/status") if "VmHWM" in line) / 1024)
"""


def differences(n_topics: int) -> np.ndarray:
    return np.random.default_rng(n_topics).gamma(1, size=(CHALLENGERS, n_topics)) - 1


def ours(x: np.ndarray, threads: int) -> None:
    bootstrap_intervals(x, methods=METHODS, n_resamples=RESAMPLES, threads=threads)


def scipy_bca(x: np.ndarray, batch: int) -> None:
    stats.bootstrap(
        (x,), np.mean, axis=1, n_resamples=RESAMPLES, method="BCa", batch=batch,
        rng=np.random.default_rng(0),
    )  # fmt: skip


def peak_mb(topics: int) -> float:
    code = MEMORY.format(challengers=CHALLENGERS, topics=topics, resamples=RESAMPLES)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main() -> None:
    rows = []
    for n in TOPICS:
        x = differences(n)
        ours(x, 0)  # first call: imports
        times = interleave(
            {
                "all cores": lambda x=x: ours(x, 0),
                "one thread": lambda x=x: ours(x, 1),
                **{f"scipy {b}": lambda x=x, b=b: scipy_bca(x, b) for b in BATCHES},
            },
            repeats=REPEATS,
        )
        best = min((times[f"scipy {b}"] for b in BATCHES), key=lambda t: t.wall)
        for name in ("all cores", "one thread"):
            rows.append(
                (
                    n,
                    f"Surefoot, five intervals, {name}",
                    times[name].wall,
                    times[name].cpu,
                    peak_mb(n) if name == "all cores" else "",
                    best.wall / times[name].wall,
                    best.cpu / times[name].cpu,
                )
            )
        rows.append((n, "scipy.stats.bootstrap, BCa alone", best.wall, best.cpu, "", 1.0, 1.0))
    header = ("topics", "", "wall s", "CPU s", "peak MB", "times faster (wall)", "(CPU)")
    publish(
        "intervals",
        f"# Bootstrap intervals, {CHALLENGERS} challengers, {RESAMPLES:,} resamples\n\n"
        f"Interleaved, medians of {REPEATS} rounds; scipy at the better of batches of "
        f"{' and '.join(map(str, BATCHES))} resamples.\n\n" + markdown_table(header, rows),
    )


if __name__ == "__main__":
    main()
