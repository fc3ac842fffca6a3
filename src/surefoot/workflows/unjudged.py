"""What unjudged documents could do to a comparison, and which of them to judge next.

Two systems share unjudged documents. Where a measure is a sum over documents (P, RBP, CG, DCG), a
document that both show moves both scores at once, so the difference has a narrower range than the
two scores' bounds allow: exact but for what was not shown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.io.join import judge_run
from surefoot.io.trec import read_qrels
from surefoot.metrics.grammar import parse_measures
from surefoot.metrics.unjudged_worth import Worth, unjudged_worth
from surefoot.workflows.comparison import Comparison
from surefoot.workflows.evaluate import named_runs

FloatArray = npt.NDArray[np.float64]

# of the differences a document makes
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Unjudged documents of several systems under one measure.

    Parameters
    ----------
    topics : dict
        Number of each topic of the judgments.
    worth : dict
        By system; empty where the measure is no sum over documents.
    first : dict
        By system, then by topic number: its unjudged documents, best first.
    """

    topics: Mapping[str, int]
    worth: Mapping[str, Worth] = field(repr=False)
    first: Mapping[str, tuple[tuple[str, ...], ...]] = field(repr=False)

    def reach(
        self, system: str, champion: str, topics: Iterable[str]
    ) -> tuple[FloatArray, FloatArray] | None:
        """How far the difference on each topic could fall and rise; None where unknown."""
        if system not in self.worth or champion not in self.worth:
            return None
        challenger, base = self.worth[system], self.worth[champion]
        ends = []
        for topic in topics:
            if topic not in self.topics:
                return None
            j = self.topics[topic]
            changes = _changes(challenger.documents[j], base.documents[j]).values()
            down = sum(c for c in changes if c < 0) - base.rest[j]
            up = sum(c for c in changes if c > 0) + challenger.rest[j]
            ends.append((down, up))
        down, up = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        return down, up

    def documents(self, system: str, champion: str, topic: str, limit: int = 3) -> list[str]:
        """The unjudged documents that could change the difference on a topic most.

        Where the measure is no sum over documents: those that either system shows first.
        """
        j = self.topics.get(topic)
        if j is None:
            return []
        if system in self.worth and champion in self.worth:
            changes = _changes(self.worth[system].documents[j], self.worth[champion].documents[j])
            order = sorted(changes, key=lambda d: -abs(changes[d]))
            return order[: 2 * limit]
        shown = [self.first[s][j] for s in (system, champion) if s in self.first]
        return list(dict.fromkeys(d for ids in shown for d in ids[:limit]))


def _changes(challenger: Mapping[str, float], base: Mapping[str, float]) -> dict[str, float]:
    """What full gain for each document does to the difference, nothing left out."""
    both = dict.fromkeys((*challenger, *base))
    found = {d: challenger.get(d, 0.0) - base.get(d, 0.0) for d in both}
    return {d: change for d, change in found.items() if abs(change) > _NOTHING}


def unjudged_of(
    compared: Comparison, qrels: Any, runs: Any, *, threads: int = 0
) -> Unjudged | None:
    """The unjudged documents of the systems under comparison; None without judgments.

    Parameters
    ----------
    compared : Comparison
        Scores with bounds, or there is nothing to know.
    qrels, runs
        Judgments and runs that they come from, as `evaluate` takes them.
    """
    matrix = compared.matrix
    if qrels is None or not matrix.has_bounds or not matrix.measure:
        return None
    wanted = {matrix.systems[i] for i in compared.challengers}
    wanted |= {c.name for c in compared.champions if c.system}
    judgments = read_qrels(qrels)
    asked = parse_measures([matrix.measure])[0].measure
    worth: dict[str, Worth] = {}
    first: dict[str, tuple[tuple[str, ...], ...]] = {}
    topics: tuple[str, ...] = judgments.topics
    for label, source in named_runs(runs):
        judged = judge_run(judgments, source, threads=threads)
        name = label or judged.name
        if name not in wanted:
            continue
        topics = judged.topics
        found = unjudged_worth(asked, judged)
        if found is not None:
            worth[name] = found
            continue
        unknown = [
            np.flatnonzero(np.isnan(judged.grade[a:b]))[:10]
            for a, b in zip(judged.offsets[:-1], judged.offsets[1:], strict=True)
        ]
        first[name] = tuple(
            tuple(judged.doc_ids(j)[k] for k in ranks) if len(ranks) else ()
            for j, ranks in enumerate(unknown)
        )
    return Unjudged({t: j for j, t in enumerate(topics)}, worth, first)
