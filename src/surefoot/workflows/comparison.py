"""What every comparison with a champion has to settle first: who, how averse, which topics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.data.seed import check_seed
from surefoot.errors import AlignmentError, InputError
from surefoot.io.scores import read_scores
from surefoot.overlays.baselines import Baseline, baseline
from surefoot.overlays.value import THESIS_SMOOTH, Cubic, ValueFunction, fences, fit_smooth

DEFAULT_ALPHA = (1.0,)

Numbers = float | Sequence[float] | None


def loss_aversion(alpha: Numbers, r: Numbers) -> tuple[tuple[float, ...], str]:
    """(alphas, form) from the papers' alpha or the thesis' r = 1 + alpha.

    Benham 2023, Eqs. 3.2-3.5: the minus form is the negative of the alpha form at alpha = r - 1.
    """
    if alpha is not None and r is not None:
        raise InputError("give alpha or r, not both (r = 1 + alpha)")
    if r is not None:
        return tuple(_checked(v, "r", 1.0) - 1.0 for v in _many(r)), "minus"
    alphas = DEFAULT_ALPHA if alpha is None else _many(alpha)
    return tuple(_checked(v, "alpha", 0.0) for v in alphas), "alpha"


def _many(values: float | Sequence[float]) -> tuple[float, ...]:
    try:
        if isinstance(values, (int, float, np.number)):
            return (float(values),)
        out = tuple(float(v) for v in values)
    except (TypeError, ValueError):
        raise InputError(f"alpha and r must be numbers, but got {values!r}") from None
    if not out:
        raise InputError("give at least one value of alpha or r")
    return out


def _checked(value: float, name: str, minimum: float) -> float:
    if not minimum <= value < float("inf"):
        raise InputError(f"{name} must be a number not less than {minimum:g}, but got {value}")
    return value


def check_draws(seed: int, **counts: int | None) -> None:
    """Refuse a seed that is no 64-bit word, and numbers of resamples below 1."""
    check_seed(seed)
    for name, count in counts.items():
        if count is not None and count < 1:
            raise InputError(f"the number of {name} must be at least 1, but got {count}")


def read_population(source: Any, matrix: ScoreMatrix) -> ScoreMatrix | None:
    """Baseline systems on the topics of `matrix`, or None when there are no others."""
    if source is None:
        return None
    population = read_scores(source, measure=matrix.measure or None)
    known = set(population.topics)
    absent = [t for t in matrix.topics if t not in known]
    if absent:
        raise AlignmentError(
            f"the population has no scores for {len(absent)} of the {len(matrix.topics)} topics, "
            f"for example {absent[0]!r}. Hint: it must cover every topic of the scores"
        )
    if population.topics == matrix.topics:
        return population
    return population.select(topics=matrix.topics)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Scores, champions and challengers, on one set of topics."""

    matrix: ScoreMatrix
    champions: tuple[Baseline, ...]
    challengers: npt.NDArray[np.int64]  # rows of the matrix
    population: ScoreMatrix | None
    members: npt.NDArray[np.bool_] | None  # which rows are in the population

    def restrict(self, columns: npt.NDArray[np.int64]) -> "Comparison":
        """The same systems on some of the topics."""
        topics = [self.matrix.topics[j] for j in columns]
        champions = tuple(c.restrict(columns) for c in self.champions)
        return Comparison(
            self.matrix.select(topics=topics),
            champions,
            self.challengers,
            None if self.population is None else self.population.select(topics=topics),
            self.members,
        )


def prepare(
    matrix: ScoreMatrix,
    champion: str | Iterable[str],
    *,
    systems: str | Iterable[str] | None = None,
    population: Any = None,
) -> Comparison:
    """Find the champions and the challengers, by default all other systems."""
    if not matrix.topics:
        raise InputError("the score table has no topic")
    people = read_population(population, matrix)
    chosen = chosen_names(
        champion, matrix.systems, "a champion: a system of the table, or mean, median or max"
    )
    champions = tuple(baseline(matrix, name, people) for name in chosen)
    if systems is not None:
        rows = [
            matrix.index(name) for name in chosen_names(systems, matrix.systems, "a challenger")
        ]
    else:
        taken = {c.name for c in champions if c.system}
        rows = [i for i, s in enumerate(matrix.systems) if s not in taken]
    if not rows:
        raise InputError(
            "there is no challenger: the table holds only "
            + ", ".join(repr(s) for s in matrix.systems)
        )
    members = None
    if people is not None:
        known = set(people.systems)
        members = np.array([s in known for s in matrix.systems])
    return Comparison(matrix, champions, np.array(rows, dtype=np.int64), people, members)


def chosen_names(given: str | Iterable[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    """Names, each once, from one or several comma-separated lists; a known name may hold a comma.

    Parameters
    ----------
    given : str or iterable of str
        What was asked for; spaces around a name do not count.
    known : sequence of str
        The systems there are.
    what : str
        What must be named, for the message where nothing is.
    """
    parts: list[str] = []
    if not isinstance(given, Iterable):
        raise InputError(f"name {what}, not {given!r}")
    for text in [given] if isinstance(given, str) else map(str, given):
        parts += [text] if text in known else [part.strip() for part in text.split(",")]
    out = tuple(dict.fromkeys(filter(None, parts)))
    if not out:
        raise InputError(f"name {what}")
    return out


def value_function(
    given: str | ValueFunction, matrix: ScoreMatrix, against: Sequence[Baseline]
) -> tuple[str, ValueFunction | None]:
    """(name, function) of a value function; None for the linear one, which alpha describes.

    ``smooth`` is the thesis' Eq. 3.6, ``refit`` the same cubic through the fences of these data.
    """
    if not isinstance(given, str):
        return getattr(given, "__name__", type(given).__name__), given
    if given == "linear":
        return given, None
    if given == "smooth":
        return given, THESIS_SMOOTH
    if given == "refit":
        taken = {b.name for b in against if b.system}
        rows = [i for i, s in enumerate(matrix.systems) if s not in taken]
        pooled = np.concatenate([(matrix.values[rows] - b.scores).ravel() for b in against])
        return given, fit_smooth(*fences(pooled))
    raise InputError(f"value must be linear, smooth, refit or a function, but got {given!r}")


def describe(name: str, function: ValueFunction | None) -> dict[str, Any]:
    """Settings that reproduce a value function."""
    if isinstance(function, Cubic):
        return {
            "value": name,
            "cubic": [function.cubic, function.quadratic, function.linear],
            "monotone": function.monotone,
        }
    return {"value": name}
