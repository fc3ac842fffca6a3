"""Readers of labelled features: text, Parquet, group sizes, folds."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import InputError, ParseError
from surefoot.io.svmlight import find_folds, read_features

TEXT = """\
# a comment line
2 qid:q1 1:0.5 3:-1.25e-1 # docid = A
0 qid:q1 2:7 #docid = B inc = 1
1\tqid:7  1:1\t2:NULL 3:3 # docid = A

0 qid:7 1:.5 3:12345678901234567890 # docid = C
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("suffix", [".svm", ".svm.gz"])
def test_letor_text(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(TEXT.encode()) if suffix.endswith("gz") else TEXT.encode())
    data = read_features(path)
    assert data.queries == ("q1", "7")
    assert data.offsets.tolist() == [0, 2, 4]
    assert data.labels.tolist() == [2, 0, 1, 0]
    assert data.documents == ("A", "B", "A", "C")
    expected = [[0.5, 0, -0.125], [0, 7, 0], [1, np.nan, 3], [0.5, 0, 12345678901234567890]]
    np.testing.assert_array_equal(data.features, np.array(expected, dtype=np.float32))


def test_windows_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.svm"
    path.write_bytes(b"\xef\xbb\xbf1 qid:1 1:2\r\n0 qid:1 1:3\r\n")
    data = read_features(path)
    assert data.features.tolist() == [[2.0], [3.0]]
    assert data.document_names() == ("1-1", "1-2")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("x qid:1 1:2\n", 1, "the label is not a number: 'x qid:1 1:2'"),
        ("1 qid:1 1:2\n1 1:2\n", 2, "there is no qid: after the label"),
        ("1 qid: 1:2\n", 1, "the query id is empty"),
        ("1 qid:1 0:2\n", 1, "feature indices begin at 1"),
        ("1 qid:1 2:1 2:2\n", 1, "feature 2 comes after feature 2"),
        ("1 qid:1 1:abc\n", 1, "the value of feature 1 is not a number: 'abc'"),
        ("1 qid:1 1:1_0\n", 1, "the value of feature 1 is not a number"),
        ("1 qid:1 a\n", 1, "'a' is not index:value"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    path = write(tmp_path / "bad.svm", text)
    with pytest.raises(ParseError) as caught:
        read_features(path)
    assert str(caught.value).startswith(f"{path}:{line}: {message}")


def test_scattered_queries_are_refused_with_the_way_out(tmp_path: Path) -> None:
    path = write(tmp_path / "a.svm", "1 qid:1 1:1\n1 qid:2 1:1\n0 qid:1 1:2\n")
    with pytest.raises(InputError, match=r"query 1 is scattered: document 3 .* Hint: sort -s -k2"):
        read_features(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "there are no documents"), ("-1 qid:1 1:1\n", "is not a finite number >= 0")],
)
def test_files_that_hold_nothing_to_learn_from(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_features(write(tmp_path / "a.svm", text))


def test_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*nowhere"):
        read_features(tmp_path / "nowhere.svm")


def test_group_sizes_beside_a_file_without_query_ids(tmp_path: Path) -> None:
    path = write(tmp_path / "rank.train", "1 1:2\n0 1:3\n1 1:4\n")
    write(tmp_path / "rank.train.query", "2\n1\n")
    assert read_features(path).sizes.tolist() == [2, 1]
    write(tmp_path / "rank.train.query", "2\n2\n")
    with pytest.raises(InputError, match="3 documents, but the group sizes add up to 4"):
        read_features(path)


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(
        {"qid": ["a", "a", "b"], "label": [1, 0, 2], "docid": ["x", "y", "x"], "f": [0.5, 1, 2]}
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    data = read_features(tmp_path / "a.parquet")
    assert data.queries == ("a", "b")
    assert data.features[:, 0].tolist() == [0.5, 1, 2]
    assert data.documents == ("x", "y", "x")
    parquet.write_table(table.drop(["qid"]), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="needs a query column"):
        read_features(tmp_path / "b.parquet")


def test_mslr_folds(tmp_path: Path) -> None:
    for fold in (1, 2, 10):
        (tmp_path / f"Fold{fold}").mkdir()
        for part in ("train", "vali", "test"):
            write(tmp_path / f"Fold{fold}" / f"{part}.txt", f"1 qid:{part}{fold} 1:1\n")
    folds = find_folds(tmp_path)
    assert [f.name for f in folds] == ["fold1", "fold2", "fold10"]
    assert folds[2].valid().queries == ("vali10",)
    (tmp_path / "Fold2" / "vali.txt").unlink()
    with pytest.raises(InputError, match=r"there is no valid file. Hint: train|vali"):
        find_folds(tmp_path)


def test_letor_parts_rotate(tmp_path: Path) -> None:
    for part in range(1, 6):
        write(tmp_path / f"S{part}.txt", f"1 qid:{part} 1:1\n0 qid:{part} 1:2\n")
    first, *_, last = find_folds(tmp_path)
    assert first.test().queries == ("1",)
    assert first.valid().queries == ("5",)
    assert first.train().queries == ("2", "3", "4")
    assert last.test().queries == ("5",)


@pytest.mark.parametrize(
    ("file", "queries", "shape"),
    [
        ("ohsumed/fold1_test.txt.gz", 22, (3383, 25)),
        ("mq2008_fold1_test/test.txt.gz", 156, (2874, 46)),
        ("letor_small/test.txt", 36, (795, 46)),
        ("lightgbm_lambdarank/rank.train.gz", 201, (3005, 300)),
    ],
)
def test_real_collections(shared_data: Path, file: str, queries: int, shape) -> None:
    data = read_features(shared_data / "ltr_svmlight" / file)
    assert len(data.queries) == queries
    assert data.features.shape == shape
