"""How much each challenger risks against a champion: every overlay in one table."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError
from surefoot.inference.corrections import adjust
from surefoot.io.scores import read_scores
from surefoot.io.slices import read_slices
from surefoot.overlays.compare import compare
from surefoot.overlays.slices import slice_columns
from surefoot.overlays.t_risk import errors_agree
from surefoot.overlays.value import Cubic, ValueFunction
from surefoot.overlays.z_risk import deviations
from surefoot.results.risk import ResidualRange, RiskResult
from surefoot.workflows.comparison import (
    Comparison,
    Numbers,
    describe,
    loss_aversion,
    prepare,
    value_function,
)
from surefoot.workflows.judgments import Contest, verdicts_within
from surefoot.workflows.unjudged import Unjudged, unjudged_of
from surefoot.workflows.verdicts import note_of, outside_slices, risk_headline, verdict_of

FloatArray = npt.NDArray[np.float64]

# overlays whose sign the thesis' minus form reverses
_SIGNED = ("u_risk", "t_risk", "z_risk", "geo_risk")
_MOST = 5  # topics whose documents are named


def risk(
    scores: Any,
    *,
    champion: str | Iterable[str],
    alpha: Numbers = None,
    r: Numbers = None,
    value: str | ValueFunction = "linear",
    systems: str | Iterable[str] | None = None,
    population: Any = None,
    slices: Any = None,
    correction: str = "holm",
    level: float = 0.05,
    tolerance: float = 0.0,
    qrels: Any = None,
    runs: Any = (),
    threads: int = 0,
) -> RiskResult:
    """Measure what replacing the champion by each challenger risks.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores, anything that `read_scores` takes.
    champion : str or list of str
        What is in use now: one system or several, or ``mean``, ``median`` or ``max`` for the
        per-topic mean, median or best of the population.
    alpha : float or list, optional
        How much more a loss counts than a gain; default 1.
    r : float or list, optional
        The thesis' form instead: r = 1 + alpha, signs reversed so that higher is riskier.
    value : str or callable, optional
        What a difference is worth: ``linear`` (alpha), ``smooth`` (Benham 2023, Eq. 3.6), ``refit``
        (the same cubic through the fences of these data) or a function of an array of differences.
    systems : list of str, optional
        Challengers; default all systems that are not champions.
    population : optional
        Systems that ZRisk, GeoRisk and the aggregate champions refer to; default all of `scores`.
    slices : optional
        Groups of topics: a ``topic,slice`` table, or a dict.
    correction : str
        ``holm`` (default), ``bonferroni``, ``bh`` or ``none``: adjusts the p-values of one alpha
        over all challengers and champions, and those of the slices over all slices too.
    level : float
        Significance level of the verdict.
    tolerance : float
        Differences of at most this size count as ties; the overlays themselves are unaffected.
    qrels, runs : optional
        Judgments and runs that the scores come from. Documents that both systems show then move
        both scores at once, and those that would settle an open verdict are named.
    threads : int
        0 uses all cores; results do not depend on it.

    Returns
    -------
    RiskResult
        One row for each slice, champion, challenger and alpha.

    Notes
    -----
    Only topics that both systems have count, and `topics` says how many. Dincer et al. 2014, Eqs.
    1-17 for the overlays against a champion, Dincer et al. 2016 for ZRisk and GeoRisk.

    Examples
    --------
    >>> import surefoot as sf
    >>> table = {"old": {"q1": 0.5, "q2": 0.5, "q3": 0.4}, "new": {"q1": 0.7, "q2": 0.4, "q3": 0.5}}
    >>> result = sf.risk(table, champion="old", alpha=[0, 1])
    >>> result.u_risk.round(4).tolist()
    [0.0667, 0.0333]
    """
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, but got {level}")
    if not 0 <= tolerance < float("inf"):
        raise InputError(f"tolerance must be a number not less than 0, but got {tolerance}")
    alphas, form = loss_aversion(alpha, r)
    whole = prepare(read_scores(scores), champion, systems=systems, population=population)
    name, function = value_function(value, whole.matrix, whole.champions)
    if function is not None:
        alphas = (float("nan"),)
    scopes: list[tuple[str, Comparison]] = [("all", whole)]
    if slices is not None:
        members = read_slices(slices)
        groups = slice_columns(whole.matrix.topics, members)
        scopes += [(label, whole.restrict(columns)) for label, columns in groups.items()]

    bounded = whole.matrix.has_bounds and all(c.lower is not None for c in whole.champions)
    if isinstance(function, Cubic) and not function.monotone:
        bounded = False  # the ends of the scores are not the ends of their worth
    unjudged = unjudged_of(whole, qrels, runs, threads=threads) if bounded else None
    labels: list[tuple[str, str, str]] = []  # slice, champion, system of each row but for alpha
    tables: list[dict[str, FloatArray]] = []
    contests: list[Contest] = []
    for scope, part in scopes:
        z = deviations(
            part.matrix.values,
            None if part.population is None else part.population.values,
            member=part.members,
            value=function,
            threads=threads,
        )
        for base in part.champions:
            table = compare(
                part.matrix.values,
                base.scores,
                z,
                alphas=alphas,
                function=function,
                tolerance=tolerance,
                threads=threads,
            )
            tables.append({k: v[part.challengers] for k, v in table.items()})
            labels += [(scope, base.name, part.matrix.systems[i]) for i in part.challengers]
            if bounded:
                contests += [
                    Contest(part, base, int(i), a, function, unjudged)
                    for i in part.challengers
                    for a in alphas
                ]
    cells = {k: np.concatenate([t[k] for t in tables]) for k in tables[0]}
    scope_of = np.array([s for s, _, _ in labels])
    cells["p_adjusted"] = _adjusted(cells["p_value"], scope_of, correction)
    flat = {k: v.reshape(-1) for k, v in cells.items()}
    verdicts = tuple(
        verdict_of(u, p, level) for u, p in zip(flat["u_risk"], flat["p_adjusted"], strict=True)
    )
    notes = tuple(note_of({k: v[i] for k, v in flat.items()}) for i in range(len(verdicts)))
    if form == "minus":
        for signed in _SIGNED:
            flat[signed] = 0.0 - flat[signed]  # no minus zero
    repeated = [label for label in labels for _ in alphas]
    whole_numbers = {
        k: flat[k].astype(np.int64) for k in ("wins", "losses", "ties", "loss_over", "count")
    }
    result = RiskResult(
        system=tuple(s for _, _, s in repeated),
        champion=tuple(c for _, c, _ in repeated),
        slice=None if slices is None else tuple(s for s, _, _ in repeated),
        form=form,
        value=name,
        alpha=np.tile(alphas, len(labels)),
        f_risk=flat["f_risk"],
        f_reward=flat["f_reward"],
        u_gain=flat["u_gain"],
        u_risk=flat["u_risk"],
        se_parametric=flat["se_parametric"],
        se_jackknife=flat["se_jackknife"],
        t_risk=flat["t_risk"],
        df=flat["df"],
        p_value=flat["p_value"],
        p_adjusted=flat["p_adjusted"],
        wins=whole_numbers["wins"],
        losses=whole_numbers["losses"],
        ties=whole_numbers["ties"],
        loss_over=whole_numbers["loss_over"],
        z_risk=flat["z_risk"],
        geo_risk=flat["geo_risk"],
        break_even_alpha=flat["break_even_alpha"],
        errors_agree=errors_agree(flat["se_parametric"], flat["se_jackknife"]),
        verdict=verdicts,
        topics=whole_numbers["count"],
        residual=_residual(contests, repeated, form, correction, level, unjudged),
        note=notes,
        settings={
            "champion": [b.name for b in whole.champions],
            "form": form,
            "alpha": list(alphas),
            **describe(name, function),
            "correction": correction,
            "level": level,
            "tolerance": tolerance,
            "measure": whole.matrix.measure,
            "population": len((whole.population or whole.matrix).systems),
            "topics": len(whole.matrix.topics),
        },
    )
    said = risk_headline(result)
    if slices is not None:
        said += outside_slices(whole.matrix.topics, members)
    return replace(result, headline=said)


def _adjusted(p: FloatArray, scope: npt.NDArray[np.str_], correction: str) -> FloatArray:
    """Adjust each alpha's p-values, once over the whole and once over all slices."""
    out = np.array(p)
    for rows in (scope == "all", scope != "all"):
        for k in range(p.shape[1]):
            out[rows, k] = adjust(p[rows, k], correction)
    return out


def _residual(
    contests: list[Contest],
    rows: list[tuple[str, str, str]],
    form: str,
    correction: str,
    level: float,
    unjudged: Unjudged | None,
) -> ResidualRange | None:
    """What the unjudged documents leave open in each row."""
    if not contests:
        return None
    known = [contest.ranges() for contest in contests]
    # corrected together: one alpha over the whole, and one alpha over all slices
    families = [(row[0] == "all", c.alpha) for row, c in zip(rows, contests, strict=True)]
    if np.isnan(contests[0].alpha):
        families = [(whole, 0.0) for whole, _ in families]
    verdicts, deciding = verdicts_within(
        contests, known, families, correction=correction, level=level
    )

    def column(field: str) -> npt.NDArray[Any]:
        return np.array([getattr(k, field) for k in known])

    ranges = {f: column(f) for f in ("u_low", "u_high", "t_low", "t_high")}
    if form == "minus":
        ranges = {
            f"{overlay}_{end}": 0.0 - ranges[f"{overlay}_{other}"]
            for overlay in "ut"
            for end, other in (("low", "high"), ("high", "low"))
        }
    return ResidualRange(
        **ranges,
        verdict=verdicts,
        certain_losses=column("certain_losses"),
        certain_wins=column("certain_wins"),
        undecided=column("undecided"),
        deciding_topics=tuple(" ".join(topics) for topics in deciding),
        deciding_documents=_documents(deciding, rows, unjudged),
    )


def _documents(
    deciding: Sequence[tuple[str, ...]],
    rows: list[tuple[str, str, str]],
    unjudged: Unjudged | None,
) -> tuple[str, ...]:
    """Per row, ``topic: document document; ...`` of what is unjudged and decides."""
    out = []
    for topics, (_, champion, system) in zip(deciding, rows, strict=True):
        parts = []
        for topic in topics[:_MOST] if unjudged is not None else ():
            ids = unjudged.documents(system, champion, topic) if unjudged is not None else []
            if ids:
                parts.append(f"{topic}: {' '.join(ids)}")
        out.append("; ".join(parts))
    return tuple(out)
