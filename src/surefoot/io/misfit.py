"""Do this run and these judgments belong together, and if not, what is the nearest cause?"""

import re
from collections.abc import Callable, Iterable, Sequence

from surefoot.data.qrels import Qrels
from surefoot.data.rankings import JudgedRankings
from surefoot.data.run import Run

# what may have happened to an id on its way, as "the ids differ by ..."
_REWRITES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("upper and lower case", str.casefold),
    ("leading zeros", lambda i: re.sub(r"(?<!\d)0+(?=\d)", "", i)),
    ("a trailing '.0', as a data frame of floats writes them", lambda i: i.removesuffix(".0")),
    ("quotes", lambda i: i.strip("\"'")),
    ("a file ending", lambda i: re.sub(r"\.(txt|html?|xml|json|gz)$", "", i)),
    ("a folder in front", lambda i: i.rpartition("/")[2]),
    ("a prefix", lambda i: re.sub(r"^.*?0*(?=\d+$)", "", i)),
    ("a suffix", lambda i: re.sub(r"(?<=\d)\D.*$", "", i)),
)
_SAMPLE = 2000


def no_common_topic(qrels: Qrels, run: Run) -> str:
    """Why a run has none of the judged topics: one line for an error."""
    cause = nearest_rewrite(run.topics, qrels.topics)
    if cause is None:
        cause = (
            f"the run has topics {spread(run.topics)}, the judgments {spread(qrels.topics)}; "
            "they look like different collections"
        )
    return (
        f"run {run.name!r} and {qrels.name} have no topic in common "
        f"({len(run.topics)} and {len(qrels.topics)} topics). Hint: {cause}"
    )


def misfit_notes(qrels: Qrels, joined: JudgedRankings) -> list[str]:
    """What a user should know before trusting scores of this run; empty where all is well.

    Cheap for a run that fits; documents are read again only to explain one that does not.
    """
    notes = []
    missing = [t for t, present in zip(joined.topics, joined.in_run, strict=True) if not present]
    if missing:
        share = len(missing) / len(joined.topics)
        note = (
            f"run {joined.name!r} lacks {len(missing)} of {len(joined.topics)} judged topics "
            f"({names(missing)})"
        )
        if share >= 0.5 and joined.extra_topics:
            note += (
                f" and has {joined.extra_topics} without judgments; "
                "are these the judgments of this collection?"
            )
        notes.append(note)
    elif joined.extra_topics:
        notes.append(
            f"run {joined.name!r} has {joined.extra_topics} topics without judgments, left out"
        )
    if joined.code.size and not joined.code.any():
        notes.append(
            f"run {joined.name!r} retrieves no judged document. Hint: "
            + nothing_judged(qrels, joined)
        )
    return notes


def nothing_judged(qrels: Qrels, joined: JudgedRankings) -> str:
    """The nearest cause of a run without any judged document."""
    judged = qrels.documents.strings(0, min(len(qrels), 100_000))
    retrieved: list[str] = []
    for i in range(len(joined.topics)):
        retrieved += joined.doc_ids(i)[:50]
        if len(retrieved) > _SAMPLE:
            break
    if not set(retrieved).isdisjoint(judged):
        return (
            "its documents are judged for other topics only; are the topics numbered differently, "
            "or were judged documents removed from the run?"
        )
    cause = nearest_rewrite(retrieved, judged)
    if cause is not None:
        return cause
    return (
        f"its documents look like {names(retrieved[:2])}, the judged ones like "
        f"{names(judged[:2])}; they look like different collections"
    )


def nearest_rewrite(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
    """How ids would have to be rewritten to agree, if one simple rule does it."""
    ours = list(dict.fromkeys(ours))[:_SAMPLE]
    for what, rewrite in _REWRITES:
        known: dict[str, str] = {}
        for name in theirs:
            known.setdefault(rewrite(name), name)
        hits = [(name, known[rewrite(name)]) for name in ours if rewrite(name) in known]
        hits = [(a, b) for a, b in hits if rewrite(a)]
        if 2 * len(hits) >= len(ours):
            a, b = hits[0]
            return f"the ids differ by {what}: {a!r} in the run, {b!r} in the judgments"
    return None


def spread(topics: Sequence[str]) -> str:
    """The first and last of some names."""
    if len(topics) < 3:
        return names(topics)
    return f"{topics[0]!r} to {topics[-1]!r}"


def names(items: Iterable[str], limit: int = 5) -> str:
    """A few names, and how many there are where not all are shown."""
    items = list(items)
    shown = ", ".join(map(repr, items[:limit]))
    return shown if len(items) <= limit else f"{shown}, ... {len(items)} in all"
