"""Share of the labels that a variant saves at equal error, read off simulated curves."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks.active.cases import GROWTH

VARIANTS = ("active", "uniC", "uniD", "passive")
COLLECTIONS = ("MQ2007-agg", "OHSUMED", "MSLR-like")
# what Sawade et al. 2012, Section 5 report, in percent; of the comparisons, by selection error,
# the range
PRINTED = {
    ("index update", "forest", "error"): (75, 75),
    ("training set", "1", "error"): (45, 45),
    ("compare", "forest and ordinal forest", "selection error"): (30, 55),
    ("compare", "logit and svm", "selection error"): (30, 55),
    ("compare", "logit and forest", "selection error"): (30, 55),
    ("estimate", "forest", "error"): (20, 20),
    ("estimate", "logit", "error"): (10, 10),
}
BEYOND = 2  # how far a curve of errors is followed beyond its ends, as a multiple of the budget
Row = dict[str, Any]
Key = tuple[Any, ...]


def pooled(
    rows: Iterable[Row], by: Sequence[str], fields: Sequence[str] = ("error", "selection_error")
) -> dict[Key, dict[str, float]]:
    """Means over folds (and over given rankings), with the standard error of the simulation."""
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[k] for k in by)].append(row)
    out = {}
    for key, members in groups.items():
        found: dict[str, float] = {}
        for name in fields:
            found[name] = float(np.mean([m[name] for m in members]))
            if f"{name}_se" in members[0]:
                squares = sum(m[f"{name}_se"] ** 2 for m in members)
                found[f"{name}_se"] = float(np.sqrt(squares) / len(members))
        out[key] = found
    return out


def simplified(rows: list[Row]) -> list[Row]:
    """Error rows with the labels of given rankings joined into one."""
    out = []
    for row in rows:
        if row["kind"] == "error":
            name = {"given": "21 given rankings", "given pair": "20 neighbours of the 21"}
            label = name.get(row["experiment"], row["label"])
            out.append({**row, "label": label})
    return out


def saved_at(
    passive: dict[float, tuple[float, float]], active: dict[float, tuple[float, float]], at: float
) -> tuple[float, float]:
    """Share of a passive budget that reaches the same error without, and its standard error.

    Parameters
    ----------
    passive, active : {budget: (error, its standard error)}
    at : float
        Budget of passive sampling.
    """
    target, target_se = passive[at]
    budgets = sorted(b for b in active if active[b][0] > 0)
    if target <= 0 or len(budgets) < 2:
        return float("nan"), float("nan")
    x = np.log([active[b][0] for b in budgets])
    y = np.log(budgets)
    if x[-1] <= np.log(target) <= x[0]:
        after = int(np.argmax(x <= np.log(target)))
        pair = (max(after - 1, 0), max(after, 1))
    else:
        pair = (0, 1) if np.log(target) > x[0] else (len(x) - 2, len(x) - 1)
    # error falls as a power of the budget: a straight line in logarithms, also a little beyond
    fall = (x[pair[1]] - x[pair[0]]) / (y[pair[1]] - y[pair[0]])
    if not fall < -0.05:
        return float("nan"), float("nan")
    same = float(np.exp(y[pair[0]] + (np.log(target) - x[pair[0]]) / fall))
    if not budgets[0] / BEYOND <= same <= budgets[-1] * BEYOND:
        return float("nan"), float("nan")
    near = active[budgets[pair[1]]]
    relative = np.hypot(target_se / target, near[1] / near[0]) / abs(fall)
    return 1 - same / at, same / at * float(relative)


def savings(rows: list[Row]) -> list[Row]:
    """Share saved by each variant in each experiment, read at one passive budget a collection.

    Comparisons are read twice: at equal error of the difference, and at equal selection error.
    """
    shown = [
        r
        for r in simplified(rows)
        if r["method"] == "eq6"
        and r["experiment"] not in ("together", "apart")
        and (r["experiment"], r["label"]) not in {("training set", f"{x:g}") for x in GROWTH[:-1]}
    ]
    keys = ("collection", "experiment", "label", "measure", "variant", "budget")
    table = pooled(shown, keys)
    out = []
    for c, experiment, label, measure in dict.fromkeys(k[:4] for k in table):
        paired = experiment in ("compare", "given pair")
        for quantity in ("error", "selection error") if paired else ("error",):
            field = quantity.replace(" ", "_")
            curve = {
                v: {
                    b: (found[field], found[f"{field}_se"])
                    for (*head, variant, b), found in table.items()
                    if (*head, variant) == (c, experiment, label, measure, v)
                }
                for v in VARIANTS
            }
            at = usual_budget(c)
            if at not in curve["passive"]:
                continue
            printed = PRINTED.get((experiment, label, quantity)) if measure == "ERR" else None
            out.append(
                {
                    "collection": c,
                    "experiment": experiment,
                    "label": "twice the documents" if experiment == "training set" else label,
                    "measure": measure,
                    "quantity": quantity,
                    "passive": curve["passive"][at][0],
                    **{v: saved_at(curve["passive"], curve[v], at) for v in VARIANTS[:-1]},
                    "printed": printed,
                }
            )
    kinds = ("index update", "training set", "compare", "given pair", "estimate", "given")
    place = {kind: i for i, kind in enumerate((*kinds, "measure"))}
    quantities = ("selection error", "error")
    return sorted(
        out,
        key=lambda r: (
            place[r["experiment"]],
            r["label"],
            r["measure"],
            quantities.index(r["quantity"]),
        ),
    )


def name_of(row: Row) -> str:
    """What a saving is of, in words."""
    given = row["experiment"] in ("given", "given pair")
    what = row["label"] if given else f"{row['experiment']}: {row['label']}"
    selected = ", selection" if row["quantity"] == "selection error" else ""
    return f"{what}, {row['measure']}{selected}"


def verdict(row: Row) -> str:
    """Whether `active` saves labels: ``pays``, ``loses`` or ``open``, by two standard errors."""
    share, se = row["active"]
    if np.isnan(share):
        return "unknown"
    return "pays" if share > 2 * se else "loses" if share < -2 * se else "open"


def usual_budget(collection: str) -> float:
    """The budget of passive sampling that tables are read at, in mean queries."""
    return 20.0 if collection == "OHSUMED" else 100.0
