"""Draws -> summary rows, and the record that carries both."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.results.posterior import SCALARS, SUMMARY, FloatArray, Posterior
from surefoot.results.record import Column


def parameter_names(
    draws: Mapping[str, FloatArray], systems: tuple[str, ...], topics: tuple[str, ...]
) -> list[str]:
    """Names of all scalar parameters in the order of the summary."""
    names = [name for name in SCALARS if name in draws]
    names += [f"system[{name}]" for name in systems]
    return names + [f"topic[{name}]" for name in topics]


def parameter_draws(draws: Mapping[str, FloatArray]) -> list[FloatArray]:
    """The draws of all scalar parameters, in the order of `parameter_names`."""
    scalars = [draws[name] for name in SCALARS if name in draws]
    system, topic = draws["system"], draws["topic"]
    return [
        *scalars,
        *(system[:, i] for i in range(system.shape[1])),
        *(topic[:, j] for j in range(topic.shape[1])),
    ]


def _quantiles(values: FloatArray) -> list[float]:
    """As `numpy.quantile`, which selects six order statistics in the time of two sorts."""
    ordered = np.sort(values)
    out = []
    for share in (0.025, 0.5, 0.975):
        at = share * (len(ordered) - 1)
        low = int(at)
        high = min(low + 1, len(ordered) - 1)
        out.append(float(ordered[low] + (at - low) * (ordered[high] - ordered[low])))
    return out


def summarise(
    draws: Mapping[str, FloatArray],
    systems: tuple[str, ...],
    topics: tuple[str, ...],
    *,
    method: str,
    ess: Mapping[str, float] | None = None,
    rhat: Mapping[str, float] | None = None,
) -> dict[str, Column]:
    """Mean, sd and 2.5, 50, 97.5 % quantiles of every parameter."""
    names = parameter_names(draws, systems, topics)
    table: dict[str, list[Any]] = {name: [] for name in SUMMARY}
    for name, values in zip(names, parameter_draws(draws), strict=True):
        low, middle, high = _quantiles(values)
        row = (
            name,
            float(values.mean()),
            float(values.std(ddof=1)) if len(values) > 1 else float("nan"),
            float(low),
            float(middle),
            float(high),
            (ess or {}).get(name, float("nan")),
            (rhat or {}).get(name, float("nan")),
            method,
        )
        for column, value in zip(SUMMARY, row, strict=True):
            table[column].append(value)
    return dict(table)


def make_posterior(
    family: str,
    scores: ScoreMatrix,
    draws: Mapping[str, FloatArray],
    *,
    method: str,
    ess: Mapping[str, float] | None = None,
    rhat: Mapping[str, float] | None = None,
    **fields: Any,
) -> Posterior:
    """A `Posterior` with its summary, from equally weighted draws."""
    return Posterior(
        family=family,
        systems=scores.systems,
        topics=scores.topics,
        draws=draws,
        scores=scores,
        method=method,
        ess=ess or {},
        rhat=rhat or {},
        summary=summarise(draws, scores.systems, scores.topics, method=method, ess=ess, rhat=rhat),
        **fields,
    )
