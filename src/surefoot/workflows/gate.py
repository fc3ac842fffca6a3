"""A release gate on risk: conditions that must not hold for any challenger."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.io.scores import read_scores
from surefoot.io.slices import read_slices
from surefoot.overlays.slices import slice_columns
from surefoot.results.gate import GateResult
from surefoot.workflows.comparison import check_draws, prepare
from surefoot.workflows.expressions import (
    Comparison,
    ExpressionError,
    Node,
    Number,
    Operation,
    Quantifier,
    Quantity,
    parse,
    truth,
    uses_quantities,
    uses_slices,
)
from surefoot.workflows.quantities import QUANTITIES, Case, Scope, check
from surefoot.workflows.unjudged import unjudged_of
from surefoot.workflows.verdicts import outside_slices, plural, some

_MOST_TOPICS = 10


def gate(
    scores: Any,
    *,
    champion: str,
    fail_if: str | Sequence[str],
    systems: str | Iterable[str] | None = None,
    population: Any = None,
    slices: Any = None,
    undefined: str = "fail",
    qrels: Any = None,
    runs: Any = (),
    seed: int = 0,
    threads: int = 0,
) -> GateResult:
    """Check that no challenger is too risky to replace the champion.

    Parameters
    ----------
    scores : path, frame, dict or ScoreMatrix
        Per-topic scores.
    champion : str
        A system of the table, or ``mean``, ``median`` or ``max``.
    fail_if : str or list of str
        Conditions, e.g. ``t_risk(alpha=1) < -2``, ``ci_high(bca, alpha=1) < 0``,
        ``losses_over_20 > 10%``, ``any_slice(p_value < 0.05 and u_risk < 0)``. They are parsed,
        never run as Python.
    systems, population : optional
        As in `risk`.
    slices : optional
        Groups of topics. Every condition is then checked on each of them too, with t_risk, p_value
        and the confidence intervals adjusted for the number of slices.
    undefined : str
        What an overall quantity that cannot be computed does: ``fail`` (default) or ``pass``.
    qrels, runs : optional
        Judgments and runs that the scores come from, as in `risk`.
    seed, threads : int
        For the intervals.

    Returns
    -------
    GateResult
        `passed` says whether the gate is open.
    """
    if undefined not in ("fail", "pass"):
        raise InputError(f"undefined must be fail or pass, but got {undefined!r}")
    check_draws(seed)
    conditions = compile_conditions(fail_if, have_slices=slices is not None)
    whole = prepare(read_scores(scores), champion, systems=systems, population=population)
    if len(whole.champions) != 1:
        raise InputError("gate takes a single champion")
    unjudged = unjudged_of(whole, qrels, runs, threads=threads)
    everything = Scope("all", whole, threads, unjudged)
    groups: list[Scope] = []
    outside: tuple[str, ...] = ()
    if slices is not None:
        members = read_slices(slices)
        columns = slice_columns(whole.matrix.topics, members)
        outside = outside_slices(whole.matrix.topics, members)
        groups = [Scope(name, whole.restrict(c), threads, unjudged) for name, c in columns.items()]

    rows: list[dict[str, Any]] = []
    for row in whole.challengers:
        case = Case(everything, int(row), seed, threads)
        parts = tuple(Case(g, int(row), seed, threads) for g in groups)
        for part in parts:
            part.siblings = parts
        for text, node in conditions:
            rows.append(_check(text, node, case, parts, undefined == "fail"))
            if not uses_slices(node):
                rows += [_check(text, node, part, parts, False) for part in parts]
    return GateResult(
        expression=tuple(r["expression"] for r in rows),
        system=tuple(r["system"] for r in rows),
        slice=tuple(r["slice"] for r in rows),
        failed=np.array([r["failed"] for r in rows], dtype=bool),
        outcome=tuple(r["outcome"] for r in rows),
        values=tuple(r["values"] for r in rows),
        topics=tuple(r["topics"] for r in rows),
        headline=_headline(rows, whole.champions[0].name) + outside,
        settings={
            "champion": whole.champions[0].name,
            "fail_if": [text for text, _ in conditions],
            "undefined": undefined,
            "slices": [g.name for g in groups],
            "seed": seed,
            "measure": whole.matrix.measure,
            "topics": len(whole.matrix.topics),
        },
    )


def compile_conditions(
    fail_if: str | Sequence[str], *, have_slices: bool
) -> list[tuple[str, Node]]:
    """Parse the conditions; an ExpressionError says which one is wrong and where."""
    texts = [" ".join(t.split()) for t in ([fail_if] if isinstance(fail_if, str) else fail_if)]
    if not texts:
        raise InputError("give at least one condition, for example t_risk(alpha=1) < -2")
    out = []
    for text in texts:
        node = parse(text, names=tuple(QUANTITIES), check=check)
        _check_shares(node)
        if not uses_quantities(node):
            raise ExpressionError(
                f"the condition names no quantity and is the same whatever the scores are: {text}"
            )
        if uses_slices(node) and not have_slices:
            raise ExpressionError(f"any_slice and all_slices need --slices FILE: {text}")
        out.append((text, node))
    return out


def _check_shares(node: Node) -> None:
    """Refuse `losses > 5`: losses is a share, and the condition could never hold."""
    if isinstance(node, Comparison):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if (
                isinstance(side, Quantity)
                and QUANTITIES[side.name].share
                and isinstance(other, Number)
                and abs(other.value) > 1
            ):
                count = f"count_{side.name}"
                hint = f", or {count} for their number" if count in QUANTITIES else ""
                raise ExpressionError(
                    f"{side.name} is a share of the queries between 0 and 1, and cannot be "
                    f"compared with {other.value:g}. Hint: write {other.value:g}%{hint}"
                )
    elif isinstance(node, Quantifier):
        _check_shares(node.condition)
    elif not isinstance(node, (Number, Quantity, Operation)):
        for operand in node.operands:
            _check_shares(operand)


def _check(
    text: str, node: Node, case: Case, parts: tuple[Case, ...], strict: bool
) -> dict[str, Any]:
    """One row: an expression on one challenger and scope."""
    seen: dict[str, float] = {}
    found_in: list[str] = []

    def value(wanted: Quantity) -> float:
        seen[str(wanted)] = case.value(wanted)
        return seen[str(wanted)]

    def on_slices(quantifier: Quantifier) -> list[bool | None]:
        out = []
        for part in parts:
            inside: dict[str, float] = {}

            def part_value(wanted: Quantity, part: Case = part, kept: Any = inside) -> float:
                kept[str(wanted)] = part.value(wanted)
                return float(kept[str(wanted)])

            holds = truth(quantifier.condition, part_value, on_slices)
            if holds:
                found_in.append(part.scope.name)
                seen.update({f"{part.scope.name}: {k}": v for k, v in inside.items()})
            out.append(holds)
        return out

    holds = truth(node, value, on_slices)
    failed = bool(holds) or (holds is None and strict)
    matrix = case.scope.part.matrix
    worst = []
    if failed:
        scopes = [p for p in parts if p.scope.name in found_in] or [case]
        worst = [t for scope in scopes for t in _worst(scope)][:_MOST_TOPICS]
    return {
        "expression": text,
        "system": matrix.systems[case.row],
        "slice": case.scope.name,
        "failed": failed,
        "outcome": {True: "holds", False: "does not hold", None: "undefined"}[holds],
        "values": "; ".join(f"{k} = {_shown(v)}" for k, v in seen.items()),
        "topics": tuple(worst),
    }


def _shown(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.4g}"


def _worst(case: Case) -> list[str]:
    """The queries that lose most, as ``topic (champion -> challenger)``."""
    part = case.scope.part
    delta = case.delta
    order = [j for j in np.argsort(delta, kind="stable")[:_MOST_TOPICS] if delta[j] < 0]
    champion, scores = part.champions[0].scores, part.matrix.values[case.row]
    return [f"{part.matrix.topics[j]} ({champion[j]:.3g} -> {scores[j]:.3g})" for j in order]


def _headline(rows: list[dict[str, Any]], champion: str) -> tuple[str, ...]:
    bad = [r for r in rows if r["failed"]]
    systems = list(dict.fromkeys(r["system"] for r in rows))
    if not bad:
        conditions = len(dict.fromkeys(r["expression"] for r in rows))
        what = "the condition does not hold" if conditions == 1 else f"none of {conditions} holds"
        passed = [f"Gate passed: {what} for {some(systems)} against {champion}."]
    else:
        failing = list(dict.fromkeys(r["system"] for r in bad))
        passed = [f"Gate failed: {some(failing)} should not replace {champion}."]
    for r in bad:
        where = "" if r["slice"] == "all" else f" on slice {r['slice']}"
        if r["outcome"] == "undefined":
            passed.append(
                f"{r['system']}{where}: cannot tell whether {r['expression']} ({r['values']})."
            )
            continue
        worst = f"; worst queries: {'; '.join(r['topics'])}" if r["topics"] else ""
        passed.append(f"{r['system']}{where}: {r['expression']}, with {r['values']}{worst}.")
    skipped = [r for r in rows if r["outcome"] == "undefined" and not r["failed"]]
    if skipped:
        names = list(dict.fromkeys(r["slice"] for r in skipped if r["slice"] != "all"))
        where = f", among them slice {some(names)}" if names else ""
        passed.append(f"{plural(len(skipped), 'check')} could not be computed{where}.")
    return tuple(passed)
