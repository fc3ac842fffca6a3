"""Rankings without their unjudged documents."""

from dataclasses import replace

import numpy as np

from surefoot.data.rankings import JudgedRankings


def judged_only(judged: JudgedRankings) -> JudgedRankings:
    """Drop the unjudged documents; those below move up, as with trec_eval's -J.

    A document with a negative grade was judged and stays; trec_eval drops it.
    """
    keep = judged.code > 0
    kept_before = np.concatenate([[0], np.cumsum(keep)])
    return replace(
        judged,
        offsets=kept_before[judged.offsets].astype(np.int64),
        code=judged.code[keep],
        score=judged.score[keep] if len(judged.score) else judged.score,
        read_ids=None,
        _ids=[],
    )
