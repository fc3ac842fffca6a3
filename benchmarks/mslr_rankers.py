"""The risk of learned rankers on MSLR-WEB10K, from their published scores per query.

``python -m benchmarks.mslr_rankers [--data ../shared/data]`` writes docs/method/mslr_rankers.md.
The table holds NDCG@10 of an unlearned ranker, 15 LambdaMART and 13 RankNet settings on the test
queries of all five folds. All were trained on fold 4's training queries, which are the test queries
of folds 1, 2 and 5: only folds 3 and 4 are new to them, so the verdicts are from those. The last
section has the whole table.
"""

import argparse
import gzip
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf
from benchmarks.harness import markdown_table
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import UnreliableWarning

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "method" / "mslr_rankers.md"
UNSEEN = ("3", "4")
WEAK, STRONG = "lambdaMART_trees100", "lambdaMART_leaves10"
ALPHAS = (0.0, 1.0, 5.0)


def read(path: Path, folds: tuple[str, ...] = UNSEEN) -> ScoreMatrix:
    """The rankers on the test queries of some folds."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header = file.readline().strip().split(",")
        rows = [line.strip().split(",") for line in file]
    rows = [r for r in rows if r[0] in folds]
    values = np.array([[float(v) for v in r[2:]] for r in rows]).T
    return ScoreMatrix(tuple(header[2:]), tuple(f"{r[0]}-{r[1]}" for r in rows), values)


def distinct(matrix: ScoreMatrix) -> tuple[ScoreMatrix, list[tuple[str, str]]]:
    """Without rankers that score as another does on every query; and whose copies those are."""
    kept: list[int] = []
    copies = []
    for i, row in enumerate(matrix.values):
        twin = next((j for j in kept if np.array_equal(matrix.values[j], row)), None)
        if twin is None:
            kept.append(i)
        else:
            copies.append((matrix.systems[i], matrix.systems[twin]))
    return select(matrix, kept), copies


def select(matrix: ScoreMatrix, kept: list[int]) -> ScoreMatrix:
    """Some of the rankers."""
    return ScoreMatrix(tuple(matrix.systems[i] for i in kept), matrix.topics, matrix.values[kept])


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data")
    parser.add_argument("--family", default="gaussian", help="of the Bayesian model")
    args = parser.parse_args()
    path = args.data / "mslr10k_ndcg10" / "per_query_ndcg10.csv.gz"
    if not path.exists():
        print(f"skipped: {path} is absent (option --data)", file=sys.stderr)
        return 0
    everything = read(path)
    rankers, copies = distinct(everything)
    trees = [i for i, s in enumerate(rankers.systems) if s.startswith("lambdaMART")]
    sections = [
        _scenario(
            rankers,
            select(rankers, trees),
            champion,
            args.family,
            title,
        )
        for champion, title in (
            (STRONG, "When the champion is already strong"),
            (WEAK, "When the champion is weak"),
        )
    ]
    empty = int((everything.values.max(axis=0) == 0).sum())
    best = max(range(len(rankers.systems)), key=lambda i: rankers.values[i].mean())
    same = "; ".join(f"`{_short(a)}` as `{_short(b)}`" for a, b in copies)
    PAGE.write_text(
        f"""# Is it safe to replace one learned ranker by another? MSLR-WEB10K

Written by `python -m benchmarks.mslr_rankers`. It reads the NDCG@10 of {len(everything.systems)}
rankers (RankLib's LambdaMART and RankNet in many settings, and an unlearned one) on the queries of
MSLR-WEB10K.

Before any test, the table is looked over, as `surefoot lint` users should:

- All rankers were trained on the same fold, whose training queries are the test queries of folds 1,
  2 and 5. There they look up to .08 too good. **Verdicts come from folds 3 and 4 alone:
  {len(rankers.topics):,} queries** (those of fold 3 may have helped to choose the number of trees).
- {len(copies)} rankers score as another does on every query: {same}. They are left out: a copy adds
  nothing to a population, but would count in ZRisk, GeoRisk and every correction.
- {empty} queries are 0 for every ranker. They stay: a query without a relevant document among the
  judged is a tie for all, and leaving it out would make every loss look more frequent.

{len(rankers.systems)} rankers remain, the best by the mean is `{_short(rankers.systems[best])}`
({rankers.values[best].mean():.4f}). ZRisk and GeoRisk take all of them as the population; the
tables of the next two sections show the LambdaMART settings, the last section shows everything.

{sections[0]}
{sections[1]}
{_whole(path, args.family)}""",
        encoding="utf-8",
    )
    print(f"wrote {PAGE}")
    return 0


def _scenario(
    population: ScoreMatrix, shown: ScoreMatrix, champion: str, family: str, title: str
) -> str:
    names = [s for s in shown.systems if s != champion]
    found = sf.risk(shown, champion=champion, alpha=ALPHAS, population=population).to_dict()["rows"]
    intervals = sf.intervals(
        shown, champion=champion, alpha=ALPHAS, method="bca", correction="bonferroni"
    ).to_dict()["rows"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        predicted = sf.ppd_risk(
            shown, champion=champion, r=[1 + a for a in ALPHAS], family=family
        ).to_dict()["rows"]
    means = dict(zip(shown.systems, shown.values.mean(axis=1), strict=True))
    names.sort(key=lambda s: -means[s])

    def row(table: list[dict], name: str, alpha: float) -> dict:
        return next(
            r for r in table if r["system"] == name and alpha in (r.get("alpha"), r.get("r", 0) - 1)
        )

    rows = []
    for name in names:
        plain = row(found, name, 0.0)
        cells = [
            f"`{_short(name)}`",
            f"{means[name]:.4f}",
            f"{plain['wins']} / {plain['losses']}",
            plain["loss_over_20"],
        ]
        for a in ALPHAS:
            r = row(found, name, a)
            cells += [f"{r['u_risk']:+.4f}", f"{r['t_risk']:+.1f}"]
        cells += [f"{row(found, name, ALPHAS[-1])['z_risk']:+.1f}"]
        cells += [f"{row(found, name, ALPHAS[-1])['geo_risk']:.4f}", _alpha(plain)]
        rows.append(cells)
    header = ["ranker", "mean", "wins / losses", "loss > 20 %"]
    header += [h for a in ALPHAS for h in (f"URisk {a:g}", f"TRisk {a:g}")]
    header += [f"ZRisk {ALPHAS[-1]:g}", f"GeoRisk {ALPHAS[-1]:g}", "safe up to alpha"]
    limits = []
    for name in names:
        cells = [f"`{_short(name)}`"]
        for a in ALPHAS:
            i, p = row(intervals, name, a), row(predicted, name, a)
            cells += [f"{i['low']:+.4f} to {i['high']:+.4f}", i["verdict"]]
            cells += [f"{p['low']:+.4f} to {p['high']:+.4f}", f"{p['p_risky']:.3f}"]
        limits.append(cells)
    head = ["ranker"]
    for a in ALPHAS:
        head += [f"BCa of URisk, alpha {a:g}", "verdict", f"PPDRisk-, r = {1 + a:g}", "P(risky)"]
    better = [n for n in names if means[n] > means[champion]]
    verdicts = {a: {n: row(intervals, n, a)["verdict"] for n in names} for a in ALPHAS}
    counted = "; ".join(
        f"{'on plain differences' if a == 0 else f'counting a loss {1 + a:g} times'} "
        f"{sum(v == 'better' for v in verdicts[a].values())} are better and "
        f"{sum(v == 'worse' for v in verdicts[a].values())} worse"
        for a in ALPHAS
    )
    paid = [n for n in better if verdicts[ALPHAS[-1]][n] == "worse"]
    agree = sum(
        (verdicts[a][n] == "worse") == (row(predicted, n, a)["low"] > 0)
        for n in names
        for a in ALPHAS
    )
    near = min(names, key=lambda n: abs(means[n] - means[champion]))
    seen, told = -row(found, near, 1.0)["u_risk"], row(predicted, near, 1.0)["median"]
    return f"""## {title}: `{_short(champion)}`

{len(better)} of {len(names)} settings have a higher mean than `{_short(champion)}`
({means[champion]:.4f}). By the intervals, {counted}; the others are undecided. Of the
{len(better)} with the higher mean, {len(paid)} are worse when a loss counts {1 + ALPHAS[-1]:g}
times: many queries pay for their gain.

{markdown_table(header, rows)}

Wins, losses and losses over 20 % of the champion's score are queries. TRisk below about -2 is a
risk, above 2 a gain that chance does not explain. "Safe up to alpha" is the loss aversion at which
URisk turns negative.

{markdown_table(head, limits)}

BCa intervals hold for all {len(names)} challengers together with 95 % (Bonferroni). PPDRisk- is the
predictive interval of risk on new scores of these queries (positive is risky), from one {family}
model of all the rankers shown. The two agree on which replacement is risky in {agree} of
{len(names) * len(ALPHAS)} cases. Where they do not, mind what the model leaves out: it gives each
ranker and each query an effect and takes the rest for chance, while rankers of one family are right
and wrong on the same queries. For `{_short(near)}`, close to the champion on the mean, it predicts
a risk of {told:.3f} at r = 2 where {seen:.3f} was seen: for near relatives the intervals of the
paired differences are the ones to trust.
"""


def _whole(path: Path, family: str, champion: str = WEAK, alpha: float = 1.0) -> str:
    """All rankers on all queries, copies and known queries included, beside the unseen ones."""
    whole, unseen = read(path, ("1", "2", "3", "4", "5")), read(path)
    found = {r["system"]: r for r in _rows(sf.risk(whole, champion=champion, alpha=alpha))}
    limits = [
        {
            r["system"]: r
            for r in _rows(
                sf.intervals(
                    m, champion=champion, alpha=alpha, method="bca", correction="bonferroni"
                )
            )
        }
        for m in (whole, unseen)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableWarning)
        predicted = {
            r["system"]: r
            for r in _rows(sf.ppd_risk(whole, champion=champion, r=1 + alpha, family=family))
        }
    means = [dict(zip(m.systems, m.values.mean(axis=1), strict=True)) for m in (whole, unseen)]
    names = sorted((s for s in whole.systems if s != champion), key=lambda s: -means[0][s])
    rows = []
    for n in names:
        r, i, p = found[n], limits[0][n], predicted[n]
        cells = [f"`{_short(n)}`", f"{means[0][n]:.4f}", f"{means[1][n]:.4f}"]
        cells += [f"{r['wins']} / {r['losses']}", f"{r['u_risk']:+.4f}", f"{r['t_risk']:+.1f}"]
        cells += [f"{r['z_risk']:+.1f}", f"{r['geo_risk']:.4f}"]
        cells += [f"{i['low']:+.4f} to {i['high']:+.4f}", f"{p['low']:+.4f} to {p['high']:+.4f}"]
        cells += [f"{p['p_risky']:.3f}", i["verdict"], limits[1][n]["verdict"]]
        rows.append(cells)
    header = ["ranker", "mean", "folds 3, 4", "wins / losses", "URisk", "TRisk", "ZRisk"]
    header += ["GeoRisk", "BCa of URisk", "PPDRisk-", "P(risky)", "verdict", "folds 3, 4"]
    changed = [n for n in names if limits[0][n]["verdict"] != limits[1][n]["verdict"]]
    flattered = max(names, key=lambda n: means[0][n] - means[1][n])
    listed = ", ".join(f"`{_short(n)}`" for n in changed)
    return f"""## All {len(whole.systems)} rankers on all {len(whole.topics):,} queries

The whole table, with the copies and with the queries that the rankers were trained on, against
`{_short(champion)}` ({means[0][champion]:.4f}; {means[1][champion]:.4f} on folds 3 and 4) at alpha
{alpha:g} (r = {1 + alpha:g}). It shows what a leak does to a risk analysis: `{_short(flattered)}`
gains {means[0][flattered] - means[1][flattered]:.4f} on the mean from queries that it knows, and
the verdict on {len(changed)} of {len(names)} rankers changes when only new queries count
{f"({listed})" if changed else ""}.

{markdown_table(header, rows)}
"""


def _rows(result: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result.to_dict()["rows"]
    return rows


def _short(name: str) -> str:
    kind, _, setting = name.partition("_")
    kind = {"lambdaMART": "LM ", "ranknet4": "RankNet "}.get(kind, kind)
    return kind + re.sub(r"0\.\d+|1\.0+", lambda m: f"{float(m[0]):g}", setting)


def _alpha(row: dict) -> str:
    value = row["break_even_alpha"]
    return "never" if value is None or np.isnan(value) or value < 0 else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
