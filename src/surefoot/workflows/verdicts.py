"""Verdicts in the words of people who run a search engine."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.results.risk import RiskResult

MOST_SENTENCES = 8


def verdict_of(u_risk: float, p_adjusted: float, level: float) -> str:
    """ "risky" or "safe" where URisk differs significantly from zero, else "unclear"."""
    if not p_adjusted < level:
        return "unclear"
    return "risky" if u_risk < 0 else "safe"


def note_of(cell: Mapping[str, Any]) -> str:
    """Why a number of the row is missing or taken by convention."""
    notes = []
    if cell["count"] == 0:
        notes.append("no topic in common")
    elif cell["count"] == 1:
        notes.append("one topic: no standard error")
    elif cell["differing"] == 0:
        notes.append("identical on every topic: t is 0 by convention")
    elif np.isinf(cell["t_risk"]):
        notes.append("the same difference on every topic: no variance, so t is infinite")
    if np.isnan(cell["z_risk"]):
        notes.append("ZRisk needs scores that are not negative")
    elif np.isnan(cell["geo_risk"]):
        notes.append("GeoRisk needs a mean score that is not negative")
    return "; ".join(notes)


def times(alpha: float) -> str:
    """How often a loss counts: "as it is", "twice", "6 times"."""
    if np.isnan(alpha):
        return "by the value function"
    weight = 1 + alpha
    if weight == 1:
        return "as they are"
    return "twice" if weight == 2 else f"{weight:g} times"


def plural(count: float, one: str, many: str | None = None) -> str:
    """ "1 query", "2 queries"."""
    word = one if count == 1 else (many or f"{one}s")
    return f"{int(count)} {word}"


def queries(count: float) -> str:
    """ "1 query", "2 queries"."""
    return plural(count, "query", "queries")


def some(names: Sequence[str], limit: int = 8) -> str:
    """ "a, b, c and 5 more"."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def risk_headline(result: RiskResult) -> tuple[str, ...]:
    """The verdict on each challenger at the first alpha, then what else the table says."""
    rows = [
        i for i in range(len(result.system)) if result.slice is None or result.slice[i] == "all"
    ]
    alphas = list(dict.fromkeys(result.alpha[rows].tolist()))
    first = [i for i in rows if _same(result.alpha[i], alphas[0])]
    out = []
    if len(first) > 1:
        risky = [result.system[i] for i in first if result.verdict[i] == "risky"]
        safe = [result.system[i] for i in first if result.verdict[i] == "safe"]
        out.append(
            f"{len(risky)} of {len(first)} comparisons not safe, {len(safe)} safe, "
            f"{len(first) - len(risky) - len(safe)} unclear, with losses counted "
            f"{times(alphas[0])}."
        )
    order = sorted(first, key=lambda i: ("risky", "unclear", "safe").index(result.verdict[i]))
    if len(order) > MOST_SENTENCES:
        out += _rolls(result, order)
        order = []
    for i in order:
        sweep = [
            j
            for j in rows
            if result.system[j] == result.system[i]
            and result.champion[j] == result.champion[i]
            and j != i
        ]
        out.append(_sentence(result, i) + _changes(result, i, sweep))
        if result.residual is not None:
            out.append(_open(result, i))
    out += _slice_sentences(result, alphas[0])
    if result.settings.get("monotone") is False:
        out.append(
            "The fitted value function is not monotone: a query that improves may lower the risk "
            "scores, and unjudged documents have no range. Hint: use the linear one"
        )
    return tuple(out)


def outside_slices(topics: Sequence[str], slices: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What the slices leave out, and what they name in vain."""
    named = {t for members in slices.values() for t in members}
    out = []
    outside = sum(t not in named for t in topics)
    if outside:
        out.append(f"In no slice: {outside} of {queries(len(topics))}.")
    unknown = sorted(named.difference(topics))
    if unknown:
        out.append(
            f"Not among the scores: {queries(len(unknown))} of the slices, for example "
            f"{unknown[0]!r}."
        )
    empty = [name for name, members in slices.items() if not set(members).intersection(topics)]
    if empty:
        out.append(f"Left out, without a query: slice {', '.join(empty)}.")
    return tuple(out)


def _same(a: float, b: float) -> bool:
    return a == b or (np.isnan(a) and np.isnan(b))


def _rolls(result: RiskResult, rows: Sequence[int]) -> list[str]:
    """Who is not safe, the worst first, who is safe, the best first, and who is unclear."""
    several = len(set(result.champion)) > 1
    by_risk = sorted(rows, key=lambda i: result.u_risk[i], reverse=result.form == "minus")
    groups = (
        ("Not safe", "risky", by_risk),
        ("Safe", "safe", by_risk[::-1]),
        ("Unclear", "unclear", rows),
    )
    out = []
    for word, verdict, order in groups:
        names = [
            result.system[i] + (f" against {result.champion[i]}" if several else "")
            for i in order
            if result.verdict[i] == verdict
        ]
        if names:
            out.append(f"{word}: {some(names)}.")
    return out


def _sentence(result: RiskResult, i: int) -> str:
    verdict = {"risky": "Not safe", "safe": "Safe", "unclear": "Unclear"}[result.verdict[i]]
    u = -result.u_risk[i] if result.form == "minus" else result.u_risk[i]
    what = (
        f"{verdict}: {result.system[i]} regresses on {int(result.losses[i])} of "
        f"{queries(result.topics[i])} against {result.champion[i]}, "
        f"{int(result.loss_over[i])} by more than 20 %, and improves on {int(result.wins[i])}"
    )
    if np.isnan(u):
        return f"{what} ({result.note[i]})."
    change = f"{'loses' if u < 0 else 'gains'} {abs(u):.4f} per query" if u else "gains nothing"
    p = result.p_adjusted[i]
    how = result.note[i] if np.isnan(p) else f"{'p < 0.001' if p < 0.001 else f'p = {p:.3f}'}"
    chance = ", which could be chance" if result.verdict[i] == "unclear" and p == p else ""
    return f"{what}; with losses counted {times(result.alpha[i])} it {change}{chance} ({how})."


def _changes(result: RiskResult, i: int, sweep: list[int]) -> str:
    """Where the verdict turns as losses weigh more."""
    turned = []
    before = result.verdict[i]
    words = {"risky": "not safe", "safe": "safe", "unclear": "unclear"}
    for j in sweep:
        if result.verdict[j] != before:
            turned.append(f"{words[result.verdict[j]]} at alpha {result.alpha[j]:g}")
            before = result.verdict[j]
    return f" It is {', '.join(turned)}." if turned else ""


def _open(result: RiskResult, i: int) -> str:
    known = result.residual
    assert known is not None
    counts = (
        f"Whatever the unjudged documents are, {result.system[i]} loses on "
        f"{queries(known.certain_losses[i])} and wins on {int(known.certain_wins[i])}, "
        f"{int(known.undecided[i])} are open"
    )
    if known.verdict[i] != "open":
        return f"{counts}; the verdict stands."
    topics = known.deciding_topics[i].split()
    if not topics:
        return f"{counts}, and so is the verdict."
    shown = ", ".join(topics[:5]) + (f" and {len(topics) - 5} more" if len(topics) > 5 else "")
    word = "query" if len(topics) == 1 else "queries"
    judge = known.deciding_documents[i]
    return f"{counts}; the verdict hangs on {word} {shown}." + (f" Judge {judge}." if judge else "")


def _slice_sentences(result: RiskResult, alpha: float) -> list[str]:
    if result.slice is None:
        return []
    bad = [
        f"{result.system[i]} on {result.slice[i]}"
        for i in range(len(result.system))
        if result.slice[i] != "all"
        and _same(result.alpha[i], alpha)
        and result.verdict[i] == "risky"
    ]
    slices = len(dict.fromkeys(result.slice)) - 1
    if not bad:
        return [f"No slice of {slices} is significantly worse."]
    shown = ", ".join(bad[:MOST_SENTENCES])
    more = f" and {len(bad) - MOST_SENTENCES} more" if len(bad) > MOST_SENTENCES else ""
    return [f"Significantly worse in slices: {shown}{more}."]
