"""Choose between families of models by how well they predict scores left out."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.inference.bayes.criteria import criteria, difference
from surefoot.inference.bayes.likelihood import log_likelihood_chunks
from surefoot.inference.bayes.priors import Prior
from surefoot.io.scores import read_scores
from surefoot.results.models import Models
from surefoot.results.posterior import Posterior
from surefoot.workflows.fit import CRITERIA_DRAWS, fit

FAMILIES = ("gaussian", "student", "skew_normal", "zoib")
# a difference of more standard errors than this is called one
_CLEAR = 2.0


def models(
    scores: Any,
    *,
    families: str | Sequence[str] = ("gaussian", "student", "zoib"),
    draws: int | None = None,
    priors: Mapping[str, str | Prior] | Sequence[str] = (),
    one_above: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> Models:
    """WAIC and PSIS-LOO of several families, and whether their differences exceed noise.

    Parameters
    ----------
    scores : table, or sequence of Posterior
        Anything that `read_scores` takes, to fit now; or fits of one table.
    families : sequence of str
        What to fit: ``gaussian``, ``student``, ``skew_normal``, ``zoib``.
    priors : mapping or sequence of str
        As in `fit`, for every family that has the parameter.
    one_above : float, optional
        As in `fit`, for ``zoib``.

    Notes
    -----
    Both criteria are -2 times the expected log predictive density of a score (Vehtari, Gelman &
    Gabry 2017), as the thesis (Table 5.2) prints WAIC. Where scores are exactly 0 or 1,
    ``zoib`` gives them probabilities and the other families densities: their criteria then depend
    on the unit of the scores, and a difference is evidence only with that in mind.
    """
    if isinstance(scores, (list, tuple)) and scores and isinstance(scores[0], Posterior):
        fitted = list(scores)
    else:
        fitted = _fit_all(scores, families, draws, priors, one_above, seed, threads, progress)
    first = fitted[0].scores
    for other in fitted[1:]:
        same = other.scores.shape == first.shape and np.array_equal(
            np.isnan(other.scores.values), np.isnan(first.values)
        )
        if not same or (other.gains is None) != (fitted[0].gains is None):
            raise InputError("the fits are of different tables, so they cannot be compared")
    found = []
    for posterior in fitted:
        used = min(CRITERIA_DRAWS, posterior.n_draws)
        chunks = log_likelihood_chunks(posterior, draws=used, threads=threads)
        found.append(criteria(chunks, n_draws=used))
    order = sorted(range(len(fitted)), key=lambda i: found[i][1].value)
    best = found[order[0]]
    by_waic, by_loo = ([difference(found[i][kind], best[kind]) for i in order] for kind in (0, 1))
    names = tuple(fitted[i].family for i in order)
    edges = int(np.isin(first.values, (0.0, 1.0)).sum())
    doubts = [f"Caution: {fitted[i].family}: {said}" for i in order for said in fitted[i].warnings]
    mixed = "zoib" in names and len(set(names)) > 1 and edges > 0
    return Models(
        families=names,
        loo=np.array([found[i][1].value for i in order]),
        loo_se=np.array([found[i][1].se for i in order]),
        loo_difference=np.array([d.difference for d in by_loo]),
        loo_difference_se=np.array([d.se for d in by_loo]),
        waic=np.array([found[i][0].value for i in order]),
        waic_se=np.array([found[i][0].se for i in order]),
        waic_difference=np.array([d.difference for d in by_waic]),
        waic_difference_se=np.array([d.se for d in by_waic]),
        unreliable=np.array([found[i][1].unreliable for i in order], dtype=np.int64),
        methods=tuple(fitted[i].method for i in order),
        settings={"seed": seed, "families": list(names)},
        headline=(
            _verdict(names, by_loo),
            *(
                [
                    f"{edges} scores are exactly 0 or 1: zoib gives them probabilities, the other "
                    "families densities, so these numbers change with the unit of the scores."
                ]
                if mixed
                else []
            ),
            *doubts,
        ),
        inputs=fitted[0].inputs,
    )


def _fit_all(
    scores: Any,
    families: str | Sequence[str],
    draws: int | None,
    priors: Mapping[str, str | Prior] | Sequence[str],
    one_above: float | None,
    seed: int,
    threads: int,
    progress: bool | None,
) -> list[Posterior]:
    wanted = [families] if isinstance(families, str) else list(families)
    if len(wanted) < 2:
        raise InputError(f"give at least two families to choose from, of {', '.join(FAMILIES)}")
    unknown = [family for family in wanted if family not in FAMILIES]
    if unknown:
        raise InputError(f"unknown family {unknown[0]!r}. Hint: one of {', '.join(FAMILIES)}")
    table = read_scores(scores)
    out = []
    for family in wanted:
        options: dict[str, Any] = {} if draws is None else {"draws": draws}
        if family == "zoib" and one_above is not None:
            options["one_above"] = one_above
        out.append(
            fit(
                table,
                family=family,
                priors=_of(family, priors),
                criteria=False,
                seed=seed,
                threads=threads,
                progress=progress,
                **options,
            )
        )
    return out


def _of(family: str, priors: Mapping[str, str | Prior] | Sequence[str]) -> dict[str, str | Prior]:
    """The priors whose parameter this family has."""
    from surefoot.inference.bayes.priors import default_priors, parse_prior

    given = priors.items() if isinstance(priors, Mapping) else map(parse_prior, priors)
    known = default_priors(family, np.zeros(1))
    return {name: prior for name, prior in given if name in known}


def _verdict(names: tuple[str, ...], differences: Sequence[Any]) -> str:
    """Whether the best model is clearly better than the next."""
    if len(names) < 2:
        return f"Only {names[0]} was fitted."
    gap = differences[1]
    ratio = gap.difference / gap.se if gap.se > 0 else float("inf")
    if ratio > _CLEAR:
        return (
            f"{names[0]} predicts these scores best: LOO is lower by {gap.difference:.1f} "
            f"(standard error {gap.se:.1f}) than that of {names[1]}, the next."
        )
    return (
        f"{names[0]} and {names[1]} predict these scores about equally well: LOO differs by "
        f"{gap.difference:.1f} with a standard error of {gap.se:.1f}."
    )
