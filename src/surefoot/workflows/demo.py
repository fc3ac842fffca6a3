"""The main job from start to end on a generated collection: who can replace the champion?"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surefoot.data.scores import ScoreMatrix
from surefoot.results.record import Result
from surefoot.workflows.evaluate import evaluate, evaluate_matrix
from surefoot.workflows.intervals import intervals
from surefoot.workflows.ppd_risk import ppd_risk
from surefoot.workflows.risk import risk
from surefoot.workflows.sample import write_sample
from surefoot.workflows.topics import topics
from surefoot.workflows.verdicts import times

MEASURE = "nDCG@10"
ALPHA = 1.0  # a regression weighs twice as much as an improvement
CHAMPION = "champion"
CHALLENGERS = tuple(f"challenger{i}" for i in range(1, 5))
WORST = 3  # regressions shown of each challenger


@dataclass(frozen=True, slots=True)
class Step:
    """What is asked, and the answer: a record, or lines of text."""

    question: str
    answer: Result | None = None
    lines: tuple[str, ...] = field(default=())


def demo(directory: str | os.PathLike[str], *, seed: int = 0, threads: int = 0) -> Iterator[Step]:
    """Make a collection in `directory` and judge its four challengers, step by step."""
    home = Path(directory)
    write_sample(home, seed=seed)
    runs = sorted((home / "runs").glob("*.run"))
    contenders = [home / "runs" / f"{name}.run" for name in (CHAMPION, *CHALLENGERS)]
    yield Step(
        "How good are they on the mean?",
        evaluate(home / "qrels.txt", contenders, [MEASURE, "P@5", "RBP(p=0.8)"], threads=threads),
    )
    scores = evaluate_matrix(home / "qrels.txt", runs, MEASURE, threads=threads)
    options: dict[str, Any] = {"champion": CHAMPION, "systems": CHALLENGERS, "threads": threads}
    risks = risk(scores, alpha=ALPHA, slices=home / "slices.csv", **options)
    yield Step("Query by query, whom do they hurt?", risks)
    yield Step("Which queries break?", lines=tuple(_worst(scores, home)))
    bounds = intervals(scores, alpha=ALPHA, seed=seed, correction="bonferroni", **options)
    yield Step("How sure is that?", bounds)
    predicted = ppd_risk(
        scores,
        champion=CHAMPION,
        systems=CHALLENGERS,
        r=1 + ALPHA,
        family="gaussian",
        seed=seed,
        threads=threads,
    )
    yield Step("What does a model of all systems together predict?", predicted)
    yield Step("The verdict", lines=tuple(_verdicts(risks, bounds)))


def _worst(scores: ScoreMatrix, home: Path) -> Iterator[str]:
    """The worst regressions of each challenger, with what the user had typed."""
    lines = (home / "topics.tsv").read_text(encoding="utf-8").splitlines()[1:]
    text = dict(line.split("\t") for line in lines)
    for name in CHALLENGERS:
        table = topics(scores, champion=CHAMPION, alpha=ALPHA, system=name)
        worst = sorted(table.rows(), key=lambda row: float(row["delta"]))[:WORST]
        shown = [f'"{text[r["topic"]]}" ({r["delta"]:+.2f})' for r in worst if r["delta"] < -0.05]
        yield f"{name}: {', '.join(shown) if shown else 'none by more than 0.05'}"


def _verdicts(risks: Result, bounds: Result) -> Iterator[str]:
    """One sentence a challenger."""
    low_high = {row["system"]: (row["low"], row["high"]) for row in bounds.rows()}
    word = {"risky": "NO", "safe": "YES", "unclear": "NOT YET"}
    for row in risks.rows():
        if row.get("slice", "all") != "all":
            continue
        name = row["system"]
        low, high = low_high[name]
        yield (
            f"{name}: {word[row['verdict']]}. {row['wins']:.0f} queries better, "
            f"{row['losses']:.0f} worse ({row['loss_over_20']:.0f} by more than 20 %); "
            f"with losses counted {times(ALPHA)} {row['u_risk']:+.3f} per query "
            f"[{low:+.3f}, {high:+.3f}]"
        )
