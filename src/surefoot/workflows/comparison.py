"""What every comparison with a champion has to settle first: who, how averse, which topics."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
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
    if isinstance(values, (int, float, np.number)):
        return (float(values),)
    out = tuple(float(v) for v in values)
    if not out:
        raise InputError("give at least one value of alpha or r")
    return out


def _checked(value: float, name: str, minimum: float) -> float:
    if not minimum <= value < float("inf"):
        raise InputError(f"{name} must be a number not less than {minimum:g}, but got {value}")
    return value


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


def names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names from a list or from one comma-separated string, without repeats."""
    parts = given.split(",") if isinstance(given, str) else list(given)
    out = tuple(dict.fromkeys(str(p).strip() for p in parts if str(p).strip()))
    if not out:
        raise InputError("name a champion: a system of the table, or mean, median or max")
    return out


def champions(
    matrix: ScoreMatrix, given: str | Iterable[str], population: ScoreMatrix | None
) -> list[Baseline]:
    """The baselines of the names given."""
    if isinstance(given, str) and given in matrix.systems:
        given = [given]  # a system whose own name holds a comma
    return [baseline(matrix, name, population) for name in names(given)]


def challengers(
    matrix: ScoreMatrix, against: Sequence[Baseline], given: str | Iterable[str] | None
) -> npt.NDArray[np.int64]:
    """Row numbers of the systems to compare: those named, or all but the champions."""
    if given is not None:
        wanted = [given] if isinstance(given, str) and given in matrix.systems else names(given)
        return np.array([matrix.index(name) for name in wanted], dtype=np.int64)
    taken = {b.name for b in against if b.system}
    rows = [i for i, s in enumerate(matrix.systems) if s not in taken]
    if not rows:
        raise InputError(
            f"there is no challenger: the table holds only {', '.join(map(repr, matrix.systems))}"
        )
    return np.array(rows, dtype=np.int64)


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
