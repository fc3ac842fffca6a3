"""Per-topic scores of runs, with their bounds."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.data.scores import ScoreMatrix, unknown_name
from surefoot.errors import AlignmentError
from surefoot.results.record import Column, Result

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation(Result):
    """Systems x measures x topics.

    Parameters
    ----------
    systems, measures, topics : tuple of str
        Names, in the order of the arrays; `labels` are the measures as they were asked for.
    has_bounds : tuple of bool
        Per measure, whether unjudged documents leave a residual.
    value, lower, upper : (n_systems, n_measures, n_topics) arrays
        Scores and bounds, NaN where a topic does not count for a system.
    mean, mean_lower, mean_upper : (n_systems, n_measures) arrays
        Over the topics that count; a sum for counts, a geometric mean where asked for.
    missing : (n_systems, n_topics) bool array
        Topics of the judgments that a run does not have.
    per_topic : bool
        Whether the rows list every topic before the mean.
    notes : tuple of str
        What the user should know about the inputs.
    strangers : tuple of str
        Those of the notes that name a run without a judged document.
    """

    command: ClassVar[str] = "evaluate"

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    labels: tuple[str, ...]
    topics: tuple[str, ...]
    has_bounds: tuple[bool, ...]
    value: FloatArray = field(repr=False)
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)
    mean: FloatArray = field(repr=False)
    mean_lower: FloatArray = field(repr=False)
    mean_upper: FloatArray = field(repr=False)
    missing: npt.NDArray[np.bool_] = field(repr=False)
    per_topic: bool = False
    notes: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()

    def columns(self) -> dict[str, Column]:
        """`system, measure, topic, value, lower, upper`; the topic `all` is the mean."""
        system: list[str] = []
        measure: list[str] = []
        topic: list[str] = []
        value: list[float] = []
        lower: list[float] = []
        upper: list[float] = []
        for i, s in enumerate(self.systems):
            for j, m in enumerate(self.measures):
                counted = self._counted(i, j) if self.per_topic else np.empty(0, np.intp)
                system += [s] * (len(counted) + 1)
                measure += [m] * (len(counted) + 1)
                topic += [*(self.topics[t] for t in counted), "all"]
                value += [*self.value[i, j, counted].tolist(), float(self.mean[i, j])]
                lower += [*self.lower[i, j, counted].tolist(), float(self.mean_lower[i, j])]
                upper += [*self.upper[i, j, counted].tolist(), float(self.mean_upper[i, j])]
        return {
            "system": system,
            "measure": measure,
            "topic": topic,
            "value": np.array(value),
            "lower": np.array(lower),
            "upper": np.array(upper),
        }

    def display(self) -> dict[str, Column]:
        """A row a system, a column a measure with its residual, best first by the first measure."""
        order = np.argsort(-self.mean[:, 0], kind="stable").tolist()
        picked = [
            (i, t)
            for i in order
            for t in [*(self._counted(i, 0).tolist() if self.per_topic else []), None]
        ]
        cells: dict[str, Column] = {"system": [self.systems[i] for i, _ in picked]}
        if self.per_topic:
            cells["topic"] = ["all" if t is None else self.topics[t] for _, t in picked]
        for j, name in enumerate(self.measures):
            value = [self._cell(self.mean, self.value, i, j, t) for i, t in picked]
            upper = [self._cell(self.mean_upper, self.upper, i, j, t) for i, t in picked]
            if any(u > v for u, v in zip(upper, value, strict=True)):
                cells[name] = [f"{v:.4f} +{u - v:.4f}" for v, u in zip(value, upper, strict=True)]
            else:
                cells[name] = value
        return cells

    @staticmethod
    def _cell(mean: FloatArray, each: FloatArray, i: int, j: int, t: int | None) -> float:
        return float(mean[i, j] if t is None else each[i, j, t])

    def matrix(self, measure: str | None = None) -> ScoreMatrix:
        """The scores of one measure as a score matrix; NaN where a topic does not count."""
        j = 0
        if measure is not None:
            known = (*self.measures, *self.labels)
            if measure not in known:
                raise AlignmentError(unknown_name("measure", measure, self.measures))
            j = known.index(measure) % len(self.measures)
        bounds = self.has_bounds[j]
        return ScoreMatrix(
            self.systems,
            self.topics,
            self.value[:, j],
            measure=self.measures[j],
            lower=self.lower[:, j] if bounds else None,
            upper=self.upper[:, j] if bounds else None,
        )

    def trec_eval_text(self) -> str:
        """Lines ``name<TAB>topic<TAB>value``: topics in order where wanted, then the means."""
        lines = [_trec_line(label) for label in self.labels]
        # a topic's lines at once: there can be many
        topic_lines = "".join(lines)
        out = []
        for i, system in enumerate(self.systems):
            if len(self.systems) > 1:
                out.append(f"runid\tall\t{system}\n")
            if self.per_topic:
                counted = self._counted(i, 0)
                scores = self.value[i][:, counted].T.tolist()
                for t, row in zip(counted.tolist(), scores, strict=True):
                    out.append(topic_lines % tuple(x for v in row for x in (self.topics[t], v)))
            out += [line % ("all", v) for line, v in zip(lines, self.mean[i].tolist(), strict=True)]
        return "".join(out)

    def _counted(self, system: int, measure: int) -> npt.NDArray[np.intp]:
        return np.flatnonzero(~np.isnan(self.value[system, measure]))


def _trec_line(label: str) -> str:
    """The pattern of a line; counts have no decimals."""
    decimals = 0 if label.lower().startswith("num") else 4
    return f"{label.replace('%', '%%')}\t%s\t%.{decimals}f\n"
