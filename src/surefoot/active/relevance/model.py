"""From a name and a labelled seed set to a model of relevance for every block of a pool."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.active.relevance.forest import fit_forest
from surefoot.active.relevance.machine import cumulative_logits, fit_confusion
from surefoot.active.relevance.ordered_logit import fit_ordered_logit
from surefoot.data.pool import Pool
from surefoot.errors import InputError
from surefoot.io.labels import read_labels
from surefoot.io.pool import read_pool_blocks

FloatArray = npt.NDArray[np.float64]
Predict = Callable[[Pool], FloatArray]

KINDS = ("supplied", "uniform", "ordered-logit", "forest", "scores", "machine")
# no grade of a fitted model is taken for impossible
_DOUBT = 0.01


@dataclass(frozen=True, slots=True)
class RelevanceModel:
    """Replaces a block's probabilities by a model's."""

    name: str
    parts: tuple[Predict, ...]

    def __call__(self, pool: Pool) -> Pool:
        """The block under the model, of several the mixture (Sawade et al., Section 5.2)."""
        mixture = sum((part(pool) for part in self.parts), np.zeros(pool.probability.shape))
        mixture /= len(self.parts)
        return pool.with_probability((1 - _DOUBT) * mixture + _DOUBT / pool.grades)


def fit_relevance(
    pool: Any,
    name: str,
    *,
    seed_labels: Any = None,
    features: Sequence[str] = (),
    grades: int | None = None,
    seed: int = 0,
    threads: int = 0,
) -> RelevanceModel:
    """Fit the models that a name joins with "+".

    Parameters
    ----------
    pool : as for `plan`
    name : str
        ``supplied``: the pool's p*; ``uniform``; ``ordered-logit`` and ``forest``: fitted to
        `features`; ``scores``: ordered logit of the column `score` within its query; ``machine``:
        the column `machine` (a grade), or the columns `m0, m1, ...` (probabilities, up to a
        factor), calibrated.
    seed_labels : labels, optional
        Labelled documents of the pool to fit to.
    features : sequence of str
        Numeric columns of the pool.
    """
    kinds = [part.strip() for part in name.split("+")]
    unknown = [k for k in kinds if k not in KINDS]
    if unknown:
        raise InputError(f"model must be one of {', '.join(KINDS)}, got {unknown[0]!r}")
    parts: list[Predict] = []
    for kind in kinds:
        if kind == "supplied":
            parts.append(_supplied)
        elif kind == "uniform":
            parts.append(lambda block: np.full(block.probability.shape, 1 / block.grades))
        else:
            if seed_labels is None:
                raise InputError(f"the model {kind} is fitted to labels. Hint: --seed-labels FILE")
            parts.append(_fitted(kind, pool, seed_labels, tuple(features), grades, seed, threads))
    return RelevanceModel("+".join(kinds), tuple(parts))


def _supplied(pool: Pool) -> FloatArray:
    if not pool.supplied:
        raise InputError("the model supplied needs the probabilities p0, p1, ... in the pool")
    return pool.probability


def _fitted(
    kind: str,
    pool: Any,
    seed_labels: Any,
    features: tuple[str, ...],
    grades: int | None,
    seed: int,
    threads: int,
) -> Predict:
    known = {(e.topic, e.doc): e.grade for e in read_labels(seed_labels)}
    inputs, grade, n_grades = [], [], 0
    for block in read_pool_blocks(pool, grades=grades):
        n_grades = block.grades
        x = _inputs(kind, block, features)
        owner = block.topic_of_item
        for i, (topic, doc) in enumerate(zip(owner, block.docs, strict=True)):
            label = known.get((block.topics[topic], doc))
            if label is not None:
                if label >= n_grades:
                    raise InputError(
                        f"the seed label {label} of {_item(block, i)} is above the pool's largest "
                        f"grade, {n_grades - 1}"
                    )
                inputs.append(x[i])
                grade.append(label)
    if not grade:
        raise InputError("none of the seed labels is of a topic and document of the pool")
    x, y = np.array(inputs), np.array(grade, dtype=np.int64)
    if kind == "forest":
        forest = fit_forest(x, y, n_grades, seed=seed, threads=threads)
        return lambda block: forest.predict(_inputs(kind, block, features))
    if kind == "machine" and x.dtype.kind == "i":
        confusion = fit_confusion(x[:, 0], y, n_grades)
        return lambda block: confusion.predict(_inputs(kind, block, features)[:, 0])
    logit = fit_ordered_logit(x, y, n_grades)
    return lambda block: logit.predict(_inputs(kind, block, features))


def _inputs(kind: str, pool: Pool, features: tuple[str, ...]) -> Any:
    """What a model sees of each item."""
    if kind == "machine":
        if "machine" in pool.columns:
            return _machine_grades(pool)[:, None]
        return cumulative_logits(_machine_probabilities(pool))
    if kind == "scores":
        return _within_query(pool, _column(pool, "score"))[:, None]
    if not features:
        raise InputError(f"the model {kind} needs the names of its columns. Hint: --features A,B")
    return np.column_stack([_column(pool, name) for name in features])


def _item(pool: Pool, i: int) -> str:
    return f"topic {pool.topics[int(pool.topic_of_item[i])]!r}, doc {pool.docs[i]!r}"


def _column(pool: Pool, name: str) -> FloatArray:
    """A column that has a number for every item."""
    if name not in pool.columns:
        raise InputError(
            f"the pool has no numeric column {name!r} (its further columns: "
            f"{', '.join(pool.columns) or 'none'})"
        )
    column = pool.columns[name]
    wrong = ~np.isfinite(column)
    if wrong.any():
        raise InputError(f"the column {name} has no number for {_item(pool, int(wrong.argmax()))}")
    return column


def _machine_probabilities(pool: Pool) -> FloatArray:
    said = np.column_stack([_column(pool, f"m{g}") for g in range(pool.grades)])
    total = said.sum(axis=1)
    wrong = ~((said >= 0).all(axis=1) & (total > 0))
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(
            f"m0, m1, ... must be at least 0 and not all 0, got {said[i].tolist()} for "
            f"{_item(pool, i)}"
        )
    out: FloatArray = said / total[:, None]
    return out


def _machine_grades(pool: Pool) -> npt.NDArray[np.int64]:
    said = _column(pool, "machine")
    wrong = ~((said >= 0) & (said < pool.grades) & (said == np.floor(said)))
    if wrong.any():
        i = int(wrong.argmax())
        raise InputError(
            f"machine must be a grade from 0 to {pool.grades - 1}, got {said[i]:g} for "
            f"{_item(pool, i)}"
        )
    return said.astype(np.int64)


def _within_query(pool: Pool, score: FloatArray) -> FloatArray:
    """Scores standardised within each query: rankers' scores differ in scale between queries."""
    owner = pool.topic_of_item
    count = np.maximum(np.diff(pool.item_offset), 1)
    mean = np.bincount(owner, weights=score, minlength=len(pool.topics)) / count
    off = score - mean[owner]
    spread = np.sqrt(np.bincount(owner, weights=off**2, minlength=len(pool.topics)) / count)
    out: FloatArray = off / np.where(spread > 0, spread, 1.0)[owner]
    return out
