"""PPDRisk-: is a challenger riskier than the champion on new scores of these queries?"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from surefoot.inference.bayes.engines import use_device
from surefoot.inference.bayes.predictive import central, predicted_risk, risk_replicates
from surefoot.render.progress import progress as show_progress
from surefoot.results.ppd_risk import PpdRisk
from surefoot.workflows.posterior import (
    Priors,
    as_posterior,
    challenger_rows,
    champion_row,
    check_interval,
    from_prior,
    loss_weights,
    provenance,
    told,
)
from surefoot.workflows.verdicts import queries, times


def ppd_risk(
    scores: Any,
    *,
    champion: str,
    r: float | Sequence[float] = (1.0, 2.0, 5.0, 10.0),
    family: str | None = None,
    systems: str | Iterable[str] | None = None,
    interval: float = 0.95,
    draws: int | None = None,
    priors: Priors = (),
    one_above: float | None = None,
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
    priors, one_above
        As in `fit`, for scores that are fitted here; refused with a fit, as `draws` is.
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
    levels = loss_weights(r)
    accelerator = use_device(device)
    check_interval(interval)
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        priors=priors, one_above=one_above, device=device, champion=champion, systems=systems,
        show=progress,
    )  # fmt: skip
    table = posterior.scores
    base = champion_row(table, champion)
    others = challenger_rows(table, champion, systems)
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
    kind = "predictive intervals of new scores"
    if from_prior(posterior):
        kind = "prior predictive intervals of scores"
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
        headline=told(
            posterior,
            *_verdict(champion, names, levels, result),
            f"From {100 * interval:g}% {kind} on these {queries(replicates.n_topics)}; positive "
            "values are risk.",
        ),
        inputs=posterior.inputs,
        **result,
    )


def _verdict(
    champion: str,
    names: tuple[str, ...],
    levels: tuple[float, ...],
    result: dict[str, Any],
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
    return tuple(lines)


def listed(names: Sequence[str], limit: int = 4) -> str:
    """Names for a sentence: none, a few, or a few and how many more."""
    if not names:
        return "none"
    if len(names) > limit:
        return f"{', '.join(names[: limit - 1])} and {len(names) - limit + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
