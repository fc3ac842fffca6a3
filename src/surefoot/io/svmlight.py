"""Labelled features: SVMlight / LETOR text, Parquet, and the fold layouts of LETOR and MSLR."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.data.features import FeatureData, adjacent_queries, concatenate
from surefoot.errors import InputError, ParseError
from surefoot.extras import require
from surefoot.io.sources import Source
from surefoot.kernels.svmlight import Fault, read_svmlight

_QUERY = ("qid", "query_id", "query", "topic", "q_id")
_LABEL = ("label", "relevance", "y", "grade")
_DOCUMENT = ("docid", "docno", "doc_id", "doc", "document")
# the three files of a fold, by each of the names in use
_PARTS = {
    "train": ("train", "trainingset", "Train"),
    "valid": ("vali", "validationset", "valid", "validation"),
    "test": ("test", "testset", "Test"),
}


def read_features(path: str | os.PathLike[str]) -> FeatureData:
    """Read labelled documents with features.

    Parameters
    ----------
    path : path
        ``label qid:ID index:value ... # docid = X`` lines (``.gz``, ``.bz2`` and ``.zst`` too), or
        a Parquet table with a query column, a label column, an optional document column and one
        numeric column a feature. Where the text has no query ids, a file of group sizes beside it
        (``FILE.query``, LightGBM's habit) supplies them.
    """
    name = str(path)
    if Path(name).suffix == ".parquet":
        return _read_parquet(name)
    source = Source(name)
    text = source.contents()
    try:
        found = read_svmlight(text)
    except UnicodeDecodeError:
        source.text()  # says which line
        raise
    if isinstance(found, Fault) and "no qid" in found.message:
        sizes = _group_sizes(name)
        if sizes is not None:
            found = read_svmlight(_with_query_ids(text, sizes, name))
    if isinstance(found, Fault):
        hint = (
            ". Hint: lines read 'label qid:ID index:value ...', or put the group sizes in "
            f"{Path(name).name}.query"
            if "no qid" in found.message
            else ""
        )
        raise ParseError(name, found.line, found.message + hint)
    features, labels, ids, first, documents = found
    if labels.size == 0:
        raise InputError(f"{name}: there are no documents")
    _refuse_scattered(ids, first, name)
    offsets = np.append(first, labels.size).astype(np.int64)
    given = any(documents)
    names = tuple(documents) if given and all(documents) else ()
    if names and not _unique_within(names, offsets):
        names = ()  # LETOR's placeholder ids name nothing
    try:
        return FeatureData(features, labels, tuple(ids), offsets, names)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _refuse_scattered(ids: list[str], first: Any, name: str) -> None:
    seen: dict[str, int] = {}
    for query, row in zip(ids, first.tolist(), strict=True):
        if query in seen:
            raise InputError(
                f"{name}: query {query} is scattered: document {row + 1} belongs to it, but other "
                "queries lie between. Hint: sort -s -k2,2 FILE (the qid field) brings them together"
            )
        seen[query] = row


def _unique_within(names: tuple[str, ...], offsets: Any) -> bool:
    at = offsets.tolist()
    return all(len(set(names[a:b])) == b - a for a, b in pairwise(at))


def _group_sizes(name: str) -> list[int] | None:
    base = Path(name.removesuffix(".gz"))
    for sidecar in (Path(f"{name}.query"), Path(f"{base}.query")):
        if sidecar.is_file():
            try:
                return [int(line) for line in sidecar.read_text().split()]
            except ValueError:
                raise InputError(f"{sidecar}: holds something other than group sizes") from None
    return None


def _with_query_ids(text: bytes, sizes: list[int], name: str) -> bytes:
    lines = [line for line in text.split(b"\n") if line.strip()]
    if sum(sizes) != len(lines):
        raise InputError(
            f"{name}: has {len(lines)} documents, but the group sizes add up to {sum(sizes)}"
        )
    out, row = [], 0
    for query, size in enumerate(sizes, start=1):
        for _ in range(size):
            label, _, rest = lines[row].strip().replace(b"\t", b" ").partition(b" ")
            out.append(label + b" qid:%d " % query + rest)
            row += 1
    return b"\n".join(out)


def _read_parquet(name: str) -> FeatureData:
    parquet = require("pyarrow.parquet", purpose="reading Parquet")
    try:
        table = parquet.read_table(name)
    except OSError as error:
        raise InputError(f"cannot read {name}: {error}") from None
    columns = list(table.column_names)

    def find(choices: tuple[str, ...]) -> str | None:
        return next((c for c in columns if c.lower() in choices), None)

    query, label, document = find(_QUERY), find(_LABEL), find(_DOCUMENT)
    if query is None or label is None:
        raise InputError(
            f"{name}: needs a query column ({', '.join(_QUERY)}) and a label column "
            f"({', '.join(_LABEL)}), but has {', '.join(columns[:8])}"
        )
    names = [c for c in columns if c not in (query, label, document)]
    if not names:
        raise InputError(f"{name}: has no feature columns")
    features = np.column_stack(
        [np.asarray(table[c].to_numpy(zero_copy_only=False), dtype=np.float32) for c in names]
    )
    try:
        queries, offsets = adjacent_queries([str(q) for q in table[query].to_pylist()])
        return FeatureData(
            features,
            np.asarray(table[label].to_numpy(zero_copy_only=False), dtype=np.float32),
            queries,
            offsets,
            tuple(str(d) for d in table[document].to_pylist()) if document else (),
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold; each part is read when asked for, from `files` where it comes from some."""

    name: str
    train: Callable[[], FeatureData]
    valid: Callable[[], FeatureData]
    test: Callable[[], FeatureData]
    files: tuple[Path, ...] = ()


def find_folds(directory: str | os.PathLike[str]) -> list[Fold]:
    """The folds of a directory.

    Two layouts are known: ``Fold1/train.txt, vali.txt, test.txt`` (MSLR-WEB10K and 30K, LETOR's
    ``trainingset.txt`` names too), and parts alone, ``S1.txt`` or ``fold1_test.txt``, from which
    fold k tests on part k, validates on part k - 1 and trains on the rest, as LETOR does.
    """
    root = Path(directory)
    if not root.is_dir():
        raise InputError(
            f"{root} is not a directory. Hint: the folder that holds Fold1, Fold2, ..."
        )
    named = sorted((p for p in root.iterdir() if _number(r"Fold(\d+)", p.name)), key=_order)
    if named:
        return [_named_fold(p) for p in named if p.is_dir()]
    parts = sorted((p for p in root.iterdir() if _number(_PART, p.name)), key=_order)
    if len(parts) < 3:
        raise InputError(
            f"{root}: there are neither folders Fold1, Fold2, ... nor at least three parts "
            "S1.txt, S2.txt, S3.txt"
        )

    def reader(*chosen: Path) -> Callable[[], FeatureData]:
        return lambda: concatenate([read_features(p) for p in chosen])

    folds = []
    for k, test in enumerate(parts):
        valid = parts[k - 1]
        train = [p for p in parts if p not in (test, valid)]
        folds.append(
            Fold(f"fold{k + 1}", reader(*train), reader(valid), reader(test), (*train, valid, test))
        )
    return folds


_PART = r"(?:S|fold|part|A)(\d+)(?:_test)?\.(?:txt|svm|dat)(?:\.gz)?"


def _number(pattern: str, name: str) -> int | None:
    match = re.fullmatch(pattern, name, re.IGNORECASE)
    return None if match is None else int(match[1])


def _order(path: Path) -> int:
    return int(re.findall(r"\d+", path.name)[0])


def _named_fold(folder: Path) -> Fold:
    found = {}
    for part, names in _PARTS.items():
        files = [
            folder / f"{n}{s}"
            for n in names
            for s in (".txt", ".txt.gz", ".svm", ".svm.gz", ".parquet")
        ]
        path = next((f for f in files if f.is_file()), None)
        if path is None:
            raise InputError(f"{folder}: there is no {part} file. Hint: {names[0]}.txt")
        found[part] = path

    def reader(path: Path) -> Callable[[], FeatureData]:
        return lambda: read_features(path)

    return Fold(
        folder.name.lower(),
        reader(found["train"]),
        reader(found["valid"]),
        reader(found["test"]),
        tuple(found.values()),
    )
