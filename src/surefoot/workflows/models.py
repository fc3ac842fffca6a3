"""Choose between families of models by how well they predict scores left out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError, ModelError
from surefoot.inference.bayes.criteria import difference
from surefoot.inference.bayes.likelihood import posterior_criteria
from surefoot.inference.bayes.priors import Prior, default_priors, given_priors
from surefoot.io.scores import read_scores
from surefoot.results.models import Models
from surefoot.results.posterior import Posterior
from surefoot.workflows.posterior import (
    Priors,
    as_posterior,
    concerns,
    from_prior,
    has_priors,
    joint_provenance,
)
from surefoot.workflows.ppd_risk import listed
from surefoot.workflows.verdicts import plural

FAMILIES = ("gaussian", "student", "skew_normal", "zoib")
DEFAULT = ("gaussian", "student", "zoib")
# a difference of more standard errors than this is called one
_CLEAR = 2.0


def models(
    scores: Any,
    *,
    families: str | Sequence[str] | None = None,
    draws: int | None = None,
    priors: Priors = (),
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
    families : sequence of str, optional
        What to fit: ``gaussian``, ``student``, ``skew_normal``, ``zoib``. Unasked, ``gaussian``,
        ``student`` and ``zoib``, without those that cannot model these scores, which is said.
    priors : mapping or sequence of str
        As in `fit`, for every family that has the parameter; one of them must.
    one_above : float, optional
        As in `fit`, for ``zoib``.

    Notes
    -----
    Both criteria are -2 times the expected log predictive density of a score (Vehtari, Gelman &
    Gabry 2017), as the thesis (Table 5.2) prints WAIC. Where scores are exactly 0 or 1,
    ``zoib`` gives them probabilities and the other families densities: their criteria then depend
    on the unit of the scores, and a difference is evidence only with that in mind.
    """
    left_out: dict[str, str] = {}
    if isinstance(scores, (list, tuple)) and scores and isinstance(scores[0], Posterior):
        new = {"families": families, "draws": draws, "one_above": one_above}
        asked = [name for name, value in new.items() if value is not None]
        asked += ["priors"] if has_priors(priors) else []
        if asked:
            raise InputError(f"{' and '.join(asked)} would need new fits, but these are made")
        fitted = list(scores)
        if not all(isinstance(fit, Posterior) for fit in fitted):
            raise InputError("give fits alone, or scores to fit")
        if any(from_prior(fit) for fit in fitted):
            raise InputError("draws from the prior know no scores, so they have no WAIC or LOO")
    else:
        fitted, left_out = _fit_all(
            scores, families, draws, priors, one_above, seed, threads, progress
        )
    first = fitted[0].scores
    for other in fitted[1:]:
        same = other.scores.shape == first.shape and np.array_equal(
            np.isnan(other.scores.values), np.isnan(first.values)
        )
        if not same or (other.gains is None) != (fitted[0].gains is None):
            raise InputError("the fits are of different tables, so they cannot be compared")
    found = [posterior_criteria(posterior, threads=threads) for posterior in fitted]
    order = sorted(range(len(fitted)), key=lambda i: found[i][1].value)
    best = found[order[0]]
    by_waic, by_loo = ([difference(found[i][kind], best[kind]) for i in order] for kind in (0, 1))
    names = tuple(fitted[i].family for i in order)
    edges = int(np.isin(first.values, (0.0, 1.0)).sum())
    doubts = [f"Caution: {fitted[i].family}: {said}" for i in order for said in concerns(fitted[i])]
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
        settings={
            "seed": seed,
            "families": list(names),
            "left_out": left_out,
            "one_above": one_above,
            **joint_provenance(
                [fitted[i] for i in order], [{"family": fitted[i].family} for i in order]
            ),
        },
        headline=(
            _verdict(names, by_loo),
            *_left_out(left_out),
            *(
                [
                    f"{plural(edges, 'score is', 'scores are')} exactly 0 or 1: zoib gives them "
                    "probabilities, the other families densities, so these numbers change with "
                    "the unit of the scores."
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
    families: str | Sequence[str] | None,
    draws: int | None,
    priors: Priors,
    one_above: float | None,
    seed: int,
    threads: int,
    progress: bool | None,
) -> tuple[list[Posterior], dict[str, str]]:
    """The fits, and why families that nobody asked for could not be fitted."""
    wanted = [families] if isinstance(families, str) else list(families or DEFAULT)
    if len(wanted) < 2:
        raise InputError(f"give at least two families to choose from, of {', '.join(FAMILIES)}")
    unknown = [family for family in wanted if family not in FAMILIES]
    if unknown:
        raise InputError(f"unknown family {unknown[0]!r}. Hint: one of {', '.join(FAMILIES)}")
    if one_above is not None and "zoib" not in wanted:
        raise InputError("one_above is for family zoib, which is not among those to try")
    own = _by_family(wanted, priors)
    table = read_scores(scores)
    out, left_out = [], {}
    for family in wanted:
        try:
            posterior = as_posterior(
                table,
                family=family,
                default=family,
                priors=own[family],
                one_above=one_above if family == "zoib" else None,
                draws=draws,
                seed=seed,
                threads=threads,
                show=progress,
            )
        except ModelError as error:
            if families is not None:
                raise ModelError(f"family {family}: {error}") from None
            left_out[family] = str(error).partition(" Hint: ")[0].rstrip(".") + "."
        else:
            out.append(posterior)
    if not out:
        reasons = "; ".join(dict.fromkeys(why.rstrip(".") for why in left_out.values()))
        raise ModelError(f"no default family can model these scores: {reasons}")
    return out, left_out


def _by_family(families: Sequence[str], priors: Priors) -> dict[str, dict[str, Prior]]:
    """The priors whose parameter each family has; one that none has is an error."""
    given = given_priors(priors)
    known = {family: default_priors(family, np.zeros(1)) for family in families}
    for name in given:
        if not any(name in own for own in known.values()):
            there = dict.fromkeys(n for own in known.values() for n in own)
            raise ModelError(
                f"none of the families {', '.join(families)} has a parameter {name!r} with a "
                f"prior. Hint: they have {', '.join(there)}"
            )
    return {
        family: {name: prior for name, prior in given.items() if name in own}
        for family, own in known.items()
    }


def _left_out(reasons: dict[str, str]) -> list[str]:
    """Which default families could not be tried, and why, each reason once."""
    return [
        f"Left out: {listed([f for f, why in reasons.items() if why == reason])}, as {reason}"
        for reason in dict.fromkeys(reasons.values())
    ]


def _verdict(names: tuple[str, ...], differences: Sequence[Any]) -> str:
    """Whether the best model is clearly better than the next."""
    if len(names) < 2:
        return f"Only {names[0]} was fitted, so there is nothing to choose from."
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
