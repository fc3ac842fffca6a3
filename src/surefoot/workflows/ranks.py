"""Ranks with uncertainty, and pairs of systems: from a fitted model."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.inference.bayes.expected import (
    expected_by_system,
    region_of_equivalence,
    score_sd,
)
from surefoot.inference.bayes.paired import unpooled_glass_delta
from surefoot.inference.bayes.ranking import count_noise, rank_systems
from surefoot.results.posterior import Posterior
from surefoot.results.ranks import Pairs, Ranks
from surefoot.workflows.comparison import chosen_names
from surefoot.workflows.posterior import (
    Priors,
    as_posterior,
    challenger_rows,
    champion_row,
    check_interval,
    is_number,
    provenance,
    told,
)
from surefoot.workflows.ppd_risk import listed
from surefoot.workflows.verdicts import plural

FloatArray = npt.NDArray[np.float64]


def ranks(
    scores: Any,
    *,
    family: str | None = None,
    interval: float = 0.95,
    draws: int | None = None,
    priors: Priors = (),
    one_above: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> Ranks:
    """Rank all systems, with intervals of the ranks and the pairs that separate.

    Parameters as in `ppd_risk`, and ``zoib_rank`` among the families.

    ``separates_below`` counts the systems whose credible interval lies wholly below this one's
    (thesis, Table 5.3); ``better_than`` the systems that are worse by the interval of the
    difference, which is sharper.
    """
    check_interval(interval)
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        priors=priors, one_above=one_above, show=progress,
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
        headline=told(
            posterior,
            *_verdict(
                names,
                found.p_best[best],
                found.rank_low[best],
                found.rank_high[best],
                (below, noise[best]),
                (above, noise[worst]),
            ),
        ),
        inputs=posterior.inputs,
    )


def _verdict(
    names: tuple[str, ...],
    p_best: float,
    rank_low: float,
    rank_high: float,
    below: tuple[int, tuple[int, int]],
    above: tuple[int, tuple[int, int]],
) -> tuple[str, ...]:
    """Who is first, and how many systems the first and the last separate from."""
    if len(names) == 1:
        return (f"{names[0]} is the only system of the table, so there is nothing to rank.",)
    rank = f"{rank_low:.0f}" if rank_low == rank_high else f"{rank_low:.0f} to {rank_high:.0f}"
    return (
        f"{names[0]} ranks first: {p_best:.1%} chance to be the best, rank {rank}.",
        f"The interval of its effect lies above that of {below[0]} of the {len(names) - 1} other "
        f"systems{_noise(*below)}; the interval of {names[-1]} lies below that of "
        f"{above[0]}{_noise(*above)}.",
    )


def _noise(count: int, span: tuple[int, int]) -> str:
    """What finitely many draws leave open about a count."""
    if span == (count, count):
        return ""
    return f" ({span[0]} to {span[1]} within the noise of finitely many draws)"


def pairs(
    scores: Any,
    *,
    champion: str | None = None,
    systems: str | Iterable[str] | None = None,
    family: str | None = None,
    equivalence: float = 0.01,
    interval: float = 0.95,
    draws: int | None = None,
    priors: Priors = (),
    one_above: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> Pairs:
    """Pairs of systems: difference, P(better), equivalence, effect size.

    Parameters as in `ppd_risk`, and ``zoib_rank`` among the families, without Glass' delta.

    Parameters
    ----------
    champion : str, optional
        Compare every other system with this one; without, every pair once, the better system by
        posterior mean first.
    systems : sequence of str, optional
        Systems to report.
    equivalence : float
        Half width of the region of practical equivalence, in units of the scores.
    """
    check_interval(interval)
    if not (is_number(equivalence) and 0 <= equivalence < math.inf):
        raise InputError(f"equivalence must be a number not below 0, but got {equivalence!r}")
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        priors=priors, one_above=one_above, champion=champion, systems=systems, show=progress,
    )  # fmt: skip
    table = posterior.scores
    means = expected_by_system(posterior)
    if champion is not None:
        against = [(challenger_rows(table, champion, systems), champion_row(table, champion))]
    else:
        # the later systems in turn, each against all that are better
        order = _best_first(table, means, systems)
        against = [(order[:k], order[k]) for k in range(1, len(order))]
    parts = [_against(posterior, means, *group, equivalence, interval) for group in against]
    cells: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    first = [row for rows, _ in against for row in rows]
    second = [base for rows, base in against for _ in rows]
    if champion is None:
        place = {row: k for k, row in enumerate(order)}
        ranked = np.lexsort([[place[row] for row in names] for names in (second, first)])
        first, second = [first[k] for k in ranked], [second[k] for k in ranked]
        cells = {name: values[ranked] for name, values in cells.items()}
    unpooled = [
        # a fit of its own for each pair: for those with a champion
        unpooled_glass_delta(table.values[i], table.values[j]) if champion is not None else np.nan
        for i, j in zip(first, second, strict=True)
    ]
    found = Pairs(
        systems=tuple(table.systems[i] for i in first),
        others=tuple(table.systems[j] for j in second),
        glass_delta_unpooled=np.array(unpooled),
        settings={
            "champion": champion, "equivalence": equivalence, "interval": interval, "seed": seed,
            **provenance(posterior),
        },
        inputs=posterior.inputs,
        **cells,
    )  # fmt: skip
    sentence = (
        _of_all(found, interval) if champion is None else _of_champion(found, champion, interval)
    )
    return replace(found, headline=told(posterior, sentence))


def _best_first(
    table: ScoreMatrix, means: FloatArray, systems: str | Iterable[str] | None
) -> list[int]:
    """Rows of the systems to compare with each other, by posterior mean."""
    chosen = (
        table.systems
        if systems is None
        else chosen_names(systems, table.systems, "the systems to compare")
    )
    if len(chosen) < 2:
        raise InputError(f"a pair needs two systems, but there is only {chosen[0]!r}")
    rows = np.array([table.index(name) for name in chosen])
    return [int(i) for i in rows[np.argsort(-means.mean(axis=0)[rows], kind="stable")]]


def _against(
    posterior: Posterior,
    means: FloatArray,
    rows: list[int],
    base: int,
    equivalence: float,
    interval: float,
) -> dict[str, Any]:
    """The numbers of several systems against one, a column of `Pairs` each."""
    difference = means[:, rows] - means[:, [base]]
    tails = ((1 - interval) / 2, (1 + interval) / 2)
    low, high = np.quantile(difference, tails, axis=0)
    rope = region_of_equivalence(difference, equivalence)
    if posterior.gains is None:
        delta = difference / score_sd(posterior, base)[:, None]
    else:  # gains of single ranks have no spread of scores
        delta = np.full_like(difference, np.nan)
    delta_low, delta_high = np.quantile(delta, tails, axis=0)
    effects = posterior.draws["system"]
    low_base, high_base = np.quantile(effects[:, base], tails)
    low_rows, high_rows = np.quantile(effects[:, rows], tails, axis=0)
    return {
        "difference": difference.mean(axis=0),
        "low": low,
        "high": high,
        "p_better": (difference > 0).mean(axis=0) + 0.5 * (difference == 0).mean(axis=0),
        "p_worse_than_rope": rope.worse,
        "p_equivalent": rope.equivalent,
        "p_better_than_rope": rope.better,
        "glass_delta": delta.mean(axis=0),
        "glass_delta_low": delta_low,
        "glass_delta_high": delta_high,
        "overlap": (low_rows <= high_base) & (high_rows >= low_base),
    }


def _of_champion(found: Pairs, champion: str, interval: float) -> str:
    width = found.settings["equivalence"]
    tail = (1 + interval) / 2
    groups = [
        [name for name, p in zip(found.systems, mass, strict=True) if p > least]
        for mass, least in (
            (found.p_better_than_rope, tail),
            (found.p_worse_than_rope, tail),
            (found.p_equivalent, interval),
        )
    ]
    better, worse, same = groups
    return (
        f"Better than {champion} by more than {width:g}: {listed(better)}; worse: "
        f"{listed(worse)}; as good within {width:g}: {listed(same)}; undecided: "
        f"{len(found.systems) - sum(map(len, groups))} of {len(found.systems)}."
    )


def _of_all(found: Pairs, interval: float) -> str:
    n, width = len(found.systems), found.settings["equivalence"]
    apart = int((~found.overlap).sum())
    better = int((found.p_better_than_rope > (1 + interval) / 2).sum())
    same = int((found.p_equivalent > interval).sum())
    return (
        f"Of {plural(n, 'pair')} {apart} separate (the intervals of their effects do not overlap); "
        f"in {better} one system is better by more than {width:g}, in {same} they are as good "
        f"within {width:g}."
    )
