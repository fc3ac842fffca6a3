"""Score tables: long, wide, trec_eval's and PyTerrier's, from files, frames or dicts."""

import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError, ParseError, UnreliableWarning
from surefoot.io.faults import shown
from surefoot.io.sources import Source, read_text
from surefoot.io.tables import (
    Table,
    delimiter_of,
    frame_table,
    lines_of,
    number,
    parquet_table,
    text_table,
)
from surefoot.io.trec import run_name
from surefoot.results.record import Result

_read_text = read_text

# names that each role may have in a header
_SYSTEM = ("system", "name", "run", "runid", "run_id")
_TOPIC = ("topic", "qid", "topic_id", "query_id", "q_id", "query")
_SCORE = ("score", "value")
_MEASURE = ("measure", "metric")
# columns of a long table that are no measure
_BESIDE = ("lower", "upper", "champion", "slice", "group", "rank", "fold")
# columns of a wide table that number its rows, where they hold whole numbers
_NUMBERING = ("fold",)
# how HDF5 files begin, as `fit` writes them
FIT_MAGIC = b"\x89HDF"
# what programs call the row of means
_MEAN_ROWS = ("all", "amean", "gmean")


def read_scores(source: Any, *, measure: str | None = None, named: bool = False) -> ScoreMatrix:
    """Read per-topic scores.

    Parameters
    ----------
    source : path, "-", ScoreMatrix, mapping, data frame or Evaluation
        A long table (``system, topic, score[, measure]``, PyTerrier's ``name, qid, measure,
        value``, gdeval's ``runid, topic, ndcg@20, err@20``), a wide one (one row a topic, one
        column a system, optionally a topic column), or trec_eval's -q output; CSV, TSV, JSON,
        JSON Lines, Parquet, compressed too; ``{system: {topic: score}}``; any frame that narwhals
        understands; what `evaluate` returned with ``per_topic=True``. Rows of means (topic
        ``all``) are left out; an empty cell is a missing score. Of a wide table, further columns of
        topic names and a ``fold`` of whole numbers are no systems: they are left out with a
        warning.
    measure : str, optional
        Which measure to keep where the table holds several, or what to call the one of a table that
        names none.
    named : bool
        Refuse a `measure` that the table does not name, instead of believing it.
    """
    if isinstance(source, ScoreMatrix):
        return source
    matrix, says = _read(source, measure)
    if named and measure is not None and not says:
        what = source if isinstance(source, (str, os.PathLike)) else "the table"
        raise InputError(
            f"{what}: the table does not say of which measure its scores are, so {measure!r} "
            "cannot be picked from it. Hint: leave the measure out"
        )
    return matrix


def _read(source: Any, measure: str | None) -> tuple[ScoreMatrix, bool]:
    """Scores, and whether their table names the measure."""
    if isinstance(source, Mapping):
        return _from_mapping(source, measure), False
    if not isinstance(source, (str, os.PathLike)):
        return _from_table(_object_table(source), measure)
    path = os.fspath(source)
    opened = Source(path)
    if opened.is_parquet:
        return _from_table(parquet_table(opened), measure)
    if opened.first_line().startswith(FIT_MAGIC):
        raise InputError(
            f"{opened.path}: is a fit (or another HDF5 file), not a table of scores. "
            f"Hint: --fit {opened.path}"
        )
    text = opened.text()
    lines = lines_of(text)
    if _is_trec_eval(lines):
        return _from_trec_eval(lines, opened.path, measure)
    _refuse_trec(lines, opened.path)
    return _from_table(text_table(text, opened.path), measure)


def _from_mapping(scores: Mapping[Any, Any], measure: str | None) -> ScoreMatrix:
    """``{system: {topic: score}}``, each score a finite number or None."""
    rows = []
    for system, by_topic in scores.items():
        if not isinstance(by_topic, Mapping):
            raise InputError(
                f"system {system!r} has {type(by_topic).__name__} where {{topic: score}} is "
                "expected. Hint: {system: {topic: score}}, or a data frame"
            )
        for topic, score in by_topic.items():
            value = None if isinstance(score, str) else number(score)
            if value is None:
                raise InputError(
                    f"the score of system {system!r} on topic {topic!r} is not a finite number: "
                    f"{score!r}"
                )
            rows.append((str(system), str(topic), value))
    if not rows:
        raise InputError("the scores are empty")
    system, topic, values = zip(*rows, strict=True)
    return ScoreMatrix.from_long(system, topic, values, measure=measure or "")


def _object_table(source: Any) -> Table:
    """A frame, a result of `evaluate`, or ir_measures' per-topic Metric records."""
    if isinstance(source, Result):
        return Table(
            f"the result of {source.command}", {k: list(v) for k, v in source.columns().items()}
        )
    table = frame_table(source, "the data frame")
    if table is not None:
        return table
    if isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        rows = list(source)
        fields = ("query_id", "measure", "value")
        if rows and all(all(hasattr(row, f) for f in fields) for row in rows):
            columns: dict[str, list[Any]] = {f: [getattr(r, f) for r in rows] for f in fields}
            columns["measure"] = [str(m) for m in columns["measure"]]
            columns["system"] = ["run"] * len(rows)
            return Table("the records", columns)
    raise InputError(
        f"scores cannot be a {type(source).__name__}. "
        "Hint: a path, a dict of dicts, or a data frame"
    )


# -- tables --------------------------------------------------------------------------------------


def _find(columns: Iterable[str], choices: Sequence[str]) -> str | None:
    return next((c for name in choices for c in columns if c.strip().lower() == name), None)


def _from_table(table: Table, measure: str | None) -> tuple[ScoreMatrix, bool]:
    columns = table.columns
    system, topic = _find(columns, _SYSTEM), _find(columns, _TOPIC)
    if system is None or topic is None:
        return _from_wide(table, measure), False
    score, measure_column = _find(columns, _SCORE), _find(columns, _MEASURE)
    says = True
    rows = range(len(table))
    if score is None:
        # one column a measure
        score = choose(
            [
                c
                for c in columns
                if c not in (system, topic, measure_column) and c.strip().lower() not in _BESIDE
            ],
            measure,
            table.name,
        )
        label = score
    elif measure_column is not None:
        names = table.names(measure_column)
        label = choose(list(dict.fromkeys(names)), measure, table.name)
        rows = range(len(names))
        kept = [i for i in rows if names[i] == label]
        table = _rows(table, kept)
        rows = range(len(table))
    else:
        label, says = measure or "", False
    topics = table.names(topic)
    per_topic = [i for i in rows if topics[i].lower() not in _MEAN_ROWS]
    if not per_topic:
        raise InputError(
            f"{table.name}: the table has means only (topic 'all'). "
            "Hint: per-topic scores are needed; evaluate with -q"
        )
    if len(per_topic) < len(table):
        table = _rows(table, per_topic)
    return _matrix(table, system, topic, score, label), says


def _rows(table: Table, rows: Sequence[int]) -> Table:
    columns = {name: [values[i] for i in rows] for name, values in table.columns.items()}
    return Table(table.name, columns, [table.lines[i] for i in rows] if table.lines else ())


def _matrix(table: Table, system: str, topic: str, score: str, label: str) -> ScoreMatrix:
    systems, topics = table.names(system), table.names(topic)
    seen: dict[tuple[str, str], int] = {}
    for row, key in enumerate(zip(systems, topics, strict=True)):
        if key in seen:
            where = f"line {table.lines[seen[key]]}" if table.lines else f"row {seen[key]}"
            raise table.fault(
                row,
                f"system {key[0]!r} has another score on topic {key[1]!r} in {where}. "
                "Hint: keep one; does the table hold several measures without naming them?",
            )
        seen[key] = row
    values = table.numbers(score, missing=True)
    bounds = [_find(table.columns, (name,)) for name in ("lower", "upper")]
    lower, upper = (
        table.numbers(name, missing=True) if name is not None and None not in bounds else None
        for name in bounds
    )
    if lower is not None and upper is not None and np.array_equal(lower, upper, equal_nan=True):
        # what `evaluate` writes where a measure has no bounds: nothing is known about the unjudged
        lower = upper = None
    return ScoreMatrix.from_long(systems, topics, values, measure=label, lower=lower, upper=upper)


def choose(present: Sequence[str], wanted: str | None, where: str) -> str:
    """One of the measures that a table holds: the one asked for, or the only one."""
    if not present:
        raise InputError(f"{where}: the table has no score column. Hint: call it 'score'")
    if wanted is None:
        if len(present) > 1:
            shown_names = ", ".join(present[:8]) + (", ..." if len(present) > 8 else "")
            raise InputError(
                f"{where}: the table holds several measures ({shown_names}). "
                "Hint: choose one with -m"
            )
        return present[0]
    if wanted in present:
        return wanted
    same = [name for name in present if _plain(name) == _plain(wanted)]
    if len(same) == 1:
        return same[0]
    near = get_close_matches(wanted, present, n=3) or list(present[:8])
    raise InputError(
        f"{where}: holds no measure {wanted!r}. Hint: there is {' and '.join(map(repr, near))}"
    )


def _plain(measure: str) -> str:
    """A measure's name without the marks in which its spellings differ."""
    name = re.sub(r"[^a-z0-9=]", "", measure.lower().replace("cut", ""))
    return {"map": "ap", "reciprank": "rr", "mrr": "rr"}.get(name, name)


def _from_wide(table: Table, measure: str | None) -> ScoreMatrix:
    names = list(table.columns)
    # pandas leaves the name of its index empty
    topic = _find(names, (*_TOPIC, "", "unnamed: 0"))
    beside = [n for n in names if n != topic and _is_no_system(table, n, topic)]
    systems = [n for n in names if n != topic and n not in beside]
    if beside and systems:
        which = f"column{'s' if len(beside) > 1 else ''} {' and '.join(map(repr, beside))}"
        by = f"its topics are those of {topic!r}" if topic is not None else "its rows are topics"
        warnings.warn(
            f"{table.name}: {which} left out, which names no system; {by}",
            UnreliableWarning,
            stacklevel=5,
        )
    if not systems:
        raise InputError(f"{table.name}: the table has no system column, only {names}")
    if any("." in s for s in systems) and all(number(s) is not None for s in systems):
        raise InputError(
            f"{table.name}: the header holds numbers where it should name the systems. "
            "Hint: put a line of names on top"
        )
    kept = table
    if topic is not None:
        topics = table.names(topic)
        rows = [i for i, t in enumerate(topics) if t.lower() not in _MEAN_ROWS]
        kept = _rows(table, rows) if len(rows) < len(topics) else table
        topics = kept.names(topic)
        repeated = next((i for i, t in enumerate(topics) if t in topics[:i]), None)
        if repeated is not None:
            raise kept.fault(repeated, f"topic {topics[repeated]!r} has another row")
    else:
        # a table of means by system has one column of names and is no table of topics
        width = max(3, len(str(max(len(table) - 1, 0))))
        topics = [f"t{j:0{width}d}" for j in range(len(table))]
    values = np.array([kept.numbers(s, missing=True, what=f"score of {s!r}") for s in systems])
    values = values.reshape(len(systems), len(topics))
    return ScoreMatrix(tuple(systems), tuple(topics), values, measure=measure or "")


def _is_no_system(table: Table, column: str, topic: str | None) -> bool:
    """Whether a column of a wide table names or numbers its rows, and holds no scores."""
    name = column.strip().lower()
    if topic is not None and name in _TOPIC:
        return True
    if name not in _NUMBERING:
        return False
    values = [number(cell) for cell in table.columns[column]]
    return all(v is not None and (v != v or v == int(v)) for v in values)


def _refuse_trec(lines: Sequence[str], path: str) -> None:
    """Judgments and runs hold no scores of topics yet."""
    line = next((line for line in lines if line.strip()), "")
    fields = line.split()
    if "," in line or len(fields) not in (4, 6) or fields[1].upper() not in ("0", "Q0"):
        return
    if number(fields[3]) is None:
        return
    what = "judgments" if len(fields) == 4 else "a run"
    raise InputError(
        f"{path}: looks like {what}, not a table of scores. "
        "Hint: --qrels QRELS --run RUN... -m MEASURE evaluate first"
    )


# -- trec_eval's own output ----------------------------------------------------------------------


def _is_trec_eval(lines: Sequence[str]) -> bool:
    """Three fields, no header: the third is a number, or the name of the run."""
    for line in lines:
        fields = line.split()
        if fields:
            break
    else:
        return False
    if delimiter_of(line) in (",", ";") or len(fields) != 3:
        return False
    known = _TOPIC + _SYSTEM + _SCORE
    if fields[0] == "runid":
        return fields[1] not in known
    return number(fields[2]) is not None and fields[2].lower() not in ("nan", "na", "null", "none")


def _from_trec_eval(
    lines: Sequence[str], path: str, measure: str | None
) -> tuple[ScoreMatrix, bool]:
    """``measure topic value`` lines of one run or several; `runid` lines name what is above."""
    system: list[str | None] = []
    rows: dict[str, list[Any]] = {"topic": [], "score": [], "measure": []}
    numbers: list[int] = []
    current: str | None = None
    for line_number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 3:
            text = shown(line.encode("utf-8", "replace"))
            raise ParseError(path, line_number, f"is not 'measure topic value': {text}")
        name, topic, value = fields
        if name == "runid":
            # trec_eval prints it behind a run's topics, together with the means
            current = value
            if None in system:
                system = [value if s is None else s for s in system]
                current = None
            continue
        if topic == "all" or name in ("relstring", "num_q"):
            continue
        system.append(current)
        for key, cell in zip(rows, (topic, value, name), strict=True):
            rows[key].append(cell)
        numbers.append(line_number)
    if not numbers:
        raise InputError(f"{path}: trec_eval's output has means only. Hint: run trec_eval with -q")
    named = [run_name(Path(path).name) if s is None else s for s in system]
    return _from_table(Table(path, {"system": named, **rows}, numbers), measure)
