"""Tables and text of the experiments: docs/method/active_experiments.md, and their sum."""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.active.cases import GROWTH
from benchmarks.active.figures import draw_curves, draw_saved
from benchmarks.active.savings import (
    COLLECTIONS,
    VARIANTS,
    Row,
    name_of,
    pooled,
    savings,
    simplified,
    usual_budget,
    verdict,
)
from benchmarks.harness import markdown_table

DOCS = Path(__file__).resolve().parents[2] / "docs" / "method"
PAGE = DOCS / "active_experiments.md"
METHOD_PAGE = DOCS / "active.md"
METHODS = ("eq6", "regression", "difference", "priority", "priority-regression")
BUDGET_TICKS = (5, 10, 20, 40, 100, 300)


def report(rows: list[Row], *, quick: bool) -> None:
    """Write the page with its figures, and the answer at the top of the method page."""
    if not rows:
        raise SystemExit("there are no studies to report; run them first")
    figures = DOCS / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    saved = savings(rows)
    parts = [
        _head(rows, quick=quick),
        _savings(saved, figures),
        _curves(rows, figures),
        _training(rows, figures),
        _together(rows),
        _estimators(rows),
        _coverage(rows),
        _floors(rows),
        _sequential(rows),
    ]
    PAGE.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")
    text = METHOD_PAGE.read_text(encoding="utf-8")
    answer = _answer(rows, saved, quick=quick)
    text = re.sub(
        r"(<!-- answer -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{answer}\n{found[2]}",
        text,
        flags=re.DOTALL,
    )
    METHOD_PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE} and the answer in {METHOD_PAGE}")


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
- **MSLR-like**: {"500" if quick else "2,000"} generated queries with 119 documents on average and
  the grades of MSLR-WEB30k; a document costs the logarithm of its length, as in the paper.

`active` knows a model of relevance and the costs, `uniC` takes costs as equal, `uniD` takes all
grades as equally likely, `passive` draws queries as they come. Rankers: random forest regression
(`forest`), ordinal forests, ordered logit, a linear ranking SVM; hyperparameters are not
tuned.{note}"""


def _curves(rows: list[Row], figures: Path) -> str:
    """One figure a kind of experiment: error against budget."""
    shown = [r for r in simplified(rows) if r["method"] == "eq6"]
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
        (
            "A larger training set",
            "growth",
            ("training set",),
            "error",
            False,
            "A forest trained on half of a fold against one trained on all of it; error of the "
            "estimated difference.",
        ),
    ):
        chosen = [
            r
            for r in shown
            if r["experiment"] in experiments
            and r["measure"] == "ERR"
            and (r["experiment"] != "training set" or float(r["label"]) == GROWTH[-1])
        ]
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
        draw_curves(
            data,
            path,
            ("labelling budget (mean queries)", words_y),
            ticks=BUDGET_TICKS,
            zero=not relative,
        )
        sections.append(f"## {title}\n\n{words}\n\n![{title}](figures/{path.name})")
    return "\n\n".join(sections)


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
    draw_curves(data, path, ("second training set / first", "error"))
    return (
        "The same at a budget of 100 mean queries (OHSUMED: 20), the second forest trained on 1.2 "
        f"to 2 times as much.\n\n![A training set of growing size](figures/{path.name})"
    )


def _savings(saved: list[Row], figures: Path) -> str:
    cells: list[Sequence[object]] = []
    verdicts: dict[str, list[str]] = defaultdict(list)
    for r in saved:
        row: list[object] = [r["experiment"], r["label"], r["measure"], r["collection"]]
        row += [r["quantity"], f"{r['passive']:.4f}"]
        row += [_share(r[v]) for v in VARIANTS[:-1]]
        cells.append([*row, _printed(r)])
        verdicts[verdict(r)].append(f"{r['collection']}, {name_of(r)}")
    path = figures / "active_saved.svg"
    draw_saved(saved, path)
    text = (
        "## Labels saved at equal error\n\nHow much less budget reaches the error that `passive` "
        "has at 100 mean queries (OHSUMED: 20), with Eq. 6 for both; comparisons also at equal "
        "selection error, as the paper reads them. Grey: what the paper reports for the like on "
        "MSLR-WEB30k, between 10 and 75 % (there read at other budgets).\n\n"
        f"![Labels saved at equal error](figures/{path.name})\n\n"
        + markdown_table(
            (
                "experiment",
                "ranking",
                "measure",
                "collection",
                "equal",
                "passive",
                "active",
                "uniC",
                "uniD",
                "paper",
            ),
            cells,
        )
    )
    text += "\n\n### Where it does not pay\n\n"
    known = len(saved) - len(verdicts["unknown"])
    text += f"`active` needs fewer labels in {len(verdicts['pays'])} of {known} rows."
    for kind, words in (
        ("loses", "**It needs more labels than passive sampling:**"),
        ("open", "No difference beyond two standard errors:"),
        ("unknown", "The curves of error do not reach far enough to say:"),
    ):
        if verdicts[kind]:
            text += f"\n\n{words}\n\n- " + "\n- ".join(verdicts[kind])
    return text


def _share(found: tuple[float, float]) -> str:
    share, se = found
    return "" if np.isnan(share) else f"{share:.0%} ± {se:.0%}"


def _printed(row: Row) -> str:
    low, high = row["printed"] or (None, None)
    return "" if low is None else f"{low} %" if low == high else f"{low}-{high} %"


def _answer(rows: list[Row], saved: list[Row], *, quick: bool) -> str:
    """What the method page begins with."""
    kinds: dict[str, int] = defaultdict(int)
    for r in saved:
        kinds[verdict(r)] += 1
    by_name: dict[str, dict[str, Row]] = defaultdict(dict)
    for r in saved:
        # a comparison is asked for its winner first
        if r["measure"] == "ERR" and (r["experiment"] != "compare" or "selection" in r["quantity"]):
            by_name[name_of(r)][r["collection"]] = r
    cells = [
        (
            name.replace(", ERR", ""),
            *(_share(found[c]["active"]) if c in found else "" for c in COLLECTIONS),
            next((_printed(r) for r in found.values()), ""),
        )
        for name, found in by_name.items()
    ]
    active = [
        r
        for r in rows
        if r["kind"] == "error" and r["variant"] == "active" and r["method"] == "eq6"
    ]
    usual = [r for r in active if r["budget"] == usual_budget(r["collection"])]
    covered = [r["coverage"] for r in usual]
    looks: dict[str, dict[Any, float]] = defaultdict(dict)
    found = pooled(
        [r for r in rows if r["kind"] == "sequential" and r["null"]],
        ("interval", "collection", "experiment", "label", "measure"),
        ("wrong",),
    )
    for (name, *ranking), v in found.items():
        looks[name][tuple(ranking)] = 100 * v["wrong"]
    rate = {name: float(np.mean(list(by.values()))) for name, by in looks.items()}
    worst = max(looks["group"], key=lambda ranking: looks["group"][ranking])
    lines = [
        f"Share of the labels that `active` saves against `passive` at equal error (selection: at "
        f"equal probability to name the wrong ranking), ± its standard error, from "
        f"{max(r['repeats'] for r in active):,} studies of each kind a fold"
        + (" (**a short run, `--quick`**)" if quick else "")
        + ":",
        markdown_table(("ERR", *COLLECTIONS, "the paper, MSLR-WEB30k"), cells),
        f"- Of all {len(saved)} rows measured, DCG and other measures included, `active` saves "
        f"labels in {kinds['pays']}, needs more in {kinds['loses']}; no difference beyond two "
        f"standard errors shows in {kinds['open']}. [All of them](active_experiments.md"
        "#labels-saved-at-equal-error), and [where it does not pay](active_experiments.md"
        "#where-it-does-not-pay).",
        f"- The 95 % interval of Eq. 6 covers the truth in {np.mean(covered):.1%} of the studies "
        f"(rankings and folds between {np.min(covered):.1%} and {np.max(covered):.1%}) at 100 mean "
        "queries, OHSUMED 20 ([all budgets](active_experiments.md#consistency-and-coverage)).",
        "- Looking after every draw at an interval meant for one look claims a sign in "
        f"{rate['naive']:.0f} % of the studies of a value that is 0, the five planned looks in "
        f"{rate['group']:.1f} % (at worst {looks['group'][worst]:.1f} %, {worst[0]}, {worst[1]} "
        f"{worst[2]} by {worst[3]}), the confidence sequence in {rate['betting']:.1f} % "
        "([looks](active_experiments.md#looking-after-every-draw)).",
        _methods(rows),
    ]
    return "\n\n".join(lines[:2]) + "\n\n" + "\n".join(lines[2:])


def _methods(rows: list[Row]) -> str:
    """Every estimator against Eq. 6, over all rankings and budgets."""
    table = _against_eq6(rows)
    words = []
    for method in METHODS[1:]:
        ratio, coverage, plain = (
            np.array([found[method][i] for found in table.values() if method in found])
            for i in range(3)
        )
        words.append(
            f"`{method}` {np.exp(np.log(ratio).mean()):.2f} times ({(ratio < 1).mean():.0%} of the "
            f"rows below 1, the worst {ratio.max():.2f}; coverage "
            f"{100 * (coverage - plain).mean():+.1f} points)"
        )
    return (
        "- Root mean squared error against Eq. 6's with `active` draws, all rankings and budgets: "
        + ", ".join(words)
        + " ([by budget](active_experiments.md#estimators))."
    )


def _against_eq6(rows: list[Row]) -> dict[Any, dict[str, tuple[float, float, float]]]:
    """Ranking and budget -> method -> rmse over Eq. 6's, coverage, coverage of Eq. 6."""
    keys = ("collection", "experiment", "label", "measure", "budget", "method")
    found = pooled(
        [r for r in rows if r["kind"] == "error" and r["variant"] == "active"],
        keys,
        ("rmse", "coverage"),
    )
    out: dict[Any, dict[str, tuple[float, float, float]]] = defaultdict(dict)
    for (*where, method), v in found.items():
        plain = found[(*where, "eq6")]
        if plain["rmse"] > 0 and v["rmse"] > 0:
            ratio = v["rmse"] / plain["rmse"]
            out[tuple(where)][method] = ratio, v["coverage"], plain["coverage"]
    return out


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
    cells = []
    for variant in ("active", "passive"):
        for c in COLLECTIONS:
            for experiment in ("estimate", "compare", "index update", "measure"):
                budgets = (10.0, 20.0, 40.0) if c == "OHSUMED" else (20.0, 100.0, 300.0)
                for budget in budgets if variant == "active" else (usual_budget(c),):
                    row: list[object] = [variant, c, experiment, f"{budget:g}"]
                    for method in METHODS:
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
        + markdown_table(("draws", "collection", "experiment", "budget", *METHODS), cells)
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
