"""Figures and tables of the experiments: docs/method/active_experiments.md."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import markdown_table
from surefoot.extras import require

DOCS = Path(__file__).resolve().parents[2] / "docs" / "method"
PAGE = DOCS / "active_experiments.md"
VARIANTS = ("active", "uniC", "uniD", "passive")
COLLECTIONS = ("MQ2007-agg", "OHSUMED", "MSLR-like")
# what 001 section 5 reports; a pair of rankers only where it has the same one
PRINTED = {
    ("estimate", "forest"): "20 %",
    ("estimate", "logit"): "10 %",
    ("compare", "forest and ordinal forest"): "30-55 %",
    ("compare", "logit and svm"): "30-55 %",
    ("compare", "logit and forest"): "30-55 %",
    ("index update", "forest"): "75 %",
    ("training set", "1"): "45 %",
}
Row = dict[str, Any]
Key = tuple[Any, ...]


def report(rows: list[Row], *, quick: bool) -> None:
    """Write the page and its figures."""
    if not rows:
        raise SystemExit("there are no studies to report; run them first")
    figures = DOCS / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    parts = [
        _head(rows, quick=quick),
        _curves(rows, figures),
        _training(rows, figures),
        _savings(rows),
        _estimators(rows),
        _coverage(rows),
        _floors(rows),
        _sequential(rows),
    ]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(f"wrote {PAGE}")


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


def _simplified(rows: list[Row]) -> list[Row]:
    """Error rows with the labels of given rankings joined into one."""
    out = []
    for row in rows:
        if row["kind"] == "error":
            name = {"given": "21 given rankings", "given pair": "20 neighbours of the 21"}
            label = name.get(row["experiment"], row["label"])
            out.append({**row, "label": label})
    return out


def _head(rows: list[Row], *, quick: bool) -> str:
    repeats = max(r["repeats"] for r in rows if r["kind"] == "error")
    folds = len({r["fold"] for r in rows})
    note = (
        "\n\n**These are the numbers of a short run (`--quick`): one fold and few repetitions.**"
        if quick
        else ""
    )
    return f"""# What active evaluation saves: section 5 of the paper, on labelled collections

_Written by `make experiments-active`; the method is on [its page](active.md)._

All documents of these collections are labelled, so the truth is known. Models are fitted on one of
five folds, the other four are the pool ({folds} fold(s) used here, {repeats:,} studies of each kind
and fold; the 21 given rankings and their pairs share that number). A query is paid for once. Errors
are mean absolute deviations from the truth; bars and "±" are standard errors of the simulation.

- **MQ2007-agg**: 1,692 queries, 41 documents on average, grades 0 to 2, the ranks in 21 rankings
  as features. A document costs 1.
- **OHSUMED**: 106 queries, 152 documents on average, grades 0 to 2, 25 features, the same costs.
- **MSLR-like**: generated queries with 119 documents on average and the grades of MSLR-WEB30k; a
  document costs the logarithm of its length, as in the paper.

`active` knows a model of relevance and the costs, `uniC` takes costs as equal, `uniD` takes all
grades as equally likely, `passive` draws queries as they come. Rankers: random forest regression
(`forest`), ordinal forests, ordered logit, a linear ranking SVM; hyperparameters are not
tuned.{note}"""


def _curves(rows: list[Row], figures: Path) -> str:
    """One figure a kind of experiment: error against budget."""
    altair = require("altair", purpose="drawing figures")
    shown = [r for r in _simplified(rows) if r["method"] == "eq6"]
    sections = []
    for title, name, experiments, quantity, words in (
        (
            "Estimating one ranking",
            "estimate",
            ("estimate", "given"),
            "error",
            "Estimated against true ERR (section 5.1).",
        ),
        (
            "Which of two rankings is better",
            "compare",
            ("compare", "given pair"),
            "selection_error",
            "How often the estimate names the wrong ranking (section 5.2).",
        ),
        (
            "An index update",
            "index",
            ("index update",),
            "error",
            "The old index lacks 10 % of all documents; estimated against true difference.",
        ),
    ):
        chosen = [r for r in shown if r["experiment"] in experiments and r["measure"] == "ERR"]
        table = pooled(chosen, ("collection", "label", "variant", "budget"), (quantity,))
        data = [
            {
                "panel": f"{c}: {label}",
                "variant": variant,
                "budget": budget,
                "error": v[quantity],
                "low": max(v[quantity] - v[f"{quantity}_se"], 0),
                "high": v[quantity] + v[f"{quantity}_se"],
            }
            for (c, label, variant, budget), v in table.items()
        ]
        path = figures / f"active_{name}.svg"
        _draw(altair, data, path, "labelling budget (mean queries)", quantity.replace("_", " "))
        sections.append(f"## {title}\n\n{words}\n\n![{title}](figures/{path.name})")
    return "\n\n".join(sections)


def _draw(altair: Any, data: list[Row], path: Path, x: str, y: str) -> None:
    scale = altair.Scale(domain=list(VARIANTS), range=["#1f6f8b", "#d98324", "#7b6d8d", "#444444"])
    base = altair.Chart(altair.Data(values=data)).encode(
        x=altair.X("budget:Q", title=x, scale=altair.Scale(type="log", nice=False)),
        color=altair.Color("variant:N", title=None, scale=scale, sort=list(VARIANTS)),
    )
    line = base.mark_line(point=altair.OverlayMarkDef(size=14), strokeWidth=1.4).encode(
        y=altair.Y("error:Q", title=y)
    )
    bars = base.mark_rule(strokeWidth=1).encode(y="low:Q", y2="high:Q")
    chart = (
        altair.layer(bars, line)
        .properties(width=210, height=150)
        .facet(altair.Facet("panel:N", title=None), columns=3)
        .resolve_scale(x="independent", y="independent")
        .configure_axis(grid=False)
        .configure_view(strokeOpacity=0.2)
    )
    chart.save(str(path))


def _training(rows: list[Row], figures: Path) -> str:
    altair = require("altair", purpose="drawing figures")
    chosen = [
        r
        for r in rows
        if r["kind"] == "error" and r["experiment"] == "training set" and r["method"] == "eq6"
    ]
    data = []
    table = pooled(chosen, ("collection", "label", "variant", "budget"), ("error",))
    for (c, label, variant, budget), v in table.items():
        if budget == (20 if c == "OHSUMED" else 100):
            data.append(
                {
                    "panel": c,
                    "variant": variant,
                    "budget": float(label) * 2,
                    "error": v["error"],
                    "low": v["error"] - v["error_se"],
                    "high": v["error"] + v["error_se"],
                }
            )
    path = figures / "active_training.svg"
    _draw(altair, data, path, "training set of the second model (times the first)", "error")
    return (
        "## A larger training set\n\nA forest trained on half of a fold against one trained on "
        "1.2 to 2 times as much; error of the estimated difference at a budget of 100 mean queries "
        f"(OHSUMED: 20).\n\n![A larger training set](figures/{path.name})"
    )


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
    near = active[budgets[pair[1]]]
    relative = np.hypot(target_se / target, near[1] / near[0]) / abs(fall)
    return 1 - same / at, same / at * float(relative)


def _savings(rows: list[Row]) -> str:
    shown = [r for r in _simplified(rows) if r["method"] == "eq6"]
    keys = ("collection", "experiment", "label", "measure", "variant", "budget")
    table = pooled(shown, keys)
    cells: list[Sequence[object]] = []
    verdicts: dict[str, list[str]] = {"pays": [], "open": [], "loses": []}
    names = dict.fromkeys(k[:4] for k in table)
    for c, experiment, label, measure in names:
        curve = {
            v: {
                b: (found["error"], found["error_se"])
                for (*head, variant, b), found in table.items()
                if (*head, variant) == (c, experiment, label, measure, v)
            }
            for v in VARIANTS
        }
        at = {"OHSUMED": 20.0}.get(c, 100.0)
        if at not in curve["passive"]:
            continue
        row: list[object] = [c, experiment, label, measure, f"{curve['passive'][at][0]:.4f}"]
        for v in ("active", "uniC", "uniD"):
            share, se = saved_at(curve["passive"], curve[v], at)
            row.append("" if np.isnan(share) else f"{share:.0%} ± {se:.0%}")
            if v == "active" and not np.isnan(share):
                kind = "pays" if share > 2 * se else "loses" if share < -2 * se else "open"
                verdicts[kind].append(f"{c}, {experiment} ({label}, {measure})")
        row.append(PRINTED.get((experiment, label), "") if measure == "ERR" else "")
        cells.append(row)
    text = (
        "## Labels saved at equal error\n\nHow much less budget reaches the error that `passive` "
        "has at 100 mean queries (OHSUMED: 20), with Eq. 6 for both. The last column is what the "
        "paper reports for the like on MSLR-WEB30k (there read at other budgets).\n\n"
        + markdown_table(
            (
                "collection",
                "experiment",
                "ranking",
                "measure",
                "passive error",
                "active",
                "uniC",
                "uniD",
                "paper",
            ),
            cells,
        )
    )
    text += "\n\n### Where it does not pay\n\n"
    text += (
        f"`active` needs fewer labels in {len(verdicts['pays'])} of "
        f"{sum(map(len, verdicts.values()))} experiments. "
    )
    if verdicts["open"]:
        text += "No difference beyond two standard errors: " + "; ".join(verdicts["open"]) + ". "
    if verdicts["loses"]:
        text += "**It needs more labels than passive sampling**: " + "; ".join(verdicts["loses"])
        text += "."
    return text.rstrip()


def _estimators(rows: list[Row]) -> str:
    full = [
        r
        for r in rows
        if r["kind"] == "error" and r["experiment"] in ("estimate", "compare", "index update")
    ]
    keys = ("collection", "experiment", "label", "measure", "variant", "method", "budget")
    table = pooled(full, keys, ("rmse", "coverage"))
    methods = ("eq6", "regression", "difference", "priority", "priority-regression")
    cells = []
    for variant in ("active", "passive"):
        for c in COLLECTIONS:
            for experiment in ("estimate", "compare", "index update"):
                for budget in (10.0, 40.0) if c == "OHSUMED" else (20.0, 100.0, 300.0):
                    row: list[object] = [variant, c, experiment, f"{budget:g}"]
                    for method in methods:
                        ratios, covered = [], []
                        for key, found in table.items():
                            if key[:2] + key[4:] == (c, experiment, variant, method, budget):
                                plain = table[(*key[:5], "eq6", budget)]["rmse"]
                                ratios.append(found["rmse"] / plain if plain > 0 else np.nan)
                                covered.append(found["coverage"])
                        if ratios:
                            ratio = np.exp(np.nanmean(np.log(np.maximum(ratios, 1e-9))))
                            word = "0.00" if ratio < 0.005 else f"{ratio:.2f}"
                            row.append(f"{word} ({np.nanmean(covered):.0%})")
                    if len(row) > 4:
                        cells.append(row)
    return (
        "## Estimators\n\nRoot mean squared error as a multiple of that of Eq. 6 on the same "
        "queries' distribution (geometric mean over the rankings), and in parentheses the coverage "
        "of the 95 % delta-method interval. `regression` takes the model's predictions as a "
        "control variate with a fitted slope, `difference` with slope 1; `priority` draws without "
        "replacement.\n\n"
        + markdown_table(("draws", "collection", "experiment", "budget", *methods), cells)
    )


def _coverage(rows: list[Row]) -> str:
    found = pooled(
        [r for r in rows if r["kind"] == "interval"],
        ("collection", "experiment", "budget", "interval"),
        ("coverage", "width"),
    )
    cells = []
    for (c, experiment, budget, name), v in found.items():
        if name == "delta":
            other = found[c, experiment, budget, "bootstrap"]
            cells.append(
                (
                    c,
                    experiment,
                    f"{budget:g}",
                    f"{v['coverage']:.1%}",
                    f"{other['coverage']:.1%}",
                    f"{other['width'] / v['width']:.2f}",
                )
            )
    errors = [
        r
        for r in rows
        if r["kind"] == "error" and r["variant"] == "active" and r["method"] == "eq6"
    ]
    consistent = pooled(
        [r for r in errors if r["experiment"] in ("estimate", "compare") and r["measure"] == "ERR"],
        ("collection", "experiment", "budget"),
        ("rmse", "coverage", "bias"),
    )
    lines = [
        (c, experiment, f"{budget:g}", v["rmse"], v["bias"], f"{v['coverage']:.1%}")
        for (c, experiment, budget), v in consistent.items()
    ]
    return (
        "## Consistency and coverage\n\nEq. 6 of ERR with `active` draws: root mean squared error, "
        "mean signed error and coverage of the delta-method interval.\n\n"
        + markdown_table(("collection", "experiment", "budget", "rmse", "bias", "coverage"), lines)
        + "\n\nThe delta method against the percentile bootstrap in the same studies (a fifth as "
        "many): coverage of 95 % intervals, and how wide the bootstrap's are.\n\n"
        + markdown_table(
            ("collection", "experiment", "budget", "delta", "bootstrap", "width"), cells
        )
    )


def _floors(rows: list[Row]) -> str:
    found = pooled(
        [r for r in rows if r["kind"] == "floor"],
        ("collection", "experiment", "label", "measure", "floor", "budget"),
        ("rmse", "coverage"),
    )
    cells = []
    floors = sorted({k[4] for k in found})
    for c in COLLECTIONS:
        for experiment in ("estimate", "compare"):
            budget = 20.0 if c == "OHSUMED" else 100.0
            row: list[object] = [c, experiment]
            for floor in floors:
                ratios = [
                    v["rmse"] / found[(*k[:4], 0.0, budget)]["rmse"]
                    for k, v in found.items()
                    if (k[0], k[1], k[4], k[5]) == (c, experiment, floor, budget)
                ]
                row.append(f"{np.exp(np.mean(np.log(ratios))):.3f}" if ratios else "")
            cells.append(row)
    return (
        "## The floor under q\n\nRoot mean squared error with q at least a share of p, as a "
        "multiple of that without a floor (budget 100, OHSUMED 20).\n\n"
        + markdown_table(("collection", "experiment", *(f"{f:g}" for f in floors)), cells)
    )


def _sequential(rows: list[Row]) -> str:
    found = pooled(
        [r for r in rows if r["kind"] == "sequential"],
        ("collection", "experiment", "null", "interval"),
        ("missed_ever", "wrong", "stopped", "spent", "budget"),
    )
    worst: dict[tuple[Any, ...], float] = defaultdict(float)
    for r in rows:
        if r["kind"] == "sequential":
            key = (r["collection"], r["experiment"], r["null"], r["interval"])
            worst[key] = max(worst[key], r["missed_ever"])
    cells = [
        (
            c,
            experiment,
            name,
            f"{v['missed_ever']:.1%}",
            f"{worst[c, experiment, False, name]:.1%}",
            f"{found[c, experiment, True, name]['wrong']:.1%}",
            f"{v['stopped']:.0%}",
            f"{v['spent'] / v['budget']:.0%}",
        )
        for (c, experiment, null, name), v in found.items()
        if not null
    ]
    width = pooled(
        [r for r in rows if r["kind"] == "sequence width"],
        ("collection", "experiment", "label", "measure"),
        ("betting", "delta"),
    )
    by: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (c, experiment, *_), v in width.items():
        by[c, experiment].append(v["betting"] / v["delta"])
    wider = [(c, e, f"{np.min(v):.1f} to {np.max(v):.1f}") for (c, e), v in by.items()]
    return (
        "## Looking after every draw\n\nHow often an interval of 95 % misses the truth at any of "
        "the looks (mean over the rankings, and the worst of them); how often the sign is claimed "
        "when the true value is 0; how often the rule `sign` stops, and the share of the budget "
        "(150 mean queries, OHSUMED 20) that is spent by then. `group` is Surefoot's five "
        "planned looks, `betting` its confidence sequence; q is at least 0.3 p in these studies. "
        "`asymptotic` is a confidence sequence with an estimated standard error, `naive` the "
        "interval for one look.\n\n"
        + markdown_table(
            (
                "collection",
                "experiment",
                "interval",
                "misses at any look",
                "worst",
                "false sign",
                "stops",
                "spent",
            ),
            cells,
        )
        + "\n\nThe price: at the end of the budget the sequence is so many times as wide as the "
        "interval for one look.\n\n" + markdown_table(("collection", "experiment", "width"), wider)
    )
