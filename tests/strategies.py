"""Hypothesis strategies for the suite, in one place."""

import numpy as np
from hypothesis import strategies as st

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
