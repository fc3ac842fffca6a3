"""Max-T over all pairs of 129 systems on 50 topics, 100,000 permutations, against plain NumPy.

The matrix is TREC ad hoc 8 where it is beside the checkout, else random of the same shape: the time
does not depend on the scores. NumPy permutes the rows of the matrix with `Generator.permuted` and
is timed on fewer permutations, scaled up.
"""

from pathlib import Path

import numpy as np

from benchmarks.harness import interleave, markdown_table, publish
from surefoot.inference.max_t import all_pairs, many_to_one

PERMUTATIONS = 100_000
NUMPY_PERMUTATIONS = 2_000
REPEATS = 3


def scores() -> np.ndarray:
    for parent in Path(__file__).resolve().parents:
        path = parent / "shared" / "data" / "trec_score_matrices" / "adhoc8_ap.csv"
        if path.exists():
            return np.loadtxt(path, delimiter=",", skiprows=1).T
    return np.random.default_rng(0).random((129, 50))


def numpy_all_pairs(x: np.ndarray, permutations: int) -> np.ndarray:
    """Studentised ranges of the permuted means, as a careful NumPy user would write it."""
    rng = np.random.default_rng(0)
    by_topic = x.T - x.mean(axis=0)[:, None]
    n_topics, n_systems = by_topic.shape
    within = (by_topic**2).sum()
    df = (n_topics - 1) * (n_systems - 1)
    out = np.empty(permutations)
    for b in range(permutations):
        means = rng.permuted(by_topic, axis=1).mean(axis=0)
        residual = (within - n_topics * (means**2).sum()) / df
        out[b] = np.ptp(means) / np.sqrt(residual / n_topics)
    return out


def main() -> None:
    x = scores()
    d = x[1:] - x[0]
    all_pairs(x, n_permutations=100)
    times = interleave(
        {
            "pairs": lambda: all_pairs(x, n_permutations=PERMUTATIONS),
            "pairs1": lambda: all_pairs(x, n_permutations=PERMUTATIONS, threads=1),
            "one": lambda: many_to_one(d, n_permutations=PERMUTATIONS),
            "numpy": lambda: numpy_all_pairs(x, NUMPY_PERMUTATIONS),
        },
        repeats=REPEATS,
    )
    factor = PERMUTATIONS / NUMPY_PERMUTATIONS
    numpy_wall, numpy_cpu = times["numpy"].wall * factor, times["numpy"].cpu * factor
    pairs = x.shape[0] * (x.shape[0] - 1) // 2
    names = {
        "pairs": f"Surefoot, all {pairs:,} pairs, all cores",
        "pairs1": f"Surefoot, all {pairs:,} pairs, one thread",
        "one": f"Surefoot, {len(d)} challengers against one champion",
    }
    rows = [
        (
            label,
            times[key].wall,
            times[key].cpu,
            numpy_wall / times[key].wall if key != "one" else "",
            numpy_cpu / times[key].cpu if key != "one" else "",
        )
        for key, label in names.items()
    ]
    rows.append(
        (
            f"NumPy, all pairs (from {NUMPY_PERMUTATIONS:,} permutations)",
            numpy_wall,
            numpy_cpu,
            1.0,
            1.0,
        )
    )
    publish(
        "permutation",
        f"# Max-T randomisation, {x.shape[0]} systems x {x.shape[1]} topics, "
        f"{PERMUTATIONS:,} permutations\n\nInterleaved, medians of {REPEATS} rounds.\n\n"
        + markdown_table(("", "wall s", "CPU s", "times faster (wall)", "(CPU)"), rows),
    )


if __name__ == "__main__":
    main()
