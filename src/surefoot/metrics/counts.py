"""Counts that trec_eval prints beside the measures."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from surefoot.data.rankings import JudgedRankings
from surefoot.metrics.measure import Conditions, Measure, TopicScores, exact, relevant_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved(Measure):
    """``NumRet``: documents retrieved."""

    NAME: ClassVar[str] = "NumRet"
    SUMMARY: ClassVar[str] = "sum"

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Retrieved documents on every topic."""
        count = np.diff(judged.offsets).astype(np.float64)
        if conditions.depth:
            count = np.minimum(count, conditions.depth)
        return TopicScores(count, count, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relevant(Measure):
    """``NumRel``: known relevant documents."""

    NAME: ClassVar[str] = "NumRel"
    SUMMARY: ClassVar[str] = "sum"

    rel: float | None = None

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Relevant documents of every topic."""
        level = relevant_from(self.rel, conditions).level
        topic = np.repeat(np.arange(len(judged.topics)), np.diff(judged.qrel_offsets))
        count = np.bincount(topic[judged.qrel_grade >= level], minlength=len(judged.topics)).astype(
            np.float64
        )
        return TopicScores(count, count, count)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevantRetrieved(Measure):
    """``NumRelRet``: relevant documents retrieved."""

    NAME: ClassVar[str] = "NumRelRet"
    SUMMARY: ClassVar[str] = "sum"

    rel: float | None = None

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """Relevant documents retrieved on every topic."""
        gains = relevant_from(self.rel, conditions)
        return exact(self.kernel("counted", judged, conditions, gains=gains))


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics(Measure):
    """``NumQ``: topics evaluated."""

    NAME: ClassVar[str] = "NumQ"
    SUMMARY: ClassVar[str] = "sum"

    def score(self, judged: JudgedRankings, conditions: Conditions) -> TopicScores:
        """One for every topic."""
        count = np.ones(len(judged.topics))
        return TopicScores(count, count, count)
