"""Which queries may get worse if the champion is replaced."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from surefoot.inference.bayes.predictive import topic_forecasts
from surefoot.results.forecast import Forecast
from surefoot.workflows.posterior import (
    Priors,
    as_posterior,
    challenger_rows,
    champion_row,
    check_interval,
    provenance,
    told,
)


def forecast(
    scores: Any,
    *,
    champion: str,
    systems: str | Iterable[str] | None = None,
    family: str | None = None,
    interval: float = 0.95,
    draws: int | None = None,
    priors: Priors = (),
    one_above: float | None = None,
    seed: int = 0,
    threads: int = 0,
    progress: bool | None = False,
) -> Forecast:
    """Per-query probability of a loss, expected difference and its predictive interval.

    Arguments as in `ppd_risk`; the replicates are the same for the same seed.
    """
    check_interval(interval)
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        priors=priors, one_above=one_above, champion=champion, systems=systems, show=progress,
    )  # fmt: skip
    table = posterior.scores
    base = champion_row(table, champion)
    rows = challenger_rows(table, champion, systems)
    parts = list(
        topic_forecasts(posterior, base, rows, interval=interval, seed=seed, threads=threads)
    )
    columns = {
        field: np.stack([getattr(part, source) for part in parts])
        for field, source in (
            ("p_worse", "p_worse"),
            ("p_better", "p_better"),
            ("expected_delta", "expected"),
            ("expected_loss", "expected_loss"),
            ("low", "low"),
            ("median", "median"),
            ("high", "high"),
        )
    }
    names = tuple(table.systems[i] for i in rows)
    lines = []
    for name, p, loss in zip(names, columns["p_worse"], columns["expected_loss"], strict=True):
        worst = int(np.argmin(loss))
        lines.append(
            f"{name} in place of {champion}: expect {p.sum():.1f} of {len(table.topics)} queries "
            f"to get worse; the largest expected loss is on {table.topics[worst]} "
            f"({p[worst]:.0%} chance to lose)."
        )
    return Forecast(
        champion=champion,
        family=posterior.family,
        systems=names,
        topics=table.topics,
        observed_delta=table.values[rows] - table.values[base],
        settings={
            "champion": champion, "interval": interval, "seed": seed, **provenance(posterior),
        },
        headline=told(posterior, *_first(lines)),
        inputs=posterior.inputs,
        **columns,
    )  # fmt: skip


def _first(lines: list[str], most: int = 4) -> list[str]:
    """A few sentences, and how many there would be more."""
    more = len(lines) - most
    if more <= 0:
        return lines
    return [*lines[:most], f"{more} more challengers in the table: --system chooses."]
