"""TREC judgments and runs, from files, tables, frames and dicts."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.data.documents import Documents
from surefoot.data.qrels import Qrels
from surefoot.data.run import Run
from surefoot.errors import InputError
from surefoot.io.faults import COLUMNS, parse_error
from surefoot.io.sources import Source, feed_stretch
from surefoot.kernels import text as kernel


def read_qrels(source: Any, *, duplicates: str = "error") -> Qrels:
    """Read judgments.

    Parameters
    ----------
    source : path, "-", Qrels, ``{topic: {document: grade}}``, data frame or records
        A TREC file has the columns topic, iteration, document, grade, separated by blanks or tabs;
        gzip, bzip2, zstd and xz are unpacked. Tables (CSV, TSV, JSON Lines, Parquet) and frames
        name their columns ``query_id, doc_id, relevance`` or ``qid, docno, label`` or ``q_id,
        doc_id, score``. ir_measures' Qrel records and ranx' Qrels are taken too.
    duplicates : "error", "first" or "last"
        What to do where a document is judged twice for a topic.
    """
    check_duplicates_option(duplicates)
    if isinstance(source, Qrels):
        return source
    if isinstance(source, Mapping):
        return Qrels.from_dict(source)
    if isinstance(source, (str, os.PathLike)):
        opened = Source(os.fspath(source))
        name = opened.path
        keeper = _keep(opened, "judgments", duplicates)
    else:
        from surefoot.io.dialects import from_object

        name = "the judgments"
        keeper = from_object(source, "judgments", duplicates)
    topics, offsets, block, ends, grades, _ = keeper.kept()
    return Qrels(
        _names(topics),
        offsets,
        grades,
        Documents(block, ends),
        name=name,
        dropped=keeper.dropped,
    )


def read_run(source: Any, *, duplicates: str = "error", name: str | None = None) -> Run:
    """Read a run.

    Parameters
    ----------
    source : path, "-", Run, ``{topic: {document: score}}``, data frame or records
        A TREC file has the columns topic, Q0, document, rank, score, tag; else as for `read_qrels`,
        with a column ``score`` and optionally ``rank``.
    duplicates : "error", "first" or "last"
        What to do where a document is retrieved twice for a topic.
    name : str, optional
        The run's name; its file's by default.
    """
    check_duplicates_option(duplicates)
    if isinstance(source, Run):
        return source
    if isinstance(source, Mapping):
        return Run.from_dict(source, name=name or "run")
    if isinstance(source, (str, os.PathLike)):
        return keep_run(Source(os.fspath(source)), duplicates=duplicates, name=name)
    from surefoot.io.dialects import from_object

    keeper = from_object(source, "run", duplicates)
    return _run_of(keeper, name or getattr(source, "name", None) or "run")


def keep_run(source: Source, *, duplicates: str, name: str | None = None) -> Run:
    """Read a run from an open source, documents and all."""
    return _run_of(_keep(source, "run", duplicates), name or run_name(source.path))


def _run_of(keeper: kernel.Keeper, name: str) -> Run:
    tag = keeper.tag.decode("utf-8", "replace")
    topics, offsets, block, ends, scores, ranks = keeper.kept()
    return Run(
        _names(topics),
        offsets,
        scores,
        ranks,
        Documents(block, ends),
        name=str(name),
        tag=tag,
        other_tags=keeper.other_tags,
        dropped=keeper.dropped,
    )


def _names(topics: list[bytes]) -> tuple[str, ...]:
    return tuple(topic.decode("utf-8", "surrogateescape") for topic in topics)


def run_name(path: str) -> str:
    """A run's name: its file's, without folder and endings."""
    name = Path(path).name
    for ending in (".gz", ".bz2", ".zst", ".xz"):
        name = name.removesuffix(ending)
    for ending in (".run", ".txt", ".trec", ".res"):
        name = name.removesuffix(ending)
    return name or path


def check_duplicates_option(duplicates: str) -> None:
    """Refuse an unknown way to treat duplicates."""
    if duplicates not in kernel.DUPLICATES:
        choices = ", ".join(kernel.DUPLICATES)
        raise InputError(f"duplicates must be one of {choices}, but got {duplicates!r}")


def _keep(source: Source, kind: str, duplicates: str) -> kernel.Keeper:
    """Read a whole file into a keeper."""
    from surefoot.io.dialects import is_table, keep_table

    if is_table(source):
        return keep_table(source, kind, duplicates)
    make = kernel.qrels_keeper if kind == "judgments" else kernel.run_keeper
    keeper = make(duplicates)
    read_through(keeper, source, kind)
    if keeper.rows == 0:
        raise empty(source, kind)
    return keeper


def read_through(reader: kernel.Reader, source: Source, kind: str) -> None:
    """Feed a source to a reader to its end; errors carry file and line."""
    try:
        if source.is_plain_file:
            with Path(source.path).open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                feed_stretch(reader, file.fileno(), source.path, 0, size)
        else:
            for block in source.blocks():
                reader.feed(block)
        reader.finish()
    except kernel.TextError as error:
        raise parse_error(error, source.path, kind) from None


def empty(source: Source, kind: str) -> InputError:
    """The one line for a file without rows."""
    begin = next(source.blocks(), b"").removeprefix(b"\xef\xbb\xbf")
    what = "the file has blank lines only" if begin else "the file is empty"
    return InputError(
        f"{source.path}: {what}. Hint: {'judgments' if kind == 'judgments' else 'a run'} "
        f"{'have' if kind == 'judgments' else 'has'} the columns {' '.join(COLUMNS[kind])}"
    )
