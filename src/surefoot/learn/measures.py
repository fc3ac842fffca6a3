"""Effectiveness measures that know what a swap of two documents does to them.

NDCG here is the learning kind: gain 2^label - 1 unless label gains say otherwise. The others follow
the definitions of `surefoot.metrics`: relevant = grade >= 1, Chapelle's gain for ERR, gain = grade
over the highest grade for RBP and INST.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError, MeasureError
from surefoot.kernels.lambdas import (
    Doubles,
    Offsets,
    QueryMeasure,
    Ranks,
    Swap,
    ideal_totals,
    measure_queries,
    rank_documents,
)

_NAME = re.compile(
    r"(?P<name>ndcg|ap|map|err|rbp|inst)"
    r"(?:\((?P<key>p|T)=(?P<value>[0-9.]+)\))?(?:@(?P<cutoff>[1-9][0-9]*))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LearningMeasure:
    """One of nDCG@k, AP, ERR, RBP(p), INST(T), each with an optional cut-off but INST.

    Parameters
    ----------
    name : str
        Lower-case name of the family.
    cutoff : int or None
        Positions that count; None for all.
    parameter : float
        p of RBP or T of INST.
    label_gain : tuple of float, optional
        Gain of each label for NDCG; 2^label - 1 where absent.
    max_label : int, optional
        The highest grade; taken from the data where absent.
    """

    name: str
    cutoff: int | None = None
    parameter: float = 0.0
    label_gain: tuple[float, ...] | None = None
    max_label: int | None = None

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        label_gain: Sequence[float] | None = None,
        max_label: int | None = None,
    ) -> "LearningMeasure":
        """Read ``nDCG@10``, ``AP``, ``ERR@20``, ``RBP(p=0.8)``, ``INST(T=3)``."""
        match = _NAME.fullmatch(text.strip())
        if match is None:
            raise MeasureError(
                f"cannot learn for {text!r}. Hint: nDCG@k, AP, AP@k, ERR@k, RBP(p=0.8), INST(T=3)"
            )
        name = match["name"].lower().replace("map", "ap")
        cutoff = None if match["cutoff"] is None else int(match["cutoff"])
        parameter = 0.0 if match["value"] is None else float(match["value"])
        takes = {"rbp": "p", "inst": "t"}.get(name)
        if match["key"] is not None and match["key"].lower() != takes:
            raise MeasureError(f"{name} takes no option {match['key']!r}")
        if name == "rbp":
            parameter = parameter if match["value"] is not None else 0.8
            if not 0 < parameter < 1:
                raise MeasureError(f"p of RBP must lie between 0 and 1, but got {parameter:g}")
        if name == "inst":
            parameter = parameter if match["value"] is not None else 3.0
            if parameter < 0.5:  # errata INST-5
                raise MeasureError(f"T of INST must be at least 0.5, but got {parameter:g}")
            if cutoff is not None:
                raise MeasureError("INST has no cut-off")
        gains = None if label_gain is None else tuple(float(g) for g in label_gain)
        if gains is not None and any(b < a for a, b in pairwise(gains)):
            raise InputError("label gains must not fall as the label rises")
        return cls(name, cutoff, parameter, gains, max_label)

    def __str__(self) -> str:
        shown = {"ndcg": "nDCG", "ap": "AP", "err": "ERR", "rbp": "RBP", "inst": "INST"}[self.name]
        if self.name in ("rbp", "inst"):
            shown += f"({'p' if self.name == 'rbp' else 'T'}={self.parameter:g})"
        return shown if self.cutoff is None else f"{shown}@{self.cutoff}"

    @property
    def evaluated_as(self) -> str:
        """What `surefoot evaluate` calls it: NDCG's gain is exponential here, linear there."""
        return str(self).replace("nDCG", "nDCG(gain='exp')")

    def gains(self, labels: npt.NDArray[np.float32]) -> Doubles:
        """Gain of each document."""
        if self.name == "ap":
            return (labels >= 1).astype(np.float64)
        if self.name == "ndcg":
            return dcg_gains(labels, self.label_gain)
        top = float(self.max_label if self.max_label is not None else max(labels.max(), 1.0))
        if float(labels.max()) > top:
            raise InputError(f"a label is {labels.max():g}, above the highest grade {top:g}")
        grades = labels.astype(np.float64)
        if self.name == "err":
            # Chapelle et al. 2009; the thesis' variant is another measure (errata thesis-2)
            err_gain: Doubles = (np.exp2(grades) - 1.0) / 2.0**top
            return err_gain
        return grades / top

    def build(self, offsets: Offsets, labels: npt.NDArray[np.float32]) -> QueryMeasure:
        """The measure of these queries, in the terms of the kernel."""
        longest = int(np.diff(offsets).max())
        cutoff = min(self.cutoff or longest, longest)
        gain = self.gains(labels)
        position = np.zeros(longest)
        inverse = np.ones(offsets.size - 1)
        kind = Swap.ADDITIVE
        if self.name == "ndcg":
            position[:cutoff] = dcg_discounts(cutoff)
            inverse = safe_inverse(ideal_totals(offsets, gain, position, cutoff=cutoff))
        elif self.name == "rbp":
            position[:cutoff] = (1.0 - self.parameter) * self.parameter ** np.arange(cutoff)
        else:
            kind = {"ap": Swap.AVERAGE_PRECISION, "err": Swap.ERR, "inst": Swap.INST}[self.name]
        return QueryMeasure(kind, gain, cutoff, position, inverse, self.parameter)


def score_queries(
    measure: QueryMeasure, offsets: Offsets, scores: npt.ArrayLike, *, threads: int = 0
) -> Doubles:
    """The measure of each query when its documents are ordered by `scores` (ties keep order)."""
    values = np.ascontiguousarray(scores, dtype=np.float64)
    order: Ranks = rank_documents(offsets, values, threads=threads)
    return measure_queries(offsets, order, measure, threads=threads)


def dcg_gains(
    labels: npt.NDArray[np.float32], label_gain: tuple[float, ...] | None = None
) -> Doubles:
    """2^label - 1 from whole labels, or the table's entry."""
    whole = labels.astype(np.int64)
    if (whole != labels).any():
        i = int(np.flatnonzero(whole != labels)[0])
        raise InputError(
            f"label {labels[i]:g} of document {i + 1} is not a whole number. "
            "Hint: NDCG's gain 2^label - 1 needs grades; learn for RBP or INST, or round them"
        )
    top = int(whole.max(initial=0))
    if label_gain is None:
        if top > 30:
            raise InputError(f"label {top} is above 30. Hint: give label gains")
        return np.exp2(whole.astype(np.float64)) - 1.0
    if top >= len(label_gain):
        raise InputError(f"label {top} has no gain: only {len(label_gain)} label gains are given")
    table = np.array(label_gain, dtype=np.float64)
    return table[whole]


def dcg_discounts(n: int) -> Doubles:
    """1 / log2(rank + 1), by the C library's log2 as the boosters compute it."""
    return np.array([1.0 / math.log2(2.0 + i) for i in range(n)])


def safe_inverse(totals: Doubles) -> Doubles:
    """One over each total, zero where it is zero."""
    out = np.zeros_like(totals)
    np.divide(1.0, totals, out=out, where=totals > 0)
    return out
