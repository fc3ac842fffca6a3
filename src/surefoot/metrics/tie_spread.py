"""How far the order of tied documents can move a score."""

from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.data.rankings import JudgedRankings

FloatArray = npt.NDArray[np.float64]


def tie_spread(rankings: JudgedRankings) -> dict[str, FloatArray]:
    """Best minus worst score over the orders of tied documents, by measure, one value a topic.

    For AP (relevant = grade >= 1) and nDCG@10 (linear gain); topics without relevant documents have
    no spread.
    """
    n = len(rankings.topics)
    topic = np.repeat(np.arange(n), np.diff(rankings.offsets))
    gain = np.maximum(np.nan_to_num(rankings.grade, nan=0.0), 0.0)
    relevant = (rankings.grade >= 1).astype(np.float64)
    rank = np.arange(len(gain)) - np.repeat(rankings.offsets[:-1], np.diff(rankings.offsets)) + 1.0
    judged_topic = np.repeat(np.arange(n), np.diff(rankings.qrel_offsets))
    judged_rank = (
        np.arange(len(rankings.qrel_grade))
        - np.repeat(rankings.qrel_offsets[:-1], np.diff(rankings.qrel_offsets))
        + 1.0
    )
    judged_gain = np.maximum(rankings.qrel_grade, 0.0)
    total = np.bincount(judged_topic, rankings.qrel_grade >= 1, minlength=n)
    ideal = np.bincount(judged_topic, judged_gain * _discount(judged_rank), minlength=n)

    def average_precision(order: npt.NDArray[np.intp]) -> FloatArray:
        found = relevant[order]
        running = np.cumsum(found)
        before = np.concatenate([[0.0], running])[rankings.offsets[:-1]]
        precision = (running - before[topic]) / rank
        return _ratio(np.bincount(topic, found * precision, minlength=n), total)

    def ndcg(order: npt.NDArray[np.intp]) -> FloatArray:
        return _ratio(np.bincount(topic, gain[order] * _discount(rank), minlength=n), ideal)

    out = {}
    for name, key, score in (("AP", relevant, average_precision), ("nDCG@10", gain, ndcg)):
        best = np.lexsort((-key, -rankings.score, topic))
        worst = np.lexsort((key, -rankings.score, topic))
        out[name] = score(best) - score(worst)
    return out


def _discount(rank: npt.NDArray[Any]) -> FloatArray:
    """1 / log2(rank + 1) down to rank 10."""
    return np.where(rank <= 10, 1.0 / np.log2(rank + 1.0), 0.0)


def _ratio(part: npt.NDArray[Any], whole: npt.NDArray[Any]) -> FloatArray:
    out = np.zeros(len(part))
    np.divide(part, whole, out=out, where=whole > 0)
    return out
