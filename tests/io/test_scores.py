"""Score tables in every dialect that users bring."""

import bz2
import gzip
import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import score_matrices

from surefoot.errors import InputError, SurefootError, UnreliableWarning
from surefoot.io.scores import read_scores
from surefoot.workflows.scores import load_scores

LONG = "system,topic,score\nA,1,0.5\nA,2,0.25\nB,1,1\nB,2,0\n"
VALUES = [[0.5, 0.25], [1.0, 0.0]]


def same(matrix, values=VALUES, systems=("A", "B"), topics=("1", "2")):
    assert matrix.systems == tuple(systems)
    assert matrix.topics == tuple(topics)
    np.testing.assert_array_equal(matrix.values, values)


TEXTS = {
    "long": LONG,
    "tsv": LONG.replace(",", "\t"),
    "semicolons": LONG.replace(",", ";"),
    "blanks": LONG.replace(",", "  "),
    "bom": "\ufeff" + LONG,
    "crlf": LONG.replace("\n", "\r\n"),
    "blank lines": "\n" + LONG + "\n\n",
    "other order": "score,topic,system\n.5,1,A\n.25,2,A\n1,1,B\n0,2,B\n",
    "upper case": LONG.replace("system,topic,score", "System,Topic,Score"),
    "with means": LONG + "A,all,0.375\n",
    "pyterrier": "name,qid,measure,value\nA,1,map,0.5\nA,2,map,0.25\nB,1,map,1\nB,2,map,0\n",
    "gdeval": "runid,topic,ndcg@20\nA,1,0.5\nA,2,0.25\nB,1,1\nB,2,0\nB,amean,0.5\n",
    "wide": "topic,A,B\n1,0.5,1\n2,0.25,0\n",
    "wide of pandas": ",A,B\n1,0.5,1\n2,0.25,0\n",
    "wide qid": "qid\tA\tB\n1\t0.5\t1\n2\t0.25\t0\n",
    "wide with means": "topic,A,B\n1,0.5,1\n2,0.25,0\nall,.375,.5\n",
    "json lines": "".join(
        json.dumps({"system": s, "topic": t, "score": v}) + "\n"
        for s, t, v in [("A", "1", 0.5), ("A", "2", 0.25), ("B", "1", 1), ("B", "2", 0)]
    ),
    "json of evaluate": json.dumps(
        {
            "command": "evaluate",
            "rows": [
                {"system": s, "measure": "AP", "topic": t, "value": v}
                for s, t, v in [("A", 1, 0.5), ("A", 2, 0.25), ("B", 1, 1), ("B", 2, 0)]
            ],
        }
    ),
    "trec_eval": "map\t1\t0.5\nmap\t2\t0.25\nrunid\tall\tA\nmap\tall\t.375\n"
    "map\t1\t1.0\nmap\t2\t0.0\nrunid\tall\tB\nmap\tall\t.5\n",
    "trec_eval, run first": "runid all A\nmap 1 0.5\nmap 2 0.25\nrunid all B\nmap 1 1\nmap 2 0\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_dialects_of_text(tmp_path, text):
    path = tmp_path / "scores"
    path.write_text(text, encoding="utf-8", newline="")
    same(read_scores(path))


def zstd(data):
    from backports import zstd

    return zstd.compress(data)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstd])
def test_compression_is_told_by_the_bytes(tmp_path, pack):
    path = tmp_path / "scores.csv"
    half = len(LONG) // 2
    path.write_bytes(pack(LONG[:half].encode()) + pack(LONG[half:].encode()))
    same(read_scores(path))


def test_wide_without_topics_numbers_its_rows(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("A,B\n0.5,1\n0.25,0\n")
    same(read_scores(path), topics=("t000", "t001"))


@pytest.mark.parametrize(
    ("text", "left_out", "topics"),
    [
        ("fold,qid,A,B\n1,1,.5,1\n2,2,.25,0\n", "column 'fold' left out", ("1", "2")),
        ("qid,query,A,B\n1,red shoes,.5,1\n2,hats,.25,0\n", "column 'query' left out", ("1", "2")),
        ("Fold,A,B\n1,.5,1\n,.25,0\n", "column 'Fold' left out", ("t000", "t001")),
        (
            "fold,query_id,topic,A,B\n1,7,1,.5,1\n1,8,2,.25,0\n",
            "columns 'fold' and 'query_id' left out",
            ("1", "2"),
        ),
    ],
)
def test_columns_that_name_or_number_the_rows_are_no_systems(tmp_path, text, left_out, topics):
    path = tmp_path / "wide.csv"
    path.write_text(text)
    with pytest.warns(UnreliableWarning, match=left_out):
        same(read_scores(path), topics=topics)


@pytest.mark.parametrize(
    ("text", "systems"),
    [
        ("topic_id,A\n1,.5\n2,.25\n", ("A",)),
        ("topic,fold\n1,.5\n2,.25\n", ("fold",)),  # scores, so a system of that name
    ],
)
def test_the_only_column_of_scores_is_a_system(tmp_path, text, systems):
    path = tmp_path / "wide.csv"
    path.write_text(text)
    same(read_scores(path), values=VALUES[:1], systems=systems)


def test_a_long_table_may_say_its_folds(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("fold,system,topic,ndcg\n1,A,1,.5\n2,A,2,.25\n")
    same(read_scores(path), values=VALUES[:1], systems=("A",))


def test_a_fit_is_no_table_of_scores(tmp_path):
    path = tmp_path / "z.nc"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(64))
    with pytest.raises(InputError, match=f"is a fit .*Hint: --fit {path}"):
        read_scores(path)


@pytest.mark.parametrize("text", [LONG, "topic,A,B\n1,0.5,1\n2,0.25,0\n"])
def test_a_measure_that_the_table_does_not_name_is_no_choice(tmp_path, text):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    assert read_scores(path, measure="AP").measure == "AP"
    with pytest.raises(InputError, match=r"does not say of which measure .*'AP' cannot be picked"):
        read_scores(path, measure="AP", named=True)
    with pytest.raises(InputError, match="cannot be picked"):
        load_scores(path, measure="AP")


def test_a_missing_score_is_nan(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("topic,A,B\n1,0.5,\n2,NA,0\n")
    same(read_scores(path), values=[[0.5, np.nan], [np.nan, 0.0]])


def test_one_measure_is_chosen_by_any_of_its_spellings(tmp_path):
    path = tmp_path / "scores"
    path.write_text("map 1 0.5\nndcg_cut_10 1 0.7\nP_5 1 0.2\n")
    for name, value in [("AP", 0.5), ("nDCG@10", 0.7), ("ndcg_cut.10", 0.7), ("P@5", 0.2)]:
        assert read_scores(path, measure=name).values.item() == value


def test_bounds_of_evaluate_are_kept(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("system,measure,topic,value,lower,upper\nA,AP,1,.5,.25,.75\nA,AP,all,.5,,\n")
    matrix = read_scores(path)
    assert (matrix.measure, matrix.lower.item(), matrix.upper.item()) == ("AP", 0.25, 0.75)


def test_bounds_that_equal_the_scores_are_none(tmp_path):
    # evaluate writes them so for nDCG, of which nothing is known about the unjudged documents
    path = tmp_path / "scores.csv"
    path.write_text("system,measure,topic,value,lower,upper\nA,nDCG,1,.5,.5,.5\nA,nDCG,2,0,0,0\n")
    assert read_scores(path).lower is None


def test_objects():
    rows = [("A", "1", 0.5), ("A", "2", 0.25), ("B", "1", 1.0), ("B", "2", 0.0)]
    same(read_scores({"A": {"1": 0.5, "2": 0.25}, "B": {1: 1, 2: None or 0}}))
    records = [SimpleNamespace(query_id=t, measure="AP", value=v) for _, t, v in rows[:2]]
    same(read_scores(records), values=VALUES[:1], systems=["run"])
    matrix = read_scores({"A": {"1": 1.0}})
    assert read_scores(matrix) is matrix


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(tmp_path, library):
    module = pytest.importorskip(library)
    long = {"system": list("AABB"), "topic": [1, 2, 1, 2], "score": [0.5, 0.25, 1, 0]}
    wide = {"topic": [1, 2], "A": [0.5, 0.25], "B": [1.0, 0.0]}
    make = module.table if library == "pyarrow" else module.DataFrame
    same(read_scores(make(long)))
    same(read_scores(make(wide)))
    if library == "pandas":
        same(read_scores(make(wide).set_index("topic")))
        make(wide).to_csv(tmp_path / "pandas.csv")
    if library == "polars":
        make(long).write_parquet(tmp_path / "scores")
        pytest.importorskip("pyarrow")
        same(read_scores(tmp_path / "scores"))


BROKEN = {
    "nothing": ("", "F: the file is empty"),
    "blank": ("\n \n", "F: the file is empty"),
    "header only": ("system,topic,score\n", "F: the table has a header and no rows"),
    "short row": (LONG + "B,3\n", "F:6: has 2 fields where the header has 3: 'B,3'"),
    "long row": (LONG + "B,3,1,1\n", "F:6: has 4 fields where the header has 3: 'B,3,1,1'"),
    "text": (LONG + "B,3,abc\n", "F:6: the score is not a finite number: 'abc'"),
    "underscore": (LONG + "B,3,2_0\n", "F:6: the score is not a finite number: '2_0'"),
    "decimal comma": (
        "system\ttopic\tscore\nA\t1\t2,0\n",
        "F:2: the score is not a finite number: '2,0'. Hint: write decimals with a point",
    ),
    "infinite": (LONG + "B,3,inf\n", "F:6: the score is not a finite number: 'inf'"),
    "too large": (LONG + "B,3,1e400\n", "F:6: the score is not a finite number: '1e400'"),
    "no topic": (LONG + "B,,1\n", "F:6: the topic is empty"),
    "no system": (LONG + ",3,1\n", "F:6: the system is empty"),
    "twice": (
        LONG + "B,2,1\n",
        "F:6: system 'B' has another score on topic '2' in line 5. "
        "Hint: keep one; does the table hold several measures without naming them?",
    ),
    "header twice": ("topic,A,A\n1,1,1\n", "F:1: the header names 'A' twice"),
    "topic twice": ("topic,A\n1,1\n1,1\n", "F:3: topic '1' has another row"),
    "wide text": ("topic,A\n1,x\n", "F:2: the score of 'A' is not a finite number: 'x'"),
    "no header": (
        "0.5,0.25\n1,0\n",
        "F: the header holds numbers where it should name the systems. "
        "Hint: put a line of names on top",
    ),
    "judgments": (
        "1 0 d1 2\n1 0 d2 0\n",
        "F: looks like judgments, not a table of scores. "
        "Hint: --qrels QRELS --run RUN... -m MEASURE evaluate first",
    ),
    "run": (
        "1 Q0 d1 1 9.5 bm25\n",
        "F: looks like a run, not a table of scores. "
        "Hint: --qrels QRELS --run RUN... -m MEASURE evaluate first",
    ),
    "wide short": ("topic,A,B\n1,1\n", "F:2: has 2 fields where the header has 3: '1,1'"),
    "only topics": ("topic\n1\n", "F: the table has no system column, only ['topic']"),
    "several measures": (
        "system,topic,score,measure\nA,1,1,AP\nA,1,1,RR\n",
        "F: the table holds several measures (AP, RR). Hint: choose one with -m",
    ),
    "means only": (
        "system,topic,score\nA,all,1\n",
        "F: the table has means only (topic 'all'). "
        "Hint: per-topic scores are needed; evaluate with -q",
    ),
    "trec_eval means": (
        "runid all A\nmap all 0.5\n",
        "F: trec_eval's output has means only. Hint: run trec_eval with -q",
    ),
    "trec_eval short": ("map 1 0.5\nmap 2\n", "F:2: is not 'measure topic value': 'map 2'"),
    "trec_eval text": ("map 1 0.5\nmap 2 x\n", "F:2: the score is not a finite number: 'x'"),
    "json": (
        '{"system": "A"\n',
        "F:1: is not JSON (Expecting ',' delimiter): '{\"system\": \"A\"'",
    ),
    "json keys": (
        '{"a": 1}\n{"b": 1}\n',
        "F:2: has the keys ['b'] where others have ['a']",
    ),
    "json list": ("[1]", "F, row 0: is not a JSON object: '1'"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_each_broken_table_is_explained(tmp_path, text, message):
    path = tmp_path / "scores"
    path.write_text(text, newline="")
    with pytest.raises(InputError) as caught:
        read_scores(path)
    assert str(caught.value) == message.replace("F", str(path), 1)


def test_unknown_measure_names_what_there_is(tmp_path):
    path = tmp_path / "scores"
    path.write_text("system,topic,score,measure\nA,1,1,nDCG@10\nA,1,1,RR\n")
    with pytest.raises(InputError, match=r"holds no measure 'nDCG@20'\. Hint: there is 'nDCG@10'"):
        read_scores(path, measure="nDCG@20")


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "the scores are empty"),
        ({"A": 1}, "system 'A' has int where {topic: score} is expected"),
        ({"A": {"1": "x"}}, "the score of system 'A' on topic '1' is not a finite number: 'x'"),
        ({"A": {"1": float("inf")}}, "is not a finite number: inf"),
        (3, "scores cannot be a int"),
    ],
)
def test_each_broken_object_is_explained(scores, message):
    with pytest.raises(InputError, match=message):
        read_scores(scores)


@given(matrix=score_matrices(missing=True))
@settings(max_examples=30, deadline=None)
def test_long_and_wide_tables_round_trip(tmp_path_factory, matrix):
    folder = tmp_path_factory.mktemp("tables")
    cells = [
        (s, t, "" if np.isnan(v) else repr(float(v)))
        for s, row in zip(matrix.systems, matrix.values, strict=True)
        for t, v in zip(matrix.topics, row, strict=True)
    ]
    (folder / "long").write_text(
        "system,topic,score\n" + "".join(f"{s},{t},{v}\n" for s, t, v in cells)
    )
    wide = [",".join(["topic", *matrix.systems])]
    for j, topic in enumerate(matrix.topics):
        wide.append(",".join([topic, *(c[2] for c in cells if c[1] == topic)]))
        assert j < len(matrix.topics)
    (folder / "wide").write_text("\n".join(wide) + "\n")
    for name in ("long", "wide"):
        same(read_scores(folder / name), matrix.values, matrix.systems, matrix.topics)


@given(data=st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_bytes_crash_the_reader(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "noise"
    path.write_bytes(data)
    message = ""
    try:
        read_scores(path)
    except SurefootError as error:
        message = str(error)
    assert "\n" not in message
