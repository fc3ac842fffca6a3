"""Topic difficulty from a fitted model."""

from typing import Any

import numpy as np

from surefoot.inference.bayes.difficulty import topic_difficulty
from surefoot.inference.bayes.expected import expected_by_topic
from surefoot.results.difficulty import Difficulty
from surefoot.workflows.posterior import (
    Priors,
    as_posterior,
    check_interval,
    provenance,
    told,
)
from surefoot.workflows.ppd_risk import listed


def difficulty(
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
) -> Difficulty:
    """Which queries are hard, medium or easy for the systems of the table.

    Parameters as in `ppd_risk`, and ``zoib_rank`` among the families.

    Thesis, Sect. 4.2.4: a topic is hard when the interval of its effect lies below 0, the
    difficulty of an average topic, and easy when it lies above.
    """
    check_interval(interval)
    posterior = as_posterior(
        scores, family=family, default="zoib", seed=seed, threads=threads, draws=draws,
        priors=priors, one_above=one_above, show=progress,
    )  # fmt: skip
    found = topic_difficulty(posterior.draws["topic"], interval=interval)
    expected = expected_by_topic(posterior)
    low, high = np.quantile(expected, ((1 - interval) / 2, (1 + interval) / 2), axis=0)
    order = np.argsort(found.mean, kind="stable")
    topics = tuple(posterior.topics[j] for j in order)
    level = tuple(found.level[j] for j in order)
    count = {name: level.count(name) for name in ("hard", "medium", "easy")}
    return Difficulty(
        topics=topics,
        level=level,
        mean=found.mean[order],
        low=found.low[order],
        high=found.high[order],
        p_hard=found.p_hard[order],
        score=expected.mean(axis=0)[order],
        score_low=low[order],
        score_high=high[order],
        settings={"interval": interval, "seed": seed, **provenance(posterior)},
        headline=told(
            posterior,
            f"Of {len(topics)} queries {count['hard']} are hard, {count['easy']} easy and "
            f"{count['medium']} in between.",
            f"Hardest: {listed(topics[: min(3, len(topics))])}.",
        ),
        inputs=posterior.inputs,
    )
