"""Active evaluation: q* against vectorised NumPy, simulated studies, a million queries."""

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import DATA, Timing, interleave, markdown_table, publish
from surefoot.kernels.active import err_covariance, err_moments

if TYPE_CHECKING:
    from surefoot.active.simulation import Setting

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
QUERIES, DOCS, GRADES = 31_000, 119, 5
MILLION = 1_000_000


def mslr_size(queries: int = QUERIES) -> dict[str, np.ndarray]:
    """Probabilities of 119 documents a query and two rankings of them."""
    rng = np.random.default_rng(1)
    p = rng.random((queries * DOCS, GRADES))
    p /= p.sum(axis=1, keepdims=True)
    offset = np.arange(0, queries * DOCS + 1, DOCS, dtype=np.int64)
    first = np.argsort(rng.random((queries, DOCS)), axis=1)
    # the second ranking moves documents by a few places
    second = np.argsort(np.argsort(first, axis=1) + rng.normal(0, 8, (queries, DOCS)), axis=1)
    gain = (2.0 ** np.arange(GRADES) - 1) / 2.0 ** (GRADES - 1)
    base = offset[:-1, None]
    return {
        "p": p,
        "gain": gain,
        "offset": offset,
        "a": (first + base).astype(np.int32).ravel(),
        "b": (second + base).astype(np.int32).ravel(),
    }


# -- vectorised NumPy: all queries at once, a loop over ranks ------------------------------------


def numpy_moments(d: dict[str, np.ndarray], which: str) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of ERR by the same recurrence."""
    m1, m2 = d["p"] @ d["gain"], d["p"] @ d["gain"] ** 2
    order = d[which].reshape(-1, DOCS)
    mean, variance = np.zeros(len(order)), np.zeros(len(order))
    for i in range(DOCS - 1, -1, -1):
        first, second = m1[order[:, i]], m2[order[:, i]]
        spread = second - first**2
        gap = 1 / (i + 1) - mean
        variance = spread * gap**2 + ((1 - first) ** 2 + spread) * variance
        mean = mean + first * gap
    return mean, variance


def numpy_covariance(d: dict[str, np.ndarray], block: int = 500) -> np.ndarray:
    """The two-index table of a block of queries at once."""
    m1, m2 = d["p"] @ d["gain"], d["p"] @ d["gain"] ** 2
    a, b = d["a"].reshape(-1, DOCS), d["b"].reshape(-1, DOCS)
    rank = np.arange(1, DOCS + 1)
    weight = np.where(rank < DOCS, 1 / (rank * (rank + 1)), 1 / DOCS)
    out = np.empty(len(a))
    for begin in range(0, len(a), block):
        rows = slice(begin, begin + block)
        items, others = a[rows], b[rows]
        base = items.min(axis=1, keepdims=True)
        place = np.argsort(others - base, axis=1)
        table = np.cumprod(1 - m1[others], axis=1) * weight
        alone = table.sum(axis=1)
        p, total = np.ones(len(items)), np.zeros(len(items))
        for i in range(DOCS):
            item = items[:, i]
            go = 1 - m1[item]
            again = (1 - 2 * m1[item] + m2[item]) / go
            at = np.take_along_axis(place, item[:, None] - base, axis=1)
            table *= np.where(np.arange(DOCS) < at, go[:, None], again[:, None])
            p = p * go
            total += weight[i] * (table.sum(axis=1) - p * alone)
        out[rows] = total
    return out


def ours_moments(d: dict[str, np.ndarray], which: str, threads: int = 0):
    return err_moments(d["p"], d["gain"], d["offset"], d[which], threads=threads)


def ours_covariance(d: dict[str, np.ndarray], threads: int = 0) -> np.ndarray:
    offset = d["offset"]
    return err_covariance(
        d["p"], d["gain"], offset, offset, d["a"], offset, d["b"], threads=threads
    )


def dynamic_programs() -> str:
    d = mslr_size()
    np.testing.assert_allclose(ours_moments(d, "a"), numpy_moments(d, "a"), rtol=1e-9)
    small = mslr_size(300)
    np.testing.assert_allclose(
        ours_covariance(small), numpy_covariance(small), rtol=1e-7, atol=1e-12
    )
    one = interleave(
        {
            "surefoot": lambda: ours_moments(d, "a"),
            "surefoot, one thread": lambda: ours_moments(d, "a", 1),
            "vectorised NumPy": lambda: numpy_moments(d, "a"),
        },
        repeats=7,
    )
    two = interleave(
        {
            "surefoot": lambda: ours_covariance(d),
            "surefoot, one thread": lambda: ours_covariance(d, 1),
            "vectorised NumPy": lambda: numpy_covariance(d),
        },
        repeats=3,
    )
    return (
        f"## q* of ERR: {QUERIES:,} queries x {DOCS} documents x {GRADES} grades\n\n"
        "One ranking (moments of Eq. 11):\n\n"
        + _times(one)
        + f"\n\nTwo rankings of {DOCS} documents (the covariance of Eq. 12, a two-index table of "
        f"{DOCS} x {DOCS} a query):\n\n" + _times(two)
    )


def _times(timings: dict[str, Timing]) -> str:
    first = timings["surefoot"]
    rows = [
        (name, t.wall, t.cpu, t.wall / first.wall, t.cpu / first.cpu) for name, t in timings.items()
    ]
    return markdown_table(("", "seconds", "CPU seconds", "times", "times in CPU"), rows)


# -- simulated studies ---------------------------------------------------------------------------


def mq2007_setting() -> tuple[str, "Setting", np.ndarray]:
    """Two of MQ2007-agg's 21 rankings by ERR where the collection is there, else its size."""
    from surefoot.active.sampling import sampling_distribution
    from surefoot.active.simulation import Setting

    if (SHARED / "mq2007_agg").exists():
        from benchmarks.active.cases import case, given
        from benchmarks.active.labelled import mq2007

        data = mq2007(SHARED)
        flat = np.full((len(data.grade), data.grades), 1 / data.grades)
        where = ("MQ2007-agg", "given pair", "1 and 2", "ERR", -1)
        found = case(data, where, [given(data.rank[:, 0]), given(data.rank[:, 1])], flat)
        name, value, cost, around = "MQ2007-agg", found.value, found.cost, found.around
        expected = found.expected
    else:
        rng = np.random.default_rng(2)
        value = np.clip(rng.beta(0.5, 2, 1692) + rng.normal(0, 0.1, 1692), 0, 1)
        cost = rng.gamma(4, 0.25, 1692)
        name, expected = "made-up values of MQ2007-agg's size", value
        around = (value - value.mean()) ** 2 + 0.01
    p = np.full(len(value), 1 / len(value))
    q = sampling_distribution("active", around, cost, p)
    return name, Setting(value, expected, p, cost), q


def simulated_studies(repeats: int = 5000) -> str:
    """Studies a minute at a budget of 100 mean queries."""
    from surefoot.active.simulation import simulated_estimates

    name, setting, q = mq2007_setting()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in simulated_estimates(setting, q, "eq6", np.array([100.0]), repeats=repeats):
        pass
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return (
        "## Simulated studies\n\n"
        f"{repeats:,} studies of {len(q):,} queries ({name}, a comparison by ERR) at a budget of "
        f"100 mean queries took {wall:.2f} s ({cpu:.2f} CPU seconds): {60 * repeats / wall:,.0f} "
        "studies a minute."
    )


# -- a study of a million queries ----------------------------------------------------------------

_PLAN = """
import resource, sys, time
import surefoot as sf
start, cpu = time.perf_counter(), time.process_time()
sf.active.plan(sys.argv[1], sys.argv[2], measure="ERR", budget=1000, cost="log-length")
rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(time.perf_counter() - start, time.process_time() - cpu, rss)
"""

_NEXT = """
import sys, time
from surefoot.active.collect import next_tasks
from surefoot.active.store.study import Study
study = Study(sys.argv[1])
walls = []
for _ in range(21):
    start = time.perf_counter()
    next_tasks(study)
    walls.append(time.perf_counter() - start)
print(sorted(walls)[10], max(walls))
"""


def write_pool(queries: int) -> Path:
    """One ranking of three documents a query."""
    path = DATA / f"active-pool-{queries}.csv"
    if path.exists():
        return path
    path.parent.mkdir(exist_ok=True)
    rng = np.random.default_rng(3)
    partial = path.with_suffix(".part")
    with partial.open("w") as file:
        file.write("topic,ranking,rank,doc,length,p0,p1,p2\n")
        for begin in range(0, queries, 10_000):
            length = rng.integers(50, 2000, (10_000, 3)).tolist()
            p = rng.dirichlet((2, 1, 1), (10_000, 3)).round(4).tolist()
            file.writelines(
                f"q{begin + i},A,{r + 1},d{begin + i}-{r},{length[i][r]},"
                f"{1 - p[i][r][1] - p[i][r][2]:.4f},{p[i][r][1]},{p[i][r][2]}\n"
                for i in range(min(10_000, queries - begin))
                for r in range(3)
            )
    partial.rename(path)
    return path


def large_study() -> str:
    rows = []
    for queries in (MILLION // 10, MILLION):
        pool, study = write_pool(queries), DATA / f"active-{queries}.db"
        study.unlink(missing_ok=True)
        wall, cpu, rss = _fresh(_PLAN, str(pool), str(study))
        usual, slowest = _fresh(_NEXT, str(study))
        command = [str(Path(sys.executable).parent / "surefoot"), "active", "next", str(study)]
        walls, cpus = [], []
        for _ in range(7):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            walls.append(time.perf_counter() - start)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        size = study.stat().st_size / 1e6
        study.unlink()
        rows.append(
            (
                f"{queries:,}",
                wall,
                cpu,
                f"{rss:.0f}",
                f"{size:.0f}",
                f"{1000 * usual:.1f} (slowest {1000 * slowest:.1f})",
                f"{1000 * float(np.median(walls)):.0f} ({1000 * float(np.median(cpus)):.0f} CPU)",
            )
        )
    header = (
        "queries",
        "plan, s",
        "CPU s",
        "peak MB",
        "study MB",
        "next in Python, ms",
        "next as a command, ms",
    )
    return (
        "## A large study\n\nPlanned from a CSV file of three documents a query; `next` from an "
        "open study, and as a command, whose time is the start of Python and SQLAlchemy.\n\n"
        + markdown_table(header, rows)
    )


def _fresh(code: str, *arguments: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def main() -> None:
    parts = ["# Active evaluation", dynamic_programs(), simulated_studies(), large_study()]
    publish("active", "\n\n".join(parts))


if __name__ == "__main__":
    main()
