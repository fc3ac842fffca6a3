"""From whatever the user has to a fitted model: scores, a fit in memory, a fit on disk.

Every verb on a posterior gets it here, and says here by which model it answers and what to mind.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.data.seed import check_seed
from surefoot.errors import InputError, UnreliableWarning
from surefoot.inference.bayes.prior_draws import METHOD as PRIOR_DRAWS
from surefoot.inference.bayes.priors import Prior
from surefoot.io.scores import FIT_MAGIC, read_scores
from surefoot.results.posterior import Posterior
from surefoot.workflows.comparison import chosen_names

Priors = Mapping[str, str | Prior] | Sequence[str]


def as_posterior(
    scores: Any,
    *,
    family: str | None,
    default: str,
    seed: int,
    threads: int,
    draws: int | None = None,
    priors: Priors = (),
    one_above: float | None = None,
    device: str = "cpu",
    champion: Any = None,
    systems: str | Iterable[str] | None = None,
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
    priors, one_above
        As in `fit`; these and `draws` are for a new fit and refused where there is one already.
    device : str
        As in `fit`.
    champion, systems
        Who will be compared: looked up before a fit that may take long.
    """
    check_seed(seed)
    check_count("threads", threads, 0)
    if isinstance(scores, (str, Path)) and _is_fit(Path(scores)):
        from surefoot.io.fit_file import read_fit

        scores = read_fit(scores)
    if isinstance(scores, Posterior):
        if family is not None and family != scores.family:
            raise InputError(
                f"the fit has family {scores.family!r}, but {family!r} was asked for. "
                "Hint: leave the family out, or fit again from the scores"
            )
        new = {
            "draws": draws is not None,
            "priors": has_priors(priors),
            "one_above": one_above is not None,
        }
        asked = [name for name, given in new.items() if given]
        if asked:
            raise InputError(
                f"{' and '.join(asked)} would need a new fit, but this one is made already. "
                "Hint: fit again from the scores"
            )
        posterior = scores
        said: tuple[str, ...] = ()
    else:
        from surefoot.workflows.fit import fit

        if (family or default) != "zoib_rank":
            scores = read_scores(scores)
            if champion is not None:
                champion_row(scores, champion)
                challenger_rows(scores, champion, systems)
        options: dict[str, Any] = {}
        if draws is not None:
            options["draws"] = check_count("draws", draws, 100)
        if one_above is not None:
            options["one_above"] = one_above
        posterior = fit(
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
        said = posterior.warnings
    for doubt in concerns(posterior):
        if doubt not in said:
            warnings.warn(doubt, UnreliableWarning, stacklevel=3)
    return posterior


def has_priors(priors: Any) -> bool:
    """Whether anything was given as priors, be it right or wrong."""
    return not isinstance(priors, (Mapping, Sequence)) or len(priors) > 0


def _is_fit(path: Path) -> bool:
    """Whether a path is called or begins like a fit."""
    if path.suffix in (".nc", ".netcdf", ".h5"):
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(FIT_MAGIC)) == FIT_MAGIC


# -- what to mind --------------------------------------------------------------------------------


def from_prior(posterior: Posterior) -> bool:
    """Whether the draws come from the prior alone (`fit` with engine ``prior``)."""
    return posterior.method == PRIOR_DRAWS


def concerns(posterior: Posterior) -> tuple[str, ...]:
    """Why an answer from this posterior may not be what it looks like."""
    prior = ("the scores were not used: these are draws from the prior",)
    return (
        *(prior if from_prior(posterior) else ()),
        *(doubt for doubt in unscored(posterior.scores) if doubt not in posterior.warnings),
        *posterior.warnings,
    )


def unscored(scores: ScoreMatrix) -> tuple[str, ...]:
    """Systems and topics without any score, of which a model knows its prior only."""
    from surefoot.workflows.verdicts import some

    out = []
    for kind, names, axis in (("system", scores.systems, 1), ("topic", scores.topics, 0)):
        empty = [names[i] for i in np.flatnonzero(scores.missing.all(axis=axis))]
        if empty:
            out.append(
                f"there is no score at all of {kind}{'s' if len(empty) > 1 else ''} "
                f"{some(empty, 4)}: what is said of {'them' if len(empty) > 1 else 'it'} follows "
                f"from the other {kind}s alone"
            )
    return tuple(out)


def told(posterior: Posterior, *found: str) -> tuple[str, ...]:
    """A headline: what was found, by which model, and what to mind.

    What the prior alone says is no finding about the systems, so that is said first.
    """
    prior = (
        f"Prior predictive: the scores were not used; this is what the {posterior.family} model "
        "expects before it sees any."
    )
    made = "from the prior" if from_prior(posterior) else f"by {posterior.method}"
    model = f"Model: {posterior.family}, {posterior.n_draws} draws {made}."
    rest = concerns(posterior)[1:] if from_prior(posterior) else concerns(posterior)
    return (
        *([prior] if from_prior(posterior) else []),
        *found,
        model,
        *(f"Caution: {doubt}" for doubt in rest),
    )


def provenance(posterior: Posterior) -> dict[str, Any]:
    """Settings that say how the posterior was made."""
    return {
        "family": posterior.family,
        "draws": posterior.n_draws,
        "priors": dict(posterior.settings.get("priors", {})),
        "one_above": posterior.settings.get("one_above"),
        "method": posterior.method,
        "khat": posterior.khat,
        "efficiency": posterior.efficiency,
        "warnings": list(concerns(posterior)),
    }


def joint_provenance(
    posteriors: Sequence[Posterior], labels: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Settings of several fits: each under ``fits`` with its label, and the worst of them.

    Parameters
    ----------
    posteriors : sequence of Posterior
        The fits.
    labels : sequence of mapping
        What tells each from the others, such as its r.
    """
    kept = ("draws", "method", "khat", "efficiency", "warnings")
    fits = []
    for posterior, label in zip(posteriors, labels, strict=True):
        made = provenance(posterior)
        fits.append({**label, **{name: made[name] for name in kept}})
    return {
        "draws": min(fit["draws"] for fit in fits),
        "method": ", ".join(dict.fromkeys(fit["method"] for fit in fits)),
        "khat": _worst(max, [fit["khat"] for fit in fits]),
        "efficiency": _worst(min, [fit["efficiency"] for fit in fits]),
        "warnings": list(dict.fromkeys(doubt for fit in fits for doubt in fit["warnings"])),
        "fits": fits,
    }


def _worst(choose: Any, values: Iterable[float]) -> float:
    """The largest or smallest; NaN where no engine with weights was used."""
    known = [value for value in values if not math.isnan(value)]
    return float(choose(known)) if known else math.nan


# -- what was asked for --------------------------------------------------------------------------


def champion_row(scores: ScoreMatrix, champion: Any) -> int:
    """Row of the champion, who must be a system of the table with a score."""
    if not isinstance(champion, str):
        raise InputError(f"name the champion: a system of the table, not {champion!r}")
    row = scores.index(champion)
    if scores.missing[row].all():
        raise InputError(
            f"the champion {champion!r} has no score in this table, so nothing can be compared "
            "with it. Hint: name another champion, or add its scores"
        )
    return row


def challenger_rows(
    scores: ScoreMatrix, champion: str, systems: str | Iterable[str] | None
) -> list[int]:
    """Rows of the challengers: those named, or everyone but the champion."""
    if systems is None:
        rows = [i for i, name in enumerate(scores.systems) if name != champion]
    else:
        chosen = chosen_names(systems, scores.systems, "a challenger")
        rows = [scores.index(name) for name in chosen]
        if champion in chosen:
            raise InputError(f"{champion!r} is the champion and cannot be its own challenger")
    if not rows:
        raise InputError(f"the table holds no system but the champion {champion!r}")
    return rows


def check_interval(interval: Any) -> float:
    """Refuse an interval that is not a probability."""
    if not (is_number(interval) and 0.0 < interval < 1.0):
        raise InputError(f"interval must be between 0 and 1, such as 0.95, but got {interval!r}")
    return float(interval)


def check_count(name: str, value: Any, minimum: int) -> int:
    """Refuse what is no whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < minimum:
        raise InputError(f"{name} must be an integer not less than {minimum}, but got {value!r}")
    return int(value)


def loss_weights(r: Any, *, minimum: float = 0.0) -> tuple[float, ...]:
    """One r or several as numbers, each at least `minimum`."""
    several = isinstance(r, Iterable) and not isinstance(r, (str, bytes, Mapping))
    values = tuple(np.ravel(r) if isinstance(r, np.ndarray) else r if several else (r,))
    if not values:
        raise InputError("give at least one r")
    for value in values:
        if not (is_number(value) and minimum <= value < math.inf):
            raise InputError(f"r must be a number not less than {minimum:g}, but got {value!r}")
    return tuple(float(value) for value in values)


def is_number(value: Any) -> bool:
    """Whether a value is a real number, and no truth value or text."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
