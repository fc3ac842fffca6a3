"""Runs joined with judgments: the compiled road against plain Python, on good and bad bytes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.strategies import run_text

from surefoot.errors import AlignmentError, InputError, SurefootError
from surefoot.io.join import judge_run
from surefoot.io.misfit import misfit_notes
from surefoot.io.trec import read_qrels, read_run
from surefoot.kernels import text as kernel
from surefoot.kernels.reference import text as reference

QRELS = {"2": {"a": 1, "b": 0, "c": 2}, "10": {"x": 1, "é": -1}}


def expected(data, *, ties="trec", depth=0, duplicates="error"):
    """What the plain Python road makes of a run, or None where it refuses it."""
    try:
        rows = reference.read_lines(data, n_fields=6)
        table = reference.group(rows, duplicates=duplicates)
    except reference.BadLineError:
        return None
    out = {}
    for name, documents in table.items():
        ids = reference.order(documents, ties=ties)
        ids = ids[:depth] if depth else ids
        out[name] = (ids, [documents[d][0] for d in ids])
    return out


def joined(path, **options):
    try:
        return judge_run(QRELS, path, **options)
    except AlignmentError:
        return "no topic in common"
    except SurefootError as error:
        message = str(error)
    assert "\n" not in message
    assert str(path) in message
    return None


@given(
    data=run_text(),
    ties=st.sampled_from(kernel.TIES),
    depth=st.sampled_from([0, 0, 1, 3]),
    duplicates=st.sampled_from(kernel.DUPLICATES),
    scatter=st.booleans(),
)
@example(data=b"2 Q0 a 1 1 t\r2 Q0 b 1 1 t\n", ties="trec", depth=0, duplicates="error", scatter=0)
@settings(max_examples=200)
def test_same_as_plain_python(tmp_path_factory, data, ties, depth, duplicates, scatter):
    if not scatter:
        data = b"".join(sorted(data.splitlines(keepends=True), key=lambda line: line.split()[:1]))
    path = tmp_path_factory.getbasetemp() / "fuzzed.run"
    path.write_bytes(data)
    options = {"ties": ties, "depth": depth, "duplicates": duplicates}
    wanted, got = expected(data, **options), joined(path, **options)
    if not wanted:
        assert got is None
        return
    if not QRELS.keys() & wanted.keys():
        assert got == "no topic in common"
        return
    assert got is not None
    for i, name in enumerate(QRELS):
        ids, scores = wanted.get(name, ([], []))
        rows = slice(got.offsets[i], got.offsets[i + 1])
        assert got.in_run[i] == (name in wanted)
        assert got.doc_ids(i) == ids
        assert got.score[rows].tolist() == scores
        grades = [QRELS[name].get(d, np.nan) for d in ids]
        np.testing.assert_array_equal(got.grade[rows], grades)
    assert got.extra_topics == len(wanted.keys() - QRELS.keys())


@given(data=st.one_of(st.binary(max_size=300), st.text(max_size=100).map(str.encode)))
@settings(max_examples=150)
def test_no_bytes_crash_the_parser_or_give_silent_scores(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "noise.run"
    path.write_bytes(data)
    got = joined(path)
    if got is not None:
        assert expected(data)


@given(data=run_text(), cuts=st.lists(st.integers(0, 400), max_size=8))
@settings(max_examples=100)
def test_blocks_may_be_cut_anywhere(data, cuts):
    def outcome(blocks):
        keeper = kernel.run_keeper("first")
        try:
            for block in blocks:
                keeper.feed(block)
            keeper.finish()
        except kernel.TextError as error:
            return error.args
        topics, *arrays = keeper.kept()
        return topics, [a.tolist() for a in arrays], keeper.lines

    places = sorted({0, len(data), *(c for c in cuts if c < len(data))})
    pieces = [data[a:b] for a, b in pairwise(places)]
    assert outcome(pieces) == outcome([data])


@given(value=st.floats(allow_nan=False, allow_infinity=False), digits=st.integers(1, 25))
@settings(max_examples=150)
def test_numbers_are_exact_to_the_last_bit(value, digits):
    for text in (repr(value), f"{value:.{digits}g}", f"{value:.{digits}f}"):
        assume(np.isfinite(float(text)))
        keeper = kernel.run_keeper("first")
        keeper.feed(f"1 Q0 a 1 {text} t\n".encode())
        keeper.finish()
        assert keeper.kept()[4].item() == float(text)


# -- what the numbers mean -----------------------------------------------------------------------


def test_ties_by_policy(tmp_path):
    path = tmp_path / "run"
    path.write_text("2 Q0 b 9 1 t\n2 Q0 c 3 1 t\n2 Q0 a 5 1 t\n2 Q0 z 7 2 t\n")
    for ties, ids in [("trec", "zcba"), ("docid", "zabc"), ("file", "zbca"), ("rank", "cazb")]:
        assert "".join(judge_run(QRELS, path, ties=ties).doc_ids(0)) == ids


def test_scores_that_only_floats_confuse_are_no_ties(tmp_path):
    path = tmp_path / "run"
    path.write_text("2 Q0 a 1 16777217 t\n2 Q0 c 2 16777216 t\n")
    assert judge_run(QRELS, path).doc_ids(0) == ["a", "c"]


def test_topics_are_those_of_the_judgments():
    got = judge_run(QRELS, {"7": {"a": 1.0}, "2": {"a": 1.0, "c": 1.0, "z": 3.0}})
    assert got.topics == ("2", "10")
    assert got.offsets.tolist() == [0, 3, 3]
    np.testing.assert_array_equal(got.grade, [np.nan, 2, 1])
    assert got.in_run.tolist() == [True, False]
    assert got.qrel_grade.tolist() == [2, 1, 0, 1, -1]
    assert got.extra_topics == 1
    assert got.doc_ids(0) == ["z", "c", "a"]


def big_run(path, topics=40, scattered=False):
    rng = np.random.default_rng(0)
    lines = [
        f"{t} Q0 d{d} 1 {s:.3f} t\n"
        for t in range(topics)
        for d, s in zip(rng.permutation(300)[:100], rng.normal(size=100), strict=True)
    ]
    if scattered:
        lines = [lines[i] for i in rng.permutation(len(lines))]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("grades", [3, 400], ids=["few grades", "more than a byte can say"])
@pytest.mark.parametrize("scattered", [False, True])
def test_threads_change_nothing(tmp_path, monkeypatch, scattered, grades):
    monkeypatch.setattr("surefoot.io.join._PART", 3000)
    path = big_run(tmp_path / "run", scattered=scattered)
    # the order of the judgments is not the order of the run
    qrels = read_qrels(
        {
            str(t): {f"d{d}": (13 * d + t) % grades for d in range(0, 300, 7)}
            for t in range(39, -1, -2)
        }
    )
    one = judge_run(qrels, path)
    assert one.code.itemsize == (1 if grades == 3 else 4)
    for other in (
        judge_run(qrels, path, threads=3),
        judge_run(qrels, read_run(path)),
    ):
        for name in ("offsets", "grade", "score", "in_run", "qrel_grade"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert other.extra_topics == one.extra_topics == 20
    assert judge_run(qrels, path, threads=3).doc_ids(5) == one.doc_ids(5)


def test_a_long_topic_outgrows_every_buffer(tmp_path):
    path = tmp_path / "run"
    path.write_text("".join(f"2 Q0 doc{i:08d} {i} {-i} t\n" for i in range(60_000)))
    got = judge_run({"2": {"doc00000000": 1, "doc00059999": 2}}, path)
    assert len(got.grade) == 60_000
    assert (got.grade[0], got.grade[-1]) == (1.0, 2.0)
    path.write_text(path.read_text() + f"2 Q0 doc00000007 1 -{10**6} t\n")
    with pytest.raises(InputError, match=r":60001: document 'doc00000007' occurs twice"):
        judge_run({"2": {"a": 1}}, path)


def test_a_very_long_line_is_read(tmp_path):
    path = tmp_path / "run"
    path.write_text(f"2 Q0 {'a' * 3_000_000} 1 2 t\n2 Q0 b 1 1 t\n")
    assert judge_run(QRELS, path).score.tolist() == [2.0, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "random"}, "ties must be one of trec, file, rank, docid, but got 'random'"),
        ({"depth": -1}, "depth must be an integer not less than 0, but got -1"),
        ({"duplicates": "x"}, "duplicates must be one of error, first, last, but got 'x'"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InputError, match=message):
        judge_run(QRELS, {"2": {"a": 1.0}}, **options)


# -- does the run belong to the judgments? -------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"02": {"a": 1.0}}, "the ids differ by leading zeros: '02' in the run, '2' in the judg"),
        ({"q2": {"a": 1.0}}, "the ids differ by a prefix: 'q2' in the run, '2' in the judgments"),
        ({"2.0": {"a": 1.0}}, "as a data frame of floats writes them: '2.0' in the run, '2' in"),
        ({"x": {"a": 1.0}}, "they look like different collections"),
    ],
)
def test_no_common_topic_is_explained(run, message):
    with pytest.raises(AlignmentError, match=message):
        judge_run(QRELS, run)


@pytest.mark.parametrize(
    ("run", "note"),
    [
        ({"2": {"a": 1.0}, "10": {"x": 1.0}}, None),
        ({"2": {"a": 1.0}}, "run 'run' lacks 1 of 2 judged topics ('10')"),
        (
            {"2": {"a": 1.0}, "3": {"a": 1.0}},
            "run 'run' lacks 1 of 2 judged topics ('10') and has 1 without judgments; "
            "are these the judgments of this collection?",
        ),
        (
            {"2": {"a": 1.0}, "10": {"x": 1.0}, "3": {"a": 1.0}},
            "run 'run' has 1 topics without judgments, left out",
        ),
        (
            {"2": {"A": 1.0, "B": 0.5}, "10": {"X": 1.0}},
            "run 'run' retrieves no judged document. Hint: the ids differ by upper and lower case: "
            "'A' in the run, 'a' in the judgments",
        ),
        (
            {"2": {"x": 1.0}, "10": {"a": 1.0}},
            "run 'run' retrieves no judged document. Hint: its documents are judged for other "
            "topics only; are the topics numbered differently, or were judged documents removed "
            "from the run?",
        ),
        (
            {"2": {"clueweb1": 1.0}, "10": {"clueweb2": 1.0}},
            "run 'run' retrieves no judged document. Hint: its documents look like 'clueweb1', "
            "'clueweb2', the judged ones like 'a', 'b'; they look like different collections",
        ),
    ],
)
def test_misfits_are_noted(run, note):
    qrels = read_qrels(QRELS)
    assert misfit_notes(qrels, judge_run(qrels, run)) == ([note] if note else [])
