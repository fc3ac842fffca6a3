"""Figures and tables of the experiments: docs/method/active_experiments.md."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.active.cases import GROWTH
from benchmarks.harness import markdown_table
from surefoot.extras import require

DOCS = Path(__file__).resolve().parents[2] / "docs" / "method"
PAGE = DOCS / "active_experiments.md"
VARIANTS = ("active", "uniC", "uniD", "passive")
COLLECTIONS = ("MQ2007-agg", "OHSUMED", "MSLR-like")
# what 001 section 5 reports, in percent; of its three comparisons it prints the range
PRINTED = {
    ("estimate", "forest"): (20, 20),
    ("estimate", "logit"): (10, 10),
    ("compare", "forest and ordinal forest"): (30, 55),
    ("compare", "logit and svm"): (30, 55),
    ("compare", "logit and forest"): (30, 55),
    ("index update", "forest"): (75, 75),
    ("training set", "1"): (45, 45),
}
VARIANT_COLOURS = ("#1f6f8b", "#d98324", "#9b5094", "#444444")
BUDGET_TICKS = (5, 10, 20, 40, 100, 300)
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
        _savings(rows, figures),
        _curves(rows, figures),
        _training(rows, figures),
        _together(rows),
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
five folds, the other four are the pool ({folds} of the folds took their turn here, with {repeats:,}
studies of each kind; each of the 21 given rankings and of their pairs has a fifth of that). A query
is paid for once. Errors are mean absolute deviations from the truth; bars and "±" are standard
errors of the simulation.

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
    shown = [r for r in _simplified(rows) if r["method"] == "eq6"]
    sections = []
    for title, name, experiments, quantity, relative, words in (
        (
            "Estimating one ranking",
            "estimate",
            ("estimate", "given"),
            "error",
            True,
            "Error of the estimated ERR as a multiple of that of passive sampling at the same "
            "budget (section 5.1): below 1 is better.",
        ),
        (
            "Which of two rankings is better",
            "compare",
            ("compare", "given pair"),
            "selection_error",
            False,
            "How often the estimate names the wrong ranking (section 5.2).",
        ),
        (
            "An index update",
            "index",
            ("index update",),
            "error",
            False,
            "The old index lacks 10 % of all documents; error of the estimated difference.",
        ),
    ):
        chosen = [r for r in shown if r["experiment"] in experiments and r["measure"] == "ERR"]
        table = pooled(chosen, ("collection", "label", "variant", "budget"), (quantity,))
        data = []
        for (c, label, variant, budget), v in table.items():
            unit = table[c, label, "passive", budget][quantity] if relative else 1.0
            at, se = v[quantity] / unit, v[f"{quantity}_se"] / unit
            data.append(
                {
                    "collection": c,
                    "panel": label,
                    "variant": variant,
                    "budget": budget,
                    "error": at,
                    "low": max(at - se, 0.0),
                    "high": at + se,
                }
            )
        path = figures / f"active_{name}.svg"
        words_y = "error / passive error" if relative else quantity.replace("_", " ")
        _draw(
            data,
            path,
            ("labelling budget (mean queries)", words_y),
            ticks=BUDGET_TICKS,
            zero=not relative,
        )
        sections.append(f"## {title}\n\n{words}\n\n![{title}](figures/{path.name})")
    return "\n\n".join(sections)


def _draw(
    data: list[Row],
    path: Path,
    titles: tuple[str, str],
    *,
    ticks: Sequence[float] | None = None,
    zero: bool = True,
) -> None:
    """A row of panels for each collection, a line for each variant; a logarithmic axis of ticks."""
    altair = require("altair", purpose="drawing figures")
    colour = altair.Scale(domain=list(VARIANTS), range=list(VARIANT_COLOURS))
    across = altair.X("budget:Q", title=titles[0], scale=altair.Scale(zero=False, nice=False))
    if ticks is not None:
        across = altair.X(
            "budget:Q",
            title=titles[0],
            scale=altair.Scale(type="log", nice=False),
            axis=altair.Axis(values=list(ticks)),
        )
    charts = []
    for collection in COLLECTIONS:
        mine = [d for d in data if d["collection"] == collection]
        if not mine:
            continue
        base = altair.Chart(altair.Data(values=mine)).encode(
            x=across,
            color=altair.Color("variant:N", title=None, scale=colour, sort=list(VARIANTS)),
        )
        line = base.mark_line(point=altair.OverlayMarkDef(size=14), strokeWidth=1.4).encode(
            y=altair.Y("error:Q", title=titles[1], scale=altair.Scale(zero=zero))
        )
        bars = base.mark_rule(strokeWidth=1).encode(y="low:Q", y2="high:Q")
        panels = list(dict.fromkeys(d["panel"] for d in mine))
        layer = altair.layer(bars, line).properties(width=165, height=120)
        if len(panels) > 1:
            facet = altair.Facet("panel:N", title=None, sort=panels)
            layer = layer.facet(facet, columns=4).resolve_scale(y="independent")
        charts.append(layer.properties(title=collection))
    alone = all(isinstance(c, altair.LayerChart) for c in charts)
    chart = (
        (altair.hconcat if alone else altair.vconcat)(*charts, spacing=12)
        .configure_axis(grid=False, titleFontWeight="normal")
        .configure_view(strokeOpacity=0.2)
        .configure_title(anchor="start", fontSize=12)
    )
    chart.save(str(path))


def _training(rows: list[Row], figures: Path) -> str:
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
                    "collection": c,
                    "panel": "second training set of growing size",
                    "variant": variant,
                    "budget": float(label) * 2,
                    "error": v["error"],
                    "low": v["error"] - v["error_se"],
                    "high": v["error"] + v["error_se"],
                }
            )
    path = figures / "active_training.svg"
    _draw(data, path, ("second training set / first", "error"))
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


def _saved(rows: list[Row]) -> list[Row]:
    """Share saved by each variant in each experiment, read at one passive budget a collection."""
    shown = [
        r
        for r in _simplified(rows)
        if r["method"] == "eq6"
        and r["experiment"] not in ("together", "apart")
        and (r["experiment"], r["label"]) not in {("training set", f"{x:g}") for x in GROWTH[:-1]}
    ]
    keys = ("collection", "experiment", "label", "measure", "variant", "budget")
    table = pooled(shown, keys)
    out = []
    for c, experiment, label, measure in dict.fromkeys(k[:4] for k in table):
        curve = {
            v: {
                b: (found["error"], found["error_se"])
                for (*head, variant, b), found in table.items()
                if (*head, variant) == (c, experiment, label, measure, v)
            }
            for v in VARIANTS
        }
        at = _usual_budget(c)
        if at not in curve["passive"]:
            continue
        out.append(
            {
                "collection": c,
                "experiment": experiment,
                "label": "twice the documents" if experiment == "training set" else label,
                "measure": measure,
                "passive": curve["passive"][at][0],
                **{v: saved_at(curve["passive"], curve[v], at) for v in VARIANTS[:-1]},
                "printed": PRINTED.get((experiment, label)) if measure == "ERR" else None,
            }
        )
    kinds = ("index update", "training set", "compare", "given pair", "estimate", "given")
    place = {kind: i for i, kind in enumerate((*kinds, "measure"))}
    return sorted(out, key=lambda r: (place[r["experiment"]], r["label"], r["measure"]))


def _usual_budget(collection: str) -> float:
    """The budget of passive sampling that tables are read at, in mean queries."""
    return 20.0 if collection == "OHSUMED" else 100.0


def _savings(rows: list[Row], figures: Path) -> str:
    found = _saved(rows)
    cells: list[Sequence[object]] = []
    verdicts: dict[str, list[str]] = {"pays": [], "open": [], "loses": []}
    for r in found:
        row: list[object] = [r["experiment"], r["label"], r["measure"], r["collection"]]
        row.append(f"{r['passive']:.4f}")
        for v in VARIANTS[:-1]:
            share, se = r[v]
            row.append("" if np.isnan(share) else f"{share:.0%} ± {se:.0%}")
            if v == "active" and not np.isnan(share):
                kind = "pays" if share > 2 * se else "loses" if share < -2 * se else "open"
                verdicts[kind].append(
                    f"{r['collection']}, {r['experiment']} ({r['label']}, {r['measure']})"
                )
        low, high = r["printed"] or (None, None)
        row.append("" if low is None else f"{low} %" if low == high else f"{low}-{high} %")
        cells.append(row)
    path = figures / "active_saved.svg"
    _draw_saved(found, path)
    text = (
        "## Labels saved at equal error\n\nHow much less budget reaches the error that `passive` "
        "has at 100 mean queries (OHSUMED: 20), with Eq. 6 for both. Grey: what the paper reports "
        "for the like on MSLR-WEB30k, between 10 and 75 % (there read at other budgets).\n\n"
        f"![Labels saved at equal error](figures/{path.name})\n\n"
        + markdown_table(
            (
                "experiment",
                "ranking",
                "measure",
                "collection",
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
        f"{sum(map(len, verdicts.values()))} experiments."
    )
    if verdicts["open"]:
        text += "\n\nNo difference beyond two standard errors:\n\n- " + "\n- ".join(
            verdicts["open"]
        )
    if verdicts["loses"]:
        text += "\n\n**It needs more labels than passive sampling:**\n\n- "
        text += "\n- ".join(verdicts["loses"])
    return text


def _draw_saved(found: list[Row], path: Path) -> None:
    """A point for each collection and experiment, the paper's range behind them."""
    altair = require("altair", purpose="drawing figures")
    points, bands = [], []
    for r in found:
        share, se = r["active"]
        name = f"{r['experiment']}: {r['label']}, {r['measure']}"
        if r["experiment"] in ("given", "given pair"):
            name = f"{r['label']}, {r['measure']}"
        if not np.isnan(share):
            points.append(
                {
                    "experiment": name,
                    "collection": r["collection"],
                    "saved": share,
                    "low": share - 2 * se,
                    "high": share + 2 * se,
                }
            )
        if r["printed"] is not None:
            low, high = r["printed"]
            bands.append({"experiment": name, "from": low / 100 - 0.008, "to": high / 100 + 0.008})
    order = list(dict.fromkeys(p["experiment"] for p in points))
    charts = []
    for collection, colour in zip(COLLECTIONS, VARIANT_COLOURS, strict=False):
        mine = [p for p in points if p["collection"] == collection]
        if not mine:
            continue
        axis = altair.Axis(labelLimit=320) if not charts else None
        y = altair.Y("experiment:N", title=None, axis=axis, scale=altair.Scale(domain=order))
        across = altair.X(
            "low:Q",
            title="share of the labels saved",
            axis=altair.Axis(format="%"),
            scale=altair.Scale(domain=[-0.5, 1], clamp=True),
        )
        band = altair.Chart(altair.Data(values=bands)).mark_bar(color="#d6d6d6", height=12)
        base = altair.Chart(altair.Data(values=mine)).encode(y=y)
        zero = altair.Chart(altair.Data(values=[{"at": 0}]))
        charts.append(
            altair.layer(
                band.encode(x="from:Q", x2="to:Q", y=y),
                zero.mark_rule(color="#444444", strokeDash=[3, 3]).encode(x="at:Q"),
                base.mark_rule(strokeWidth=1.4, color=colour).encode(x=across, x2="high:Q"),
                base.mark_point(filled=True, size=34, opacity=1, color=colour).encode(x="saved:Q"),
            ).properties(width=190, height=altair.Step(20), title=collection)
        )
    chart = (
        altair.hconcat(*charts, spacing=10)
        .configure_axis(grid=False, titleFontWeight="normal")
        .configure_view(strokeOpacity=0.2)
    )
    chart.save(str(path))


def _together(rows: list[Row]) -> str:
    """One study for three comparisons against three studies with a third of the budget each."""
    found = pooled(
        [r for r in rows if r["kind"] == "error" and r["experiment"] in ("together", "apart")],
        ("collection", "label", "experiment", "variant", "budget"),
        ("rmse", "coverage"),
    )
    cells = []
    for c in COLLECTIONS:
        large, small = (30.0, 10.0) if c == "OHSUMED" else (300.0, 100.0)
        for label in dict.fromkeys(k[1] for k in found if k[0] == c):
            one = found[c, label, "together", "active", large]
            alone = found[c, label, "apart", "active", small]
            same = found[c, label, "apart", "active", large]
            cells.append(
                (
                    c,
                    label,
                    f"{one['rmse']:.4f}",
                    f"{alone['rmse']:.4f}",
                    f"{one['rmse'] / alone['rmse']:.2f}",
                    f"{one['rmse'] / same['rmse']:.2f}",
                    f"{one['coverage']:.1%}",
                )
            )
    if not cells:
        return ""
    return (
        "## Several rankers in one study\n\nA forest against three others, by ERR. `together`: "
        "one study whose queries are drawn for all three differences (300 mean queries, "
        "OHSUMED 30). `apart`: three studies with a third of that budget each. The last ratio "
        "is against a study that spends all of the budget on this one pair.\n\n"
        + markdown_table(
            (
                "collection",
                "pair",
                "together, rmse",
                "apart, rmse",
                "ratio",
                "ratio to the whole budget",
                "coverage, together",
            ),
            cells,
        )
    )


def _estimators(rows: list[Row]) -> str:
    full = [
        r
        for r in rows
        if r["kind"] == "error"
        and r["experiment"] in ("estimate", "compare", "index update", "measure")
    ]
    keys = ("collection", "experiment", "label", "measure", "variant", "method", "budget")
    table = pooled(full, keys, ("rmse", "coverage"))
    methods = ("eq6", "regression", "difference", "priority", "priority-regression")
    cells = []
    for variant in ("active", "passive"):
        for c in COLLECTIONS:
            for experiment in ("estimate", "compare", "index update", "measure"):
                budgets = (10.0, 20.0, 40.0) if c == "OHSUMED" else (20.0, 100.0, 300.0)
                for budget in budgets if variant == "active" else (_usual_budget(c),):
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
        if budget in BUDGET_TICKS
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
