"""PPDRisk-: is a challenger riskier than the champion on new scores of these queries?"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.inference.bayes.engines import use_device
from surefoot.inference.bayes.predictive import central, predicted_risk, risk_replicates
from surefoot.render.progress import progress as show_progress
from surefoot.results.ppd_risk import PpdRisk
from surefoot.workflows.comparison import chosen_names
from surefoot.workflows.posterior import as_posterior, doubts, provenance
from surefoot.workflows.verdicts import times


def ppd_risk(
    scores: Any,
    *,
    champion: str,
    r: float | Sequence[float] = (1.0, 2.0, 5.0, 10.0),
    family: str | None = None,
    systems: str | Iterable[str] | None = None,
    interval: float = 0.95,
    draws: int | None = None,
    device: str = "cpu",
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> PpdRisk:
    """Posterior predictive risk of replacing the champion, corrected for many systems.

    Parameters
    ----------
    scores : table, fit file or Posterior
        Anything that `read_scores` takes; or a fit, from memory or from a file.
    champion : str
        The system that would be replaced.
    r : float or sequence of float
        How many times a loss counts as much as a gain (``r = 1 + alpha``).
    family : str, optional
        ``zoib`` (the default: scores within 0 and 1), ``gaussian``, ``student``, ``skew_normal``.
    systems : sequence of str, optional
        Systems to report; the others still inform the model.
    interval : float
        Probability of the predictive interval.
    draws : int, optional
        Posterior draws.
    device : str
        Where to fit and to draw replicates: ``cpu``, ``gpu`` or ``jax-cpu``, as in `fit`.

    Returns
    -------
    PpdRisk
        ``significant`` says whether the predictive interval of URisk- excludes zero: riskier above
        it, safe below it.

    Notes
    -----
    Benham (2023), Sect. 5.2: URisk- of each replicate is ``-(G + r L) / J`` with G the sum of gains
    and L the (negative) sum of losses over the J topics.
    """
    levels = _levels(r)
    accelerator = use_device(device)
    check_interval(interval)
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        device=device, show=progress,
    )  # fmt: skip
    table = posterior.scores
    base = table.index(champion)
    others = challenger_rows(table.systems, champion, systems, index=table.index)
    with show_progress("replicates", show=progress) as update:
        replicates = risk_replicates(
            posterior, base, others,
            seed=seed, threads=threads, accelerator=accelerator, update=update,
        )  # fmt: skip
    risks = [
        predicted_risk(replicates, level, interval=interval, accelerator=accelerator)
        for level in levels
    ]
    names = tuple(table.systems[i] for i in others)
    low, middle, high = central(replicates.worse.T.astype(np.float64), interval)
    result = {
        name: np.column_stack([getattr(risk, name) for risk in risks])
        for name in ("median", "low", "high", "p_risky", "significant")
    }
    return PpdRisk(
        champion=champion,
        family=posterior.family,
        systems=names,
        r=levels,
        gain=replicates.gains.mean(axis=0) / replicates.n_topics,
        loss=replicates.losses.mean(axis=0) / replicates.n_topics,
        worse=middle,
        worse_low=low,
        worse_high=high,
        n_topics=replicates.n_topics,
        gain_draws=replicates.gains,
        loss_draws=replicates.losses,
        settings={
            "champion": champion,
            "form": "minus",
            "r": list(levels),
            "interval": interval,
            "seed": seed,
            "device": "cpu" if accelerator is None else accelerator.label,
            **provenance(posterior),
        },
        headline=(
            *_verdict(champion, names, levels, result, replicates.n_topics, interval),
            *doubts(posterior),
        ),
        inputs=posterior.inputs,
        **result,
    )


def challenger_rows(
    known: Sequence[str], champion: str, systems: str | Iterable[str] | None, *, index: Any
) -> list[int]:
    """Rows of the challengers: those named, or everyone but the champion."""
    if systems is None:
        rows = [i for i, name in enumerate(known) if name != champion]
    else:
        chosen = chosen_names(systems, known, "a challenger")
        rows = [index(name) for name in chosen]
        if champion in chosen:
            raise InputError(f"{champion!r} is the champion and cannot be its own challenger")
    if not rows:
        raise InputError(f"the table holds no system but the champion {champion!r}")
    return rows


def check_interval(interval: float) -> None:
    """Refuse an interval that is not a probability."""
    if not 0.0 < interval < 1.0:
        raise InputError(f"interval must be between 0 and 1, such as 0.95, but got {interval:g}")


def _levels(r: float | Sequence[float]) -> tuple[float, ...]:
    levels = tuple(float(v) for v in (r if isinstance(r, Sequence) else np.atleast_1d(r)))
    if not levels:
        raise InputError("give at least one r")
    for value in levels:
        if not (np.isfinite(value) and value >= 0):
            raise InputError(f"r must be a number not less than 0, but got {value:g}")
    return levels


def _verdict(
    champion: str,
    names: tuple[str, ...],
    levels: tuple[float, ...],
    result: dict[str, Any],
    n_topics: int,
    interval: float,
) -> tuple[str, ...]:
    lines = []
    for k, r in enumerate(levels):
        risky = [n for n, low in zip(names, result["low"][:, k], strict=True) if low > 0]
        safe = [n for n, high in zip(names, result["high"][:, k], strict=True) if high < 0]
        counted = "as much as gains" if r == 1 else f"{times(r - 1)} as much as gains"
        lines.append(
            f"If losses count {counted} (r = {r:g}), replacing {champion} is risky with "
            f"{listed(risky)} and safe with {listed(safe)}; "
            f"{len(names) - len(risky) - len(safe)} of {len(names)} are undecided."
        )
    lines.append(
        f"From {interval:.0%} predictive intervals of new scores on these {n_topics} queries; "
        "positive values are risk."
    )
    return tuple(lines)


def listed(names: Sequence[str], limit: int = 4) -> str:
    """Names for a sentence: none, a few, or a few and how many more."""
    if not names:
        return "none"
    if len(names) > limit:
        return f"{', '.join(names[: limit - 1])} and {len(names) - limit + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
