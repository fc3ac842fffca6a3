import gzip
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from surefoot import __version__
from surefoot.errors import InputError
from surefoot.io.output import format_of, to_text, write_result
from surefoot.results.record import Result


@dataclass(frozen=True, slots=True)
class Example(Result):
    command: ClassVar[str] = "example"

    def columns(self):
        return {
            "system": ["a_1", "b,2"],
            "t": np.array([-0.1, np.nan]),
            "n": np.array([3, 4]),
            "flagged": [True, False],
        }


RESULT = Example(settings={"alpha": np.float64(1.0), "seed": 0, "low": float("-inf")})


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("csv", 'system,t,n,flagged\na_1,-0.1,3,true\n"b,2",,4,false\n'),
        ("tsv", "system\tt\tn\tflagged\na_1\t-0.1\t3\ttrue\nb,2\t\t4\tfalse\n"),
        (
            "jsonl",
            '{"system": "a_1", "t": -0.1, "n": 3, "flagged": true}\n'
            '{"system": "b,2", "t": null, "n": 4, "flagged": false}\n',
        ),
        (
            "latex",
            "\\begin{tabular}{lrrl}\n\\toprule\nsystem & t & n & flagged \\\\\n\\midrule\n"
            "a\\_1 & $-0.1000$ & 3 & yes \\\\\nb,2 & -- & 4 & no \\\\\n"
            "\\bottomrule\n\\end{tabular}\n",
        ),
    ],
)
def test_text_formats(format, text):
    assert to_text(RESULT, format=format) == text


def test_json_is_one_object_with_numbers_unrounded_and_nan_as_null():
    parsed = json.loads(to_text(RESULT, format="json"))
    assert parsed == {
        "command": "example",
        "version": __version__,
        "settings": {"alpha": 1.0, "seed": 0, "low": None},
        "rows": [
            {"system": "a_1", "t": -0.1, "n": 3, "flagged": True},
            {"system": "b,2", "t": None, "n": 4, "flagged": False},
        ],
    }


def test_parquet_holds_the_same_rows(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_result(RESULT, format="parquet", path=tmp_path / "x.parquet")
    table = parquet.read_table(tmp_path / "x.parquet").to_pydict()
    assert table["system"] == ["a_1", "b,2"]
    assert table["n"] == [3, 4]


def test_parquet_does_not_go_to_the_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with pytest.raises(InputError, match="add -o FILE"):
        write_result(RESULT, format="parquet", path=None)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_hold_the_same_rows(frame):
    pytest.importorskip(frame)
    made = getattr(RESULT, f"to_{frame}")()
    assert list(made.columns) == ["system", "t", "n", "flagged"]
    assert list(made["n"]) == [3, 4]


@dataclass(frozen=True, slots=True)
class Named(Result):
    names: list

    def columns(self):
        return {"system": self.names}


def test_latex_does_not_round_a_small_p_value_to_nothing():
    rows = to_text(Named(names=[2.3e-9, -4e-5, 0.0, 0.5]), format="latex").splitlines()[4:8]
    assert [row.removesuffix(r" \\") for row in rows] == [
        r"$2.3 \cdot 10^{-9}$",
        r"$-4.0 \cdot 10^{-5}$",
        "0.0000",
        "0.5000",
    ]


def test_latex_of_any_name_is_text():
    rows = to_text(Named(names=["a&b_<c>|{d}~^\\", "two\n\nlines", "\x1b[1m"]), format="latex")
    assert rows.splitlines()[4:7] == [
        r"a\&b\_\textless{}c\textgreater{}\textbar{}\{d\}\textasciitilde{}\textasciicircum{}"
        r"\textbackslash{} \\",
        r"two  lines \\",
        r" [1m \\",
    ]


def test_an_id_that_is_not_utf_8_keeps_its_bytes(tmp_path):
    latin = Named(names=[b"caf\xe9".decode("utf-8", "surrogateescape")])
    write_result(latin, format="csv", path=tmp_path / "names.csv")
    assert (tmp_path / "names.csv").read_bytes() == b"system\ncaf\xe9\n"
    write_result(latin, format="json", path=tmp_path / "names.json")
    text = (tmp_path / "names.json").read_text(encoding="utf-8")
    assert json.loads(text)["rows"] == [{"system": latin.names[0]}]


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl", "latex"])
def test_a_name_in_gz_is_compressed_the_same_each_time(tmp_path, format, monkeypatch):
    path = tmp_path / "x.gz"
    write_result(RESULT, format=format, path=path)
    assert gzip.decompress(path.read_bytes()).decode() == to_text(RESULT, format=format)
    monkeypatch.setattr(time, "time", lambda: 1e9)
    write_result(RESULT, format=format, path=tmp_path / "y.csv.gz")
    assert (tmp_path / "y.csv.gz").read_bytes() == path.read_bytes()


def test_parquet_in_gz_is_compressed(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_result(RESULT, format="parquet", path=tmp_path / "x.parquet.gz")
    with gzip.open(tmp_path / "x.parquet.gz") as file:
        assert parquet.read_table(file).to_pydict()["n"] == [3, 4]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.csv", "csv"),
        ("a.CSV.gz", "csv"),
        ("a.v2.tsv", "tsv"),
        ("a.jsonl.gz", "jsonl"),
        ("a.tex", "latex"),
        ("a.txt", "table"),
        ("a", "tsv"),
        ("/dev/stdout", "tsv"),
    ],
)
def test_a_name_asks_for_a_format(name, format):
    assert format_of(Path(name)) == format


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv.bz2", "a.nc", "a.xml.gz"])
def test_a_name_that_asks_for_another_format_is_refused(name):
    known = r"\.csv, \.tsv, \.json, \.jsonl, \.parquet, \.tex, \.txt \(or those with \.gz\)"
    with pytest.raises(InputError, match=f"name {name}. Hint: --format, or .* in {known}"):
        format_of(Path(name))


def test_a_pipe_may_have_any_name(tmp_path):
    os.mkfifo(tmp_path / "a.fifo")
    assert format_of(tmp_path / "a.fifo") == "tsv"
