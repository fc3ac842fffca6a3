"""Hypothesis strategies for the suite, in one place."""

import numpy as np
from hypothesis import strategies as st

from surefoot.data.rankings import JudgedRankings
from surefoot.data.scores import ScoreMatrix


@st.composite
def score_matrices(draw, *, systems=(1, 6), topics=(1, 12), missing=False):
    """Small score matrices on [0, 1], with ties, zeros and ones made likely."""
    n = draw(st.integers(*systems))
    m = draw(st.integers(*topics))
    score = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1, width=32))
    if missing:
        score = st.one_of(score, st.just(float("nan")))
    values = draw(st.lists(score, min_size=n * m, max_size=n * m))
    return ScoreMatrix(
        tuple(f"s{i}" for i in range(n)),
        tuple(f"t{j}" for j in range(m)),
        np.array(values).reshape(n, m),
    )


@st.composite
def judged_rankings(draw, *, topics=(1, 3), length=(0, 7), grades=(-1, 0, 1, 2, 3), ties=True):
    """Small rankings with unjudged documents, missing topics and tied scores made likely."""
    offsets, grade, score, judged_offsets, judged = [0], [], [], [0], []
    in_run = []
    for _ in range(draw(st.integers(*topics))):
        shown = draw(
            st.lists(
                st.one_of(st.none(), st.sampled_from(grades)),
                min_size=length[0],
                max_size=length[1],
            )
        )
        steps = draw(
            st.lists(
                st.sampled_from([0, 1] if ties else [1]), min_size=len(shown), max_size=len(shown)
            )
        )
        elsewhere = draw(st.lists(st.sampled_from(grades), max_size=4))
        here = [g for g in shown if g is not None]
        judged += sorted([*here, *elsewhere], reverse=True)
        grade += [float("nan") if g is None else g for g in shown]
        score += (-np.cumsum(steps)).tolist()
        in_run.append(bool(shown))
        offsets.append(len(grade))
        judged_offsets.append(len(judged))
    return JudgedRankings(
        tuple(f"t{i}" for i in range(len(in_run))),
        np.array(offsets, np.int64),
        np.array(grade, np.float64),
        np.array(score, np.float64),
        np.array(in_run, np.bool_),
        np.array(judged_offsets, np.int64),
        np.array(judged, np.float64),
        float(max([*judged, 0])),
    )
