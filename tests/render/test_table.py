import io
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from surefoot.render.table import cell, print_result
from surefoot.render.visible import visible
from surefoot.results.record import Result


@dataclass(frozen=True, slots=True)
class Example(Result):
    table: dict

    def columns(self):
        return self.table


@dataclass(frozen=True, slots=True)
class Narrow(Example):
    terminal: ClassVar[tuple[str, ...]] = ("system", "t")


def printed(result, **options):
    out = io.StringIO()
    print_result(result, file=out, **options)
    return [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]


TABLE = {"system": ["a", "b"], "form": ["alpha", "alpha"], "t": np.array([-2.25, np.nan])}


def test_the_finding_comes_first_and_a_constant_column_is_said_once():
    lines = printed(Example(table=TABLE, headline=("Not safe: a.",)))
    assert lines[0] == "Not safe: a."
    assert lines[1] == "form alpha"
    assert lines[2].split() == ["system", "t"]
    assert lines[4].split() == ["a", "-2.2500"]
    assert lines[5].split() == ["b", "-"]


def test_columns_beyond_the_terminals_are_counted():
    lines = printed(Narrow(table=TABLE))
    assert lines[0].split() == ["system", "t"]
    assert lines[-1] == "1 more column with --format csv"


def test_a_long_table_shows_its_head_and_says_so():
    lines = printed(Example(table={"x": list(range(100))}), max_rows=3)
    assert lines[-1] == "97 more rows with --format csv"
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (float("nan"), "-"),
        (0.0, "0.0000"),
        (3e-7, "3.0e-07"),
        (-0.12345, "-0.1235"),
        (123456.0, "123456"),
        (True, "yes"),
        (7, "7"),
        ("[bold]name", "[bold]name"),
    ],
)
def test_one_cell(value, text):
    assert cell(value) == text


def test_markup_in_names_is_printed_not_obeyed():
    lines = printed(Example(table={"system": ["[red]x[/red]", "y"]}))
    assert "[red]x[/red]" in lines[2]


def test_whole_numbers_stay_whole_and_a_narrow_terminal_breaks_headers_not_numbers(monkeypatch):
    monkeypatch.setenv("COLUMNS", "36")
    table = {"system": ["a1", "b1"], "alpha": [1.0, 5.0], "loss_over_20": [0.1234, -12.5]}
    lines = printed(Example(table=table))
    assert lines[-2].split() == ["a1", "1", "0.1234"]
    assert lines[-1].split() == ["b1", "5", "-12.5000"]


def test_a_single_row_too_wide_says_its_words_above_and_keeps_its_numbers(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    table = {"system": ["new"], "champion": ["old"], "form": ["alpha"]}
    table |= {name: [0.25] for name in "abc"}
    lines = printed(Example(table=table))
    assert lines[0] == "champion old  form alpha"
    assert lines[1].split() == ["system", "a", "b", "c"]


def test_columns_that_do_not_fit_are_left_out_and_counted(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = printed(Example(table={name: [0.25, 0.5] for name in "abcdefgh"}))
    assert lines[0].split() == ["a", "b", "c", "d"]
    assert lines[-1] == "4 more columns with --format csv"


@pytest.mark.parametrize("width", range(30, 130, 7))
def test_no_cell_is_cropped_at_any_width(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    table = {
        "system": ["challenger1", "challenger2"],
        "slice": ["product code", "question"],
        "alpha": np.array([1.0, 2.0]),
        "verdict": ["unclear", "risky"],
        "loss_over_20": np.array([7, 0]),
        "p_adjusted": np.array([1.5e-10, 0.25]),
        "worst_topics": ["q001 (0.5 -> 0.3), q002 (0.25 -> 0.1), q003", "none"],
    }
    out = io.StringIO()
    print_result(Example(table=table), file=out)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    shown = [line for line in lines if line.startswith(" challenger1")]
    cells = shown[0].split()
    assert cells[0] == "challenger1"
    if width > 50:
        assert "unclear" in cells
    if width > 80:
        assert {"7", "1.5e-10"} <= set(cells)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ä <b>& 検索 \\ 😀", "ä <b>& 検索 \\ 😀"),
        ("\x1b]0;title\x07a", r"\x1b]0;title\x07a"),
        ("a\nb\tc\u2028d", r"a\nb\tc\u2028d"),
        ("\x9b31m\x7f", r"\x9b31m\x7f"),
        ("gpj\u202eexe", r"gpj\u202eexe"),
        ("run\udcff", r"run\udcff"),
    ],
)
def test_a_name_out_of_a_file_does_not_command_the_terminal(text, shown):
    assert visible(text) == shown
    finding = Example(table={"system": [text, "b"]}, headline=(f"Safe: {text}.",))
    lines = printed(finding)
    assert lines[0] == f"Safe: {shown}."
    assert lines[3].strip() == shown
