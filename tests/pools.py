"""Small pools with known labels, for the tests of active evaluation."""

from dataclasses import dataclass

import numpy as np

from surefoot.data.pool import Pool
from surefoot.io.pool import build_pool


@dataclass(frozen=True)
class LabelledPool:
    pool: Pool
    columns: dict
    labels: dict  # topic -> doc -> grade
    grade: np.ndarray  # of each item


def labelled_pool(
    topics=30, *, rankings=2, docs=6, grades=3, seed=0, sharpness=1.0, skill=(1.0, 0.4, 0.7)
):
    """Rankings by noisy scores, labels drawn from the pool's own probabilities."""
    rng = np.random.default_rng(seed)
    names = ("topic", "ranking", "rank", "doc", "length")
    columns = {name: [] for name in (*names, *(f"p{g}" for g in range(grades)))}
    labels = {}
    for t in range(topics):
        n = int(rng.integers(2, docs + 1))
        p = rng.dirichlet(np.full(grades, 1 / sharpness), size=n)
        y = [int(rng.choice(grades, p=row)) for row in p]
        labels[f"q{t}"] = {f"q{t}d{i}": y[i] for i in range(n)}
        length = rng.integers(50, 2000, n)
        for r in range(rankings):
            score = skill[r] * np.array(y) + rng.normal(0, 0.7, n)
            for rank, i in enumerate(np.argsort(-score), start=1):
                row = (f"q{t}", "ABC"[r], rank, f"q{t}d{i}", int(length[i]), *p[i].tolist())
                for name, value in zip(columns, row, strict=True):
                    columns[name].append(value)
    pool = build_pool(columns, name="the pool")
    owner = [pool.topics[x] for x in pool.topic_of_item]
    grade = np.array([labels[t][d] for t, d in zip(owner, pool.docs, strict=True)])
    return LabelledPool(pool, columns, labels, grade)


def write_pool(columns, path):
    lines = [",".join(columns)]
    lines += [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path
