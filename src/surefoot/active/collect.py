"""Which documents to label now, taking their labels in, and paying for more of them."""

import math
import os
from typing import Any

from surefoot.active.estimating import estimate
from surefoot.active.group_sequential import last_look, look_times
from surefoot.active.sequential import parse_rule
from surefoot.active.store.labelling import take_labels
from surefoot.active.store.study import Study
from surefoot.errors import InputError
from surefoot.io.labels import read_labels
from surefoot.results.active_tasks import ExtendResult, LabelResult, TasksResult


def next_tasks(
    study: str | os.PathLike[str] | Study, *, count: int = 1, labeller: str = ""
) -> TasksResult:
    """The documents to label now. Asking again without labelling gives the same answer.

    Parameters
    ----------
    study : path, URL or Study
        Further draws are recorded in it as needed.
    count : int
        How many queries.
    labeller : str
        Whoever will label them; the queries are then kept for this labeller for a day.
    """
    if count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    opened = study if isinstance(study, Study) else Study(study)
    stopped = _stopped(opened)
    if stopped:
        return TasksResult(settings={"ended": stopped}, headline=(f"Nothing to label: {stopped}.",))
    tasks, ended = opened.next_tasks(count, labeller=labeller)
    rows = [(t.topic, t.docs[i], t.draw, t.cost) for t in tasks for i in t.open_docs]
    if rows:
        line = f"{len(rows)} documents of {len(tasks)} queries to label."
    elif ended:
        line = f"Nothing to label: {ended}."
    else:
        line = "Nothing to label: all drawn queries are with other labellers."
    topic, doc, draw, cost = zip(*rows, strict=True) if rows else ((), (), (), ())
    return TasksResult(
        settings={"ended": ended, "queries": len(tasks), "labeller": labeller},
        headline=(line,),
        topic=topic,
        doc=doc,
        draw=draw,
        cost=cost,
    )


def _stopped(study: Study) -> str:
    """Why a sequential study has seen enough, or ""."""
    rule = study.settings["stop"]
    if not rule:
        return ""
    draws = study.draws()
    labelled = next((i for i, d in enumerate(draws) if not d.complete), len(draws))
    planned = float(study.settings["expected_draws"])
    if labelled < look_times(planned)[0]:
        return ""
    ended = labelled == len(draws) and bool(study.progress().ended)
    look, n = last_look(labelled, planned, ended=ended)
    # what a look says stands until labels before it change
    key = (look, n, study.last_label(n))
    if study.look is None or study.look[0] != key:
        found = estimate(study, interval="group")
        study.look = (key, parse_rule(rule).met(found.low[0], found.high[0]))
    return f"the stopping rule ({rule}) is met" if study.look[1] else ""


def label(
    study: str | os.PathLike[str] | Study,
    labels: Any,
    *,
    labeller: str = "",
    missing: int | None = None,
) -> LabelResult:
    """Take labels into a study; when this returns, they are on the disk.

    Parameters
    ----------
    labels : path, Qrels, ``{topic: {doc: grade}}``, data frame or iterable of `Label`
        May hold more topics and documents than the study asks for; these are counted and left out.
    labeller : str
        Who gave the labels that do not name their labeller.
    missing : int, optional
        Grade of the documents of a topic in `labels` that the labels do not mention.
    """
    opened = study if isinstance(study, Study) else Study(study)
    top = int(opened.settings["grades"]) - 1
    rows = read_labels(labels, top=top, labeller=labeller)
    if missing is not None:
        if not 0 <= missing <= top:
            raise InputError(f"the grade of missing documents must be 0 to {top}, got {missing}")
        rows += _fill(opened, rows, missing, labeller)
    source = str(labels) if isinstance(labels, (str, os.PathLike)) else type(labels).__name__
    taken = take_labels(opened, rows, source=source)
    if taken.elsewhere and not (taken.stored or taken.unchanged):
        raise InputError(
            f"{source}: none of the {taken.elsewhere} labels is of a topic and document of the "
            f"study {opened.database.shown}. Hint: do the ids match those of the pool?"
        )
    lines = [f"{taken.stored} labels stored; {taken.completed} more queries are complete."]
    if taken.corrected:
        lines.append(f"{taken.corrected} of them differ from what the same labeller said before.")
    if taken.elsewhere:
        lines.append(f"{taken.elsewhere} labels of other topics or documents were left out.")
    return LabelResult(
        settings={"source": source},
        headline=tuple(lines),
        stored=taken.stored,
        corrected=taken.corrected,
        unchanged=taken.unchanged,
        elsewhere=taken.elsewhere,
        completed=taken.completed,
    )


def extend(study: str | os.PathLike[str] | Study, budget: float) -> ExtendResult:
    """Raise a study's budget; draws go on where they stopped.

    Parameters
    ----------
    budget : float
        What is added, in units of the mean cost of a query.
    """
    if not (math.isfinite(budget) and budget > 0):
        raise InputError(f"the further budget must be above 0, got {budget:g}")
    opened = study if isinstance(study, Study) else Study(study)
    if opened.settings["stop"]:
        raise InputError(
            f"{opened.database.shown}: the looks of a study with a stopping rule are planned for "
            "its budget, which stays. Hint: plan a further study"
        )
    opened.grant(budget)
    now_at = opened.progress()
    lines = [f"The budget is now {now_at.budget:g}, of which {now_at.spent:.2f} is spent."]
    if now_at.labelled:
        lines.append(
            "If the estimate was looked at to decide this, only --interval sequence still covers."
        )
    return ExtendResult(
        settings={"study": opened.database.shown},
        headline=tuple(lines),
        added=float(budget),
        budget=now_at.budget,
        spent=now_at.spent,
    )


def _fill(study: Study, rows: list[Any], grade: int, labeller: str) -> list[Any]:
    """Labels for the documents that a topic's labels do not mention."""
    from surefoot.io.labels import Label

    named: dict[str, set[str]] = {}
    for row in rows:
        named.setdefault(row.topic, set()).add(row.doc)
    wanted = study.docs_of(list(named))
    return [
        Label(topic, doc, grade, labeller)
        for topic, docs in wanted.items()
        for doc in docs
        if doc not in named[topic]
    ]
