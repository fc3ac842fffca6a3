"""Topic by topic: which queries got worse, and which make the verdict."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.io.scores import read_scores
from surefoot.overlays.exploratory import Exploration, explore
from surefoot.overlays.value import Linear, ValueFunction
from surefoot.results.topics import TopicsResult
from surefoot.workflows.comparison import Numbers, describe, loss_aversion, prepare, value_function
from surefoot.workflows.judgments import difference_range
from surefoot.workflows.unjudged import unjudged_of
from surefoot.workflows.verdicts import MOST_SENTENCES, queries

FloatArray = npt.NDArray[np.float64]

_MOST_NAMES = 5


def topics(
    scores: Any,
    *,
    champion: str,
    alpha: Numbers = None,
    r: Numbers = None,
    system: str | Iterable[str] | None = None,
    value: str | ValueFunction = "linear",
    level: float = 0.05,
    qrels: Any = None,
    runs: Any = (),
    threads: int = 0,
) -> TopicsResult:
    """Show what each topic contributes to the risk.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores.
    champion : str
        A system of the table, or ``mean``, ``median`` or ``max``.
    alpha, r : float
        How much more a loss counts than a gain (default alpha 1), or r = 1 + alpha for the minus
        form.
    system : str or list of str, optional
        Challengers; default all.
    value : str or callable
        As in `risk`.
    level : float
        Level of the exact critical value that flags a topic.
    qrels, runs : optional
        Judgments and runs that the scores come from, as in `risk`: they narrow `delta_low` and
        `delta_high`.
    threads : int
        0 uses all cores; results do not depend on it.

    Returns
    -------
    TopicsResult
        One row for each challenger and topic that both systems have, the worst first.

    Notes
    -----
    Dincer et al. 2014, Section 5: `t_r` is Eq. 21, `t_j` the negative of Eq. 23, so that losses are
    negative as in Figure 2 there. `flagged` refers to `t_j`.
    """
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, but got {level}")
    alphas, form = loss_aversion(alpha, r)
    if len(alphas) != 1:
        raise InputError("topics takes a single alpha (or r)")
    whole = prepare(read_scores(scores), champion, systems=system)
    if len(whole.champions) != 1:
        raise InputError("topics takes a single champion")
    base = whole.champions[0]
    matrix = whole.matrix
    name, function = value_function(value, matrix, whole.champions)
    worth = Linear(alphas[0]) if function is None else function
    sign = -1.0 if form == "minus" else 1.0
    unjudged = unjudged_of(whole, qrels, runs, threads=threads)
    parts: list[dict[str, Any]] = []
    headline: list[str] = []
    for i in whole.challengers:
        delta = matrix.values[i] - base.scores
        x = np.where(np.isnan(delta), np.nan, worth(delta))
        found = explore(x, level=level)
        order = np.argsort(x, kind="stable")
        order = order[~np.isnan(x[order])]  # worst first
        relative = np.full(len(delta), np.nan)
        np.divide(delta, np.abs(base.scores), out=relative, where=base.scores != 0)
        part: dict[str, Any] = {
            "champion_score": base.scores,
            "score": matrix.values[i],
            "delta": delta,
            "x": sign * x,
            "t_r": sign * found.t_r,
            "t_j": sign * found.t_j,
            "flagged": found.flagged,
            "flagged_t_r": found.flagged_r,
            "t_without": sign * found.t_without,
            "decides": found.decides,
            "relative_change": relative,
        }
        if matrix.has_bounds and base.lower is not None:
            part["delta_low"], part["delta_high"] = difference_range(whole, base, int(i), unjudged)
        part = {k: v[order] + 0.0 if v.dtype.kind == "f" else v[order] for k, v in part.items()}
        part["system"] = (matrix.systems[i],) * len(order)
        part["topic"] = tuple(matrix.topics[j] for j in order)
        part["note"] = (_why(found, len(order)),) * len(order)
        parts.append(part)
        if len(headline) < MOST_SENTENCES:
            headline.append(_sentence(matrix.systems[i], base.name, found, delta, matrix.topics))
    if len(headline) < len(whole.challengers):
        more = len(whole.challengers) - len(headline)
        headline.append(f"And {more} more challengers in the table; --system chooses some.")
    columns = {
        k: np.concatenate([p[k] for p in parts])
        for k in parts[0]
        if k not in ("system", "topic", "note")
    }
    bounded = "delta_low" in columns
    return TopicsResult(
        system=tuple(s for p in parts for s in p["system"]),
        topic=tuple(t for p in parts for t in p["topic"]),
        form=form,
        champion_score=columns["champion_score"],
        score=columns["score"],
        delta=columns["delta"],
        x=columns["x"],
        t_r=columns["t_r"],
        t_j=columns["t_j"],
        flagged=columns["flagged"],
        flagged_t_r=columns["flagged_t_r"],
        t_without=columns["t_without"],
        decides=columns["decides"],
        relative_change=columns["relative_change"],
        note=tuple(t for p in parts for t in p["note"]),
        delta_low=columns["delta_low"] if bounded else None,
        delta_high=columns["delta_high"] if bounded else None,
        headline=tuple(headline),
        settings={
            "champion": base.name,
            "form": form,
            "alpha": alphas[0],
            **describe(name, function),
            "level": level,
            "measure": matrix.measure,
        },
    )


def _why(found: Exploration, topics: int) -> str:
    """Why no topic can stand out."""
    if topics == 1:
        return "one topic: nothing to compare it with"
    return "the difference is the same on every topic" if np.isnan(found.t_r).all() else ""


def _sentence(
    system: str, champion: str, found: Exploration, delta: FloatArray, names: tuple[str, ...]
) -> str:
    """The losses that stand out, and the topics that the verdict hangs on."""
    losses = np.flatnonzero(found.flagged & (found.x < 0))
    losses = losses[np.argsort(found.x[losses], kind="stable")]
    total = int(np.count_nonzero(~np.isnan(delta)))
    worse = int(np.count_nonzero(delta < 0))
    text = f"{system} regresses on {worse} of {queries(total)} against {champion}"
    if len(losses):
        text += f"; {len(losses)} stand out: {_list(names, losses)}"
    else:
        text += "; no loss stands out"
    deciding = np.flatnonzero(found.decides)
    if len(deciding):
        text += f". Without {_list(names, deciding, 'or')} the verdict would be another"
    if total < len(delta):
        text += f". Left out, without a score of both: {queries(len(delta) - total)}"
    return text + "."


def _list(names: tuple[str, ...], chosen: npt.NDArray[Any], word: str = "and") -> str:
    shown = [names[j] for j in chosen[:_MOST_NAMES]]
    if len(chosen) > _MOST_NAMES:
        return f"{', '.join(shown)} {word} {len(chosen) - _MOST_NAMES} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"
