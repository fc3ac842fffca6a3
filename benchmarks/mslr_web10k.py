"""The papers' learning experiments on MSLR-WEB10K itself; needs the files and nothing else.

``python -m benchmarks.mslr_web10k DIR`` takes the folder that holds Fold1 to Fold5, trains every
objective by the settings of Dincer et al. 2014, section 6.4, and writes
benchmarks/results/mslr_web10k.md: the shape of that paper's Table 3 with the printed figures beside
ours, and with ``--learned-baselines`` the lower half of Table 7 of Dincer et al. 2016. Finished
models are kept under ``--work``; stop it at any time, the same command goes on.

Some 85 models of 800 trees on 720,000 documents: a night on one machine with many cores. ``--fold``
and ``--alpha`` do a part of it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import surefoot as sf
from benchmarks.harness import markdown_table
from surefoot.io.svmlight import find_folds
from surefoot.learn import Objective
from surefoot.results.cross_validation import CrossValidation

HERE = Path(__file__).resolve().parent
BM25 = "feature:110"  # BM25 of the whole document
OBJECTIVES = ("u-cro", "saro", "faro", "georisk")
# Dincer et al. 2014, Table 3: (objective, alpha) to NDCG@1, NDCG@10, risk/reward, loss/win, losses,
# wins, losses over 20 %. The loss/win of FARO at alpha 10 is 2040/7469 (errata TRisk-11).
PRINTED = {
    ("ndcg", 0): (0.472, 0.480, 0.172, 0.281, 2080, 7400, 1180),
    ("u-cro", 1): (0.468, 0.478, 0.168, 0.278, 2059, 7417, 1130),
    ("u-cro", 5): (0.458, 0.470, 0.164, 0.267, 1992, 7468, 1036),
    ("u-cro", 10): (0.442, 0.458, 0.176, 0.272, 2019, 7427, 1036),
    ("u-cro", 20): (0.423, 0.448, 0.185, 0.275, 2040, 7406, 1042),
    ("saro", 1): (0.470, 0.479, 0.167, 0.267, 1996, 7470, 1124),
    ("saro", 5): (0.463, 0.474, 0.164, 0.266, 1992, 7476, 1124),
    ("saro", 10): (0.455, 0.468, 0.169, 0.272, 2024, 7437, 1046),
    ("saro", 20): (0.439, 0.458, 0.177, 0.270, 2010, 7441, 1032),
    ("faro", 1): (0.468, 0.479, 0.170, 0.272, 2025, 7451, 1152),
    ("faro", 5): (0.467, 0.477, 0.171, 0.274, 2040, 7452, 1145),
    ("faro", 10): (0.470, 0.479, 0.171, 0.273, 2040, 7469, 1155),
    ("faro", 20): (0.469, 0.478, 0.172, 0.277, 2060, 7429, 1172),
}


def tables(found: CrossValidation) -> str:
    """Both tables of a finished cross-validation."""
    rows, learned = [], []
    for e in found.entries:
        printed = PRINTED.get((e["objective"], int(e["alpha"])))
        change = "" if e["objective"] == "ndcg" else f"{e['low']:+.4f} to {e['high']:+.4f}"
        cells = [e["objective"], f"{e['alpha']:g}"]
        for i, name in enumerate(("ndcg_1", "mean", "risk_reward", "loss_win")):
            cells += [f"{e[name]:.3f}", f"{printed[i]:.3f}" if printed else ""]
        for i, name in enumerate(("losses", "wins", "loss_over_20"), start=4):
            cells += [f"{e[name]:.0f}", f"{printed[i]}" if printed else ""]
        rows.append([*cells, change])
        learned.append(
            [
                e["objective"],
                f"{e['alpha']:g}",
                f"{e['mean']:.4f}",
                f"{e['reward_risk_baselines']:.3f}",
                f"{e['win_loss_baselines']:.3f}",
                f"{e['wins_baselines']:.0f}",
                f"{e['losses_baselines']:.0f}",
                f"{e['loss_over_20_baselines']:.0f}",
            ]
        )
    names = ("NDCG@1", "NDCG@10", "risk/reward", "loss/win", "losses", "wins", "loss > 20 %")
    header = ["objective", "alpha", *(h for n in names for h in (n, "printed"))]
    text = markdown_table([*header, "NDCG@10 against plain, 95 %"], rows)
    if not found.scores.baselines.size:
        return text
    header = ["objective", "alpha", "NDCG@10", "reward/risk", "wins/losses", "wins", "losses"]
    return (
        f"{text}\n\nAgainst the four learned baselines, macro-averaged:\n\n"
        f"{markdown_table([*header, 'loss > 20 %'], learned)}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="the folder with Fold1 to Fold5")
    parser.add_argument("--work", type=Path, default=HERE / ".data" / "mslr_web10k")
    parser.add_argument("--page", type=Path, default=HERE / "results" / "mslr_web10k.md")
    parser.add_argument("--fold", type=int, action="append", help="these folds only")
    parser.add_argument("--objective", choices=OBJECTIVES, action="append")
    parser.add_argument("--alpha", type=float, action="append", help="default: 1 5 10 20")
    parser.add_argument("--learned-baselines", action="store_true")
    parser.add_argument("--normalize", default="off", help="off as in the papers' software")
    parser.add_argument("--rounds", type=int, default=800)
    parser.add_argument("--learning-rate", type=float, default=0.075)
    parser.add_argument("--leaves", type=int, default=50)
    parser.add_argument("--min-documents", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args(arguments)
    try:
        folds = find_folds(args.directory)
        if args.fold:
            folds = [f for f in folds if int(f.name.removeprefix("fold")) in args.fold]
        found = sf.cross_validate(
            folds,
            work=args.work,
            objectives=args.objective or OBJECTIVES,
            alphas=args.alpha or (1.0, 5.0, 10.0, 20.0),
            base=Objective(normalize=args.normalize),
            baseline=BM25,
            learned_baselines=args.learned_baselines,
            rounds=args.rounds,
            learning_rate=args.learning_rate,
            leaves=args.leaves,
            min_documents=args.min_documents,
            threads=args.threads,
            progress=lambda done, total: print(f"{done:g} of {total:g} models", flush=True),
        )
    except sf.SurefootError as error:
        print(error, file=sys.stderr)
        return 1
    command = " ".join(["python -m benchmarks.mslr_web10k DIR", *_given(arguments)])
    args.page.write_text(
        f"""# MSLR-WEB10K

{found.headline[0]}.

{found.scores.champion.size:,} test queries of {len(folds)} folds; the champion is BM25 of the whole
document with NDCG@10 {found.scores.champion.mean():.3f} (printed: .309). "printed" is Table 3 of
Dincer et al. 2014, over 9,685 queries. The interval is of the difference to the plain ranker.

{tables(found)}

Command: `{command}`.
""",
        encoding="utf-8",
    )
    print(f"wrote {args.page}")
    return 0


def _given(arguments: Sequence[str] | None) -> list[str]:
    """The options of this call, without the folder's own path."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    return [a for a in given if "/" not in a and not Path(a).exists()]


if __name__ == "__main__":
    sys.exit(main())
