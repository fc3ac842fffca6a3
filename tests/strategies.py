"""Hypothesis strategies for the suite, in one place."""

import numpy as np
from hypothesis import strategies as st

from surefoot.data.rankings import JudgedRankings, coded
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
        *coded(grade),
        np.array(score, np.float64),
        np.array(in_run, np.bool_),
        np.array(judged_offsets, np.int64),
        np.array(judged, np.float64),
        float(max([*judged, 0])),
    )


@st.composite
def run_text(draw):
    """Bytes of a run that is nearly right: odd blanks, ends of lines, ids and numbers."""
    blank = st.sampled_from([" ", "\t", "  ", " \t", "\v", "\f"])
    topic = st.sampled_from(["2", "10", "7", "2", "02", "#"])
    document = st.sampled_from([*"abcxyz", "é", "a" * 9, "a" * 17, "a" * 40, "b" * 17])
    good_number = st.one_of(
        st.floats(allow_nan=False, allow_infinity=False).map(repr),
        st.integers(-3, 3).map(str),
        st.decimals(-100, 100, places=6).map(str),
        st.sampled_from(["0", "-0", "+1", "1.", ".5", "1e3", "1E-400", "9007199254740993", "0.1"]),
        st.from_regex(r"[0-9]{1,25}(\.[0-9]{1,25})?", fullmatch=True),
    )
    bad_number = st.sampled_from(
        ["nan", "inf", "1e400", "abc", "2_0", "2,0", "0x1", "-", ".", "e", "1e", "1..2", "٣"]
    )
    number = st.one_of(*[good_number] * 30, bad_number)
    end = st.sampled_from(["\n"] * 20 + ["\r\n"] * 3 + ["\n\n", " \n", "", "\r", "\0\n"])
    text = ""
    for _ in range(draw(st.integers(0, 12))):
        rank = draw(st.integers(0, 9).map(str))
        fields = [draw(topic), "Q0", draw(document), rank, draw(number), "tag"]
        if draw(st.integers(0, 60)) == 0:
            fields = fields[: draw(st.integers(0, 6))] + draw(st.lists(document, max_size=3))
        text += draw(blank).join(fields) + draw(end)
    return text.encode()


@st.composite
def labelled_pools(draw):
    """A block of small queries with two rankings each: label vectors can be enumerated."""
    queries = draw(st.integers(1, 3))
    grades = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    certain = draw(st.booleans())
    offset = [0]
    rankings = ([0], []), ([0], [])
    probability = []
    for _ in range(queries):
        n = int(rng.integers(0, 6))
        p = rng.dirichlet(np.full(grades, 0.5), size=n)
        if certain:
            p = np.eye(grades)[rng.integers(0, grades, n)]
        probability.append(p)
        for starts, items in rankings:
            chosen = rng.permutation(n)[: int(rng.integers(0, n + 1))]
            items.extend((offset[-1] + chosen).tolist())
            starts.append(len(items))
        offset.append(offset[-1] + n)
    gain = np.sort(rng.uniform(0, 1, grades))
    gain[0] = 0.0
    if draw(st.booleans()):
        gain[-1] = 1.0  # a grade that stops every reader
    depth = draw(st.sampled_from([None, 1, 2, 3]))
    (a, items_a), (b, items_b) = rankings
    return (
        np.concatenate(probability),
        gain,
        np.array(offset, np.int64),
        (np.array(a, np.int64), np.array(items_a, np.int32)),
        (np.array(b, np.int64), np.array(items_b, np.int32)),
        depth,
    )
