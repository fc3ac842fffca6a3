"""From whatever the user has to a fitted model: scores, a fit in memory, a fit on disk."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from surefoot.data.seed import check_seed
from surefoot.errors import InputError, UnreliableWarning
from surefoot.inference.bayes.priors import Prior
from surefoot.results.posterior import Posterior


def as_posterior(
    scores: Any,
    *,
    family: str | None,
    default: str,
    seed: int,
    threads: int,
    draws: int | None = None,
    priors: Mapping[str, str | Prior] | Sequence[str] = (),
    device: str = "cpu",
    show: bool | None = None,
) -> Posterior:
    """The posterior of plain scores, fitted now unless it is one already.

    Parameters
    ----------
    scores : Posterior, path of a fit file, or anything that `read_scores` takes
        What to model.
    family, default : str or None, str
        Family that was asked for, and the one to fit when none was.
    draws : int, optional
        Posterior draws; as many as `fit` makes when not given.
    priors : mapping or sequence of str
        As in `fit`.
    device : str
        As in `fit`.
    """
    check_seed(seed)
    if isinstance(scores, (str, Path)) and Path(scores).suffix in (".nc", ".netcdf", ".h5"):
        from surefoot.io.fit_file import read_fit

        scores = read_fit(scores)
    if isinstance(scores, Posterior):
        if family is not None and family != scores.family:
            raise InputError(
                f"the fit has family {scores.family!r}, but {family!r} was asked for. "
                "Hint: leave the family out, or fit again from the scores"
            )
        for doubt in scores.warnings:
            warnings.warn(doubt, UnreliableWarning, stacklevel=3)
        return scores
    from surefoot.workflows.fit import fit

    options: dict[str, Any] = {} if draws is None else {"draws": draws}
    return fit(
        scores,
        family=family or default,
        criteria=False,
        seed=seed,
        threads=threads,
        progress=show,
        priors=priors,
        device=device,
        **options,
    )


def doubts(posterior: Posterior) -> tuple[str, ...]:
    """Sentences for the headline about draws that should not be trusted as they stand."""
    return tuple(f"Caution: {warning}" for warning in posterior.warnings)


def provenance(posterior: Posterior) -> dict[str, Any]:
    """Settings that say how the posterior was made."""
    return {
        "family": posterior.family,
        "draws": posterior.n_draws,
        "method": posterior.method,
        "khat": posterior.khat,
        "efficiency": posterior.efficiency,
        "warnings": list(posterior.warnings),
    }
