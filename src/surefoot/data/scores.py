"""Per-topic scores of several systems, aligned by topic id."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from surefoot.errors import AlignmentError, InputError

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMatrix:
    """Systems x topics scores of one measure, with optional bounds.

    Alignment is by topic id: every row has the same topics in the same order, and a score that does
    not exist is NaN, never zero.

    Parameters
    ----------
    systems : tuple of str
        Row names, unique.
    topics : tuple of str
        Column names, unique.
    values : (n_systems, n_topics) float array
        Scores; NaN marks a missing cell. Infinite values are refused.
    measure : str
        Name of the measure, empty if unknown.
    lower, upper : (n_systems, n_topics) float arrays, optional
        Bounds of each score over the unjudged documents; given together or not at all.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    values: FloatArray = field(repr=False)
    measure: str = ""
    lower: FloatArray | None = field(default=None, repr=False)
    upper: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        shape = (len(self.systems), len(self.topics))
        for kind, names in (("system", self.systems), ("topic", self.topics)):
            if len(set(names)) != len(names):
                seen: set[str] = set()
                twice = next(n for n in names if n in seen or seen.add(n))  # type: ignore[func-returns-value]
                raise InputError(f"{kind} {twice!r} occurs more than once in the score table")
        if (self.lower is None) != (self.upper is None):
            raise InputError("lower and upper bounds must be given together")
        for name in ("values", "lower", "upper"):
            array = getattr(self, name)
            if array is None:
                continue
            array = np.array(array, dtype=np.float64, order="C")
            if array.shape != shape:
                raise InputError(
                    f"{name} must have shape {shape} (systems, topics), got {array.shape}"
                )
            if np.isinf(array).any():
                i, j = np.argwhere(np.isinf(array))[0]
                raise InputError(
                    f"{name} of system {self.systems[i]!r} on topic {self.topics[j]!r} is infinite"
                )
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.lower is not None and self.upper is not None:
            wrong = (self.lower > self.values + 1e-9) | (self.upper < self.values - 1e-9)
            if wrong.any():
                i, j = np.argwhere(wrong)[0]
                raise InputError(
                    f"the bounds of system {self.systems[i]!r} on topic {self.topics[j]!r} do not "
                    f"enclose its score: {self.lower[i, j]} <= {self.values[i, j]} <= "
                    f"{self.upper[i, j]} is false"
                )

    def __repr__(self) -> str:
        of = f" of {self.measure}" if self.measure else ""
        bounds = ", with bounds" if self.has_bounds else ""
        gaps = int(self.missing.sum())
        missing = f", {gaps} missing" if gaps else ""
        return (
            f"<ScoreMatrix{of}: {len(self.systems)} systems x {len(self.topics)} topics"
            f"{missing}{bounds}>"
        )

    # -- construction ----------------------------------------------------------------------------

    @classmethod
    def from_long(
        cls,
        system: Sequence[str],
        topic: Sequence[str],
        score: npt.ArrayLike,
        *,
        measure: str = "",
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
    ) -> "ScoreMatrix":
        """Build from one (system, topic, score) triple a row; names keep their first-seen order."""
        systems, i = _factorize(system)
        topics, j = _factorize(topic)
        cell = i * len(topics) + j
        order = np.argsort(cell, kind="stable")
        repeat = np.flatnonzero(np.diff(cell[order]) == 0)
        if repeat.size:
            first = int(order[repeat[0]])
            raise InputError(
                f"system {system[first]!r} has more than one score on topic {topic[first]!r}. "
                "Hint: if the table holds several measures, choose one with -m"
            )

        def fill(column: npt.ArrayLike) -> FloatArray:
            out = np.full(len(systems) * len(topics), np.nan)
            out[cell] = np.asarray(column, dtype=np.float64)
            return out.reshape(len(systems), len(topics))

        return cls(
            systems,
            topics,
            fill(score),
            measure=measure,
            lower=None if lower is None else fill(lower),
            upper=None if upper is None else fill(upper),
        )

    @classmethod
    def from_dict(
        cls, scores: Mapping[str, Mapping[str, float]], *, measure: str = ""
    ) -> "ScoreMatrix":
        """Build from ``{system: {topic: score}}``."""
        rows = [(s, t, v) for s, by_topic in scores.items() for t, v in by_topic.items()]
        return cls.from_long(
            [str(r[0]) for r in rows],
            [str(r[1]) for r in rows],
            [float(r[2]) for r in rows],
            measure=measure,
        )

    # -- views -----------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """(number of systems, number of topics)."""
        return len(self.systems), len(self.topics)

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """True where a system has no score on a topic."""
        mask: npt.NDArray[np.bool_] = np.isnan(self.values)
        return mask

    @property
    def has_bounds(self) -> bool:
        """Whether unjudged documents left residuals."""
        return self.lower is not None

    def index(self, system: str) -> int:
        """Row of a system, or an error that lists near misses."""
        try:
            return self.systems.index(system)
        except ValueError:
            raise AlignmentError(unknown_name("system", system, self.systems)) from None

    def row(self, system: str) -> FloatArray:
        """Scores of one system, one a topic."""
        scores: FloatArray = self.values[self.index(system)]
        return scores

    def select(
        self, *, systems: Iterable[str] | None = None, topics: Iterable[str] | None = None
    ) -> "ScoreMatrix":
        """A matrix of the named systems and topics, in the order given."""
        rows = np.arange(len(self.systems))
        columns = np.arange(len(self.topics))
        if systems is not None:
            rows = np.array([self.index(s) for s in systems], dtype=np.intp)
        if topics is not None:
            position = {t: j for j, t in enumerate(self.topics)}
            topics = list(topics)
            for t in topics:
                if t not in position:
                    raise AlignmentError(unknown_name("topic", t, self.topics))
            columns = np.array([position[t] for t in topics], dtype=np.intp)
        grid = np.ix_(rows, columns)
        return ScoreMatrix(
            tuple(self.systems[i] for i in rows),
            tuple(self.topics[j] for j in columns),
            self.values[grid],
            measure=self.measure,
            lower=None if self.lower is None else self.lower[grid],
            upper=None if self.upper is None else self.upper[grid],
        )

    def means(self) -> FloatArray:
        """Mean over the topics that each system has; NaN for a system without any."""
        present = ~self.missing
        count = present.sum(axis=1)
        total = np.where(present, self.values, 0.0).sum(axis=1)
        out = np.full(len(self.systems), np.nan)
        np.divide(total, count, out=out, where=count > 0)
        return out

    def long(self) -> Iterator[tuple[str, str, float]]:
        """(system, topic, score) of every cell that is not missing."""
        for i, system in enumerate(self.systems):
            for j, topic in enumerate(self.topics):
                value = self.values[i, j]
                if not np.isnan(value):
                    yield system, topic, float(value)


def unknown_name(kind: str, name: str, known: Sequence[str]) -> str:
    """One line for a name that does not exist, with the nearest names that do."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "known are " + _some(known)
    return f"there is no {kind} {name!r} among the {len(known)} of the table. Hint: {hint}"


def _some(names: Sequence[str], limit: int = 6) -> str:
    shown = ", ".join(map(repr, names[:limit]))
    return shown if len(names) <= limit else f"{shown}, ..."


def _factorize(names: Sequence[str]) -> tuple[tuple[str, ...], npt.NDArray[np.intp]]:
    index: dict[str, int] = {}
    codes = np.fromiter((index.setdefault(n, len(index)) for n in names), np.intp, len(names))
    return tuple(index), codes
