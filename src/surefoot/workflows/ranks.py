"""Ranks with uncertainty, and pairs of systems: from a fitted model."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.inference.bayes.expected import (
    expected_by_system,
    region_of_equivalence,
    score_sd,
)
from surefoot.inference.bayes.paired import unpooled_glass_delta
from surefoot.inference.bayes.ranking import count_noise, rank_systems
from surefoot.results.ranks import Pairs, Ranks
from surefoot.workflows.posterior import as_posterior, doubts, provenance
from surefoot.workflows.ppd_risk import challenger_rows, check_interval, listed


def ranks(
    scores: Any,
    *,
    family: str | None = None,
    interval: float = 0.95,
    draws: int | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> Ranks:
    """Rank all systems, with intervals of the ranks and the pairs that separate.

    Parameters as in `ppd_risk`. ``separates_below`` counts the systems whose credible interval lies
    wholly below this one's (thesis, Table 5.3); ``better_than`` the systems that are worse by
    the interval of the difference, which is sharper.
    """
    check_interval(interval)
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        show=progress,
    )  # fmt: skip
    found = rank_systems(posterior.draws["system"], interval=interval)
    order = np.argsort(-found.mean, kind="stable")
    grid = np.ix_(order, order)
    names = tuple(posterior.systems[i] for i in order)
    best, worst = int(order[0]), int(order[-1])
    worth = posterior.effective_draws if posterior.effective_draws > 0 else posterior.n_draws
    noise = {
        row: count_noise(posterior.draws["system"], row, interval=interval, effective_draws=worth)
        for row in (best, worst)
    }
    below, above = int(found.separated[best].sum()), int(found.separated[:, worst].sum())
    return Ranks(
        family=posterior.family,
        systems=names,
        score=expected_by_system(posterior).mean(axis=0)[order],
        mean=found.mean[order],
        low=found.low[order],
        high=found.high[order],
        rank=found.rank[order],
        rank_low=found.rank_low[order],
        rank_high=found.rank_high[order],
        p_best=found.p_best[order],
        separated=found.separated[grid],
        distinct=found.distinct[grid],
        p_better=found.p_better[grid],
        settings={
            "interval": interval,
            "seed": seed,
            "best_separates": [below, *noise[best]],
            "worst_separates": [above, *noise[worst]],
            **provenance(posterior),
        },
        headline=(
            f"{names[0]} is most likely the best ({found.p_best[best]:.0%}); its rank is between "
            f"{found.rank_low[best]:.0f} and {found.rank_high[best]:.0f}.",
            f"Its interval lies above that of {below} of {len(names) - 1} systems "
            f"({_span(noise[best])} within sampling noise); that of {names[-1]} lies below "
            f"{above} ({_span(noise[worst])}).",
            *doubts(posterior),
        ),
        inputs=posterior.inputs,
    )


def pairs(
    scores: Any,
    *,
    champion: str,
    systems: str | Iterable[str] | None = None,
    family: str | None = None,
    equivalence: float = 0.01,
    interval: float = 0.95,
    draws: int | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> Pairs:
    """Each challenger against the champion: difference, P(better), equivalence, effect size.

    Parameters
    ----------
    equivalence : float
        Half width of the region of practical equivalence, in units of the scores.
    """
    check_interval(interval)
    if not equivalence >= 0:
        raise InputError(f"equivalence must not be negative, but got {equivalence:g}")
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        show=progress,
    )  # fmt: skip
    table = posterior.scores
    base = table.index(champion)
    rows = challenger_rows(table.systems, champion, systems, index=table.index)
    means = expected_by_system(posterior)
    difference = means[:, rows] - means[:, [base]]
    delta = difference / score_sd(posterior, base)[:, None]
    tails = ((1 - interval) / 2, (1 + interval) / 2)
    low, high = np.quantile(difference, tails, axis=0)
    delta_low, delta_high = np.quantile(delta, tails, axis=0)
    rope = region_of_equivalence(difference, equivalence)
    effect_low, effect_high = np.quantile(posterior.draws["system"], tails, axis=0)
    names = tuple(table.systems[i] for i in rows)
    p_better = (difference > 0).mean(axis=0) + 0.5 * (difference == 0).mean(axis=0)
    better = [n for n, p in zip(names, rope.better, strict=True) if p > tails[1]]
    worse = [n for n, p in zip(names, rope.worse, strict=True) if p > tails[1]]
    same = [n for n, p in zip(names, rope.equivalent, strict=True) if p > interval]
    return Pairs(
        systems=names,
        others=(champion,) * len(names),
        difference=difference.mean(axis=0),
        low=low,
        high=high,
        p_better=p_better,
        p_worse_than_rope=rope.worse,
        p_equivalent=rope.equivalent,
        p_better_than_rope=rope.better,
        glass_delta=delta.mean(axis=0),
        glass_delta_low=delta_low,
        glass_delta_high=delta_high,
        glass_delta_unpooled=np.array(
            [unpooled_glass_delta(table.values[i], table.values[base]) for i in rows]
        ),
        overlap=(effect_low[rows] <= effect_high[base]) & (effect_high[rows] >= effect_low[base]),
        settings={
            "champion": champion, "equivalence": equivalence, "interval": interval, "seed": seed,
            **provenance(posterior),
        },
        headline=(
            f"Better than {champion} by more than {equivalence:g}: {listed(better)}; worse: "
            f"{listed(worse)}; as good within {equivalence:g}: {listed(same)}; undecided: "
            f"{len(names) - len(better) - len(worse) - len(same)} of {len(names)}.",
            *doubts(posterior),
        ),
        inputs=posterior.inputs,
    )  # fmt: skip


def _span(noise: tuple[int, int]) -> str:
    return f"{noise[0]} to {noise[1]}" if noise[0] != noise[1] else f"{noise[0]}"
