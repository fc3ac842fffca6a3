"""Reading TREC judgments and runs, in every form that is not broken."""

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from types import SimpleNamespace

import pytest

from surefoot.errors import InputError
from surefoot.io.trec import read_qrels, read_run, run_name

RUN = "1 Q0 a 1 3.5 t\n1 Q0 b 2 2.5 t\n2 Q0 a 1 1 t\n"
TABLE = {"1": {"a": 3.5, "b": 2.5}, "2": {"a": 1.0}}


def zstd(data):
    from backports import zstd

    return zstd.compress(data)


TEXTS = {
    "plain": RUN,
    "tabs": RUN.replace(" ", "\t"),
    "tabs and blanks": RUN.replace(" Q0 ", "\t \tQ0  "),
    "leading blanks": RUN.replace("1 Q0", "  1 Q0"),
    "trailing blanks": RUN.replace("t\n", "t \t\n"),
    "crlf": RUN.replace("\n", "\r\n"),
    "crlf once": RUN.replace("\n", "\r\n", 1),
    "bom": "\ufeff" + RUN,
    "blank lines": "\n\n" + RUN.replace("\n", "\n \n") + "\n\n\n",
    "no last newline": RUN[:-1],
    "scattered": "1 Q0 a 1 3.5 t\n2 Q0 a 1 1 t\n1 Q0 b 2 2.5 t\n",
    "words behind the tag": RUN.replace("t\n", "t of no use\n"),
    "exponents": RUN.replace("3.5", "35e-1").replace("2.5", "+2.5E0"),
    "digits": RUN.replace("3.5", "3.50000000000000000000000").replace("2.5", "0002.5"),
    "points": RUN.replace(" 1 t", " 1. t"),
    "header": "qid Q0 docno rank score tag\n" + RUN,
    "csv": "qid,docno,rank,score\n1,a,1,3.5\n1,b,2,2.5\n2,a,1,1\n",
    "tsv of ranx": "q_id\tdoc_id\tscore\n1\ta\t3.5\n1\tb\t2.5\n2\ta\t1\n",
    "json lines": '{"query_id": "1", "doc_id": "a", "score": 3.5}\n'
    '{"query_id": 1, "doc_id": "b", "score": 2.5}\n{"query_id": "2", "doc_id": "a", "score": 1}\n',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_texts(tmp_path, text):
    path = tmp_path / "run"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_run(path).to_dict() == TABLE


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, zstd, lzma.compress])
def test_compression_of_many_members_is_told_by_the_bytes(tmp_path, pack):
    path = tmp_path / "run"
    path.write_bytes(pack(RUN[:10].encode()) + pack(b"") + pack(RUN[10:].encode()))
    assert read_run(path).to_dict() == TABLE


def test_standard_input(monkeypatch):
    for data in (RUN.encode(), gzip.compress(RUN.encode())):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
        assert read_run("-").to_dict() == TABLE


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a POSIX thing")
def test_named_pipes(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(RUN,))
    writer.start()
    assert read_run(pipe).to_dict() == TABLE
    writer.join()


def test_ids_are_kept_as_they_are(tmp_path):
    path = tmp_path / "qrels"
    path.write_bytes(
        "q#7 0 doc#1,x 1\nÄß 0 日本 -2\n\u00a0 0 '\" 0.25\n".encode() + b"L 0 \xe9 1\n"
    )
    table = read_qrels(path).to_dict()
    assert table["q#7"] == {"doc#1,x": 1.0}
    assert table["Äß"] == {"日本": -2.0}
    assert table["\u00a0"] == {"'\"": 0.25}
    # bytes that are no UTF-8 survive a round trip
    assert [d.encode("utf-8", "surrogateescape") for d in table["L"]] == [b"\xe9"]


def test_topics_keep_the_order_of_their_first_appearance(tmp_path):
    path = tmp_path / "qrels"
    path.write_text("9 0 a 1\n10 0 a 1\n9 0 b 0\n1 0 a 3\n")
    qrels = read_qrels(path)
    assert qrels.topics == ("9", "10", "1")
    assert qrels.offsets.tolist() == [0, 2, 3, 4]
    assert qrels.max_grade == 3.0


@pytest.mark.parametrize(("keep", "score"), [("first", 3.0), ("last", 1.0)])
@pytest.mark.parametrize("between", ["", "2 Q0 a 1 2 t\n"])
def test_an_option_keeps_one_of_the_duplicates(tmp_path, keep, score, between):
    path = tmp_path / "run"
    path.write_text(f"1 Q0 a 1 3 t\n{between}1 Q0 b 1 2 t\n1 Q0 a 1 1 t\n")
    run = read_run(path, duplicates=keep)
    assert run.to_dict()["1"] == {"a": score, "b": 2.0}
    assert run.dropped == 1
    with pytest.raises(InputError, match="duplicates must be one of error, first, last, but got"):
        read_run(path, duplicates="sum")


def test_the_tag_and_the_name(tmp_path):
    path = tmp_path / "bm25.run.gz"
    path.write_bytes(gzip.compress(RUN.replace("t\n", "other\n", 1).encode()))
    run = read_run(path)
    assert (run.name, run.tag, run.other_tags) == ("bm25", "other", True)
    assert run_name("a/b.txt") == "b"
    assert run_name("a/.gz") == "a/.gz"


# -- Python objects ------------------------------------------------------------------------------

DIALECTS = [
    ("query_id", "doc_id", "relevance", "score"),
    ("qid", "docno", "label", "score"),
    ("q_id", "doc_id", "score", "score"),
]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("names", DIALECTS, ids=lambda names: names[0])
def test_frames_in_three_dialects(library, names):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame
    topic, document, grade, score = names
    rows = {topic: [1, 1, 2], document: ["a", "b", "a"]}
    assert read_run(make({**rows, score: [3.5, 2.5, 1.0]})).to_dict() == TABLE
    assert read_qrels(make({**rows, grade: [1, 0, 2]})).to_dict() == {
        "1": {"a": 1.0, "b": 0.0},
        "2": {"a": 2.0},
    }
    with pytest.raises(InputError, match=r"the run, row 1: document 'a' occurs twice"):
        read_run(make({**rows, document: ["a", "a", "a"], score: [3.5, 2.5, 1.0]}))


def test_records_of_ir_measures():
    docs = [("1", "a", 3.5), ("1", "b", 2.5), ("2", "a", 1.0)]
    scored = (SimpleNamespace(query_id=q, doc_id=d, score=s) for q, d, s in docs)
    assert read_run(scored).to_dict() == TABLE
    judged = [SimpleNamespace(query_id=q, doc_id=d, relevance=1) for q, d, _ in docs]
    assert read_qrels(judged).to_dict()["2"] == {"a": 1.0}


def test_objects_of_ranx():
    def to_dict(self):
        return TABLE

    run = type("Run", (), {"to_dict": to_dict, "__module__": "ranx.data_structures.run"})()
    run.name = "bm25"
    assert read_run(run).to_dict() == TABLE
    assert read_run(run).name == "bm25"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"1": {"a": float("nan")}}, "the score of document 'a' for topic '1' is not a finite"),
        ({"1": {"a": "x"}}, "the score of document 'a' for topic '1' is not a finite number: 'x'"),
        ({"1": 3}, "topic '1' has 3 where {document: score} is expected"),
        (3, "the run cannot be a int. Hint: a path, a dict of dicts, a data frame"),
        ([], "the run is empty"),
    ],
)
def test_broken_objects_are_explained(source, message):
    with pytest.raises(InputError, match=message):
        read_run(source)


def test_trec_eval_test_files_are_read(shared_data):
    folder = shared_data / "trec_eval_tests"
    assert len(read_qrels(folder / "qrels.test")) == 3681
    assert len(read_run(folder / "results.test")) == 1500
    assert read_run(folder / "results.trunc").tag == "STANDARD"
