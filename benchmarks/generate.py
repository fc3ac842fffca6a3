"""Seeded TREC files of two sizes for the benchmarks: like a TREC track, and like MS MARCO.

``python -m benchmarks.generate`` writes them to benchmarks/.data (496 MB), once. No two scores of a
topic are equal, even as 32-bit floats, so that every program agrees on the order of the documents.
"""

from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parent / ".data"
VERSION = "3"  # of what is written; older files are made anew
GAP = 1e-4  # between neighbouring scores, well above the spacing of 32-bit floats below 100


def trec_size(folder: Path = DATA / "trec") -> tuple[Path, list[Path]]:
    """20 runs x 250 topics x 1,000 documents, 374,000 judgments (1,496 a topic)."""
    return _collection(folder, n_topics=250, n_runs=20, judged=1496, pool=4000, seed=1)


def ms_size(folder: Path = DATA / "ms") -> tuple[Path, list[Path]]:
    """1 run x 7,000 topics x 1,000 documents, 7,000 judgments (1 a topic)."""
    return _collection(folder, n_topics=7000, n_runs=1, judged=1, pool=8_800_000, seed=2)


def _collection(
    folder: Path, *, n_topics: int, n_runs: int, judged: int, pool: int, seed: int
) -> tuple[Path, list[Path]]:
    """Qrels and runs; kept if they are there already."""
    qrels = folder / "qrels.txt"
    runs = [folder / f"run{i:02d}.run" for i in range(n_runs)]
    complete = folder / "complete"
    if complete.exists() and complete.read_text() == VERSION:
        return qrels, runs
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    trec = pool < 100_000
    topics = [str(301 + t) if trec else str(1_048_585 + 13 * t) for t in range(n_topics)]
    first = np.zeros(n_topics, dtype=np.int64)
    with qrels.open("w") as file:
        for t, topic in enumerate(topics):
            chosen = rng.permutation(pool)[:judged] if trec else rng.integers(0, pool, judged)
            grades = (
                rng.choice(4, judged, p=(0.8, 0.12, 0.06, 0.02)) if trec else np.ones(judged, int)
            )
            first[t] = chosen[0]
            file.writelines(
                f"{topic} 0 {_document(t, d, trec)} {g}\n"
                for d, g in zip(chosen.tolist(), grades.tolist(), strict=True)
            )
    for i, path in enumerate(runs):
        with path.open("w") as file:
            for t, topic in enumerate(topics):
                if trec:
                    retrieved = rng.permutation(pool)[:1000]
                else:  # four topics of five find their judged document, at any rank
                    begin = rng.integers(0, pool - 1000)
                    if rng.random() < 0.8:
                        begin = max(int(first[t]) - rng.integers(1000), 0)
                    retrieved = begin + rng.permutation(1000)
                scores = np.sort(rng.gamma(2.0, 3.0, 1000))[::-1] + GAP * np.arange(1000, 0, -1)
                file.writelines(
                    f"{topic} Q0 {_document(t, d, trec)} {rank} {score:.6f} system{i:02d}\n"
                    for rank, (d, score) in enumerate(
                        zip(retrieved.tolist(), scores.tolist(), strict=True), start=1
                    )
                )
    complete.write_text(VERSION)
    return qrels, runs


def _document(topic: int, number: int, trec: bool) -> str:
    """A document id: FBIS3-like for TREC, a bare number for MS MARCO."""
    return f"FBIS{topic % 7}-{topic * 37 % 1000 + number:06d}" if trec else str(number)


if __name__ == "__main__":
    for make in (trec_size, ms_size):
        qrels, runs = make()
        size = sum(path.stat().st_size for path in runs)
        print(f"{qrels.parent}: {len(runs)} runs, {size / 1e6:.0f} MB")
