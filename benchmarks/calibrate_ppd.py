"""Coverage of PPDRisk-: fit simulated tables, then see where the risk of a new table falls.

`make calibrate-ppd` runs it and writes `docs/method/ppd_calibration.md`.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

import surefoot as sf
from benchmarks.harness import markdown_table
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import UnreliableWarning
from surefoot.inference.bayes.predictive import predicted_risk, risk_replicates

PAGE = Path(__file__).resolve().parent.parent / "docs" / "method" / "ppd_calibration.md"
LEVELS = (1.0, 5.0)
NOMINAL = (0.5, 0.8, 0.95)
SIZES = ((2, 10), (5, 10), (10, 25), (30, 50))
TRUTH = {
    "gaussian": {"b": 0.4, "sd_system": 0.08, "sd_topic": 0.18, "sigma": 0.15},
    "zoib": {"b": -0.4, "sd_system": 0.3, "sd_topic": 0.8, "phi": 5.0, "zoi": 0.04, "coi": 0.3},
}


def simulate(family, shape, rng):
    """Effects of a new study, and a function that draws a table of scores from them."""
    truth = TRUTH[family]
    system = rng.normal(0, truth["sd_system"], shape[0])
    topic = rng.normal(0, truth["sd_topic"], shape[1])
    eta = truth["b"] + system[:, None] + topic

    def table():
        if family == "gaussian":
            return rng.normal(eta, truth["sigma"])
        mu = 1 / (1 + np.exp(-eta))
        y = np.clip(rng.beta(mu * truth["phi"], (1 - mu) * truth["phi"]), 1e-12, 1 - 1e-12)
        mass = rng.random(shape) < truth["zoi"]
        return np.where(mass, (rng.random(shape) < truth["coi"]).astype(float), y)

    return table


def realised(table, r):
    """URisk- of every system against the first."""
    delta = table[1:] - table[0]
    return -np.where(delta < 0, r * delta, delta).mean(axis=1)


def study(family, shape, repeats, missing, seed):
    """Coverage of the intervals, and how often 'risky' comes true, by its predicted chance."""
    inside = {(r, level): [] for r in LEVELS for level in NOMINAL}
    chance, came_true, doubtful = [], [], 0
    for k in range(repeats):
        rng = np.random.default_rng([seed, k, *shape])
        draw = simulate(family, shape, rng)
        seen = draw()
        if missing:
            hole = rng.random(shape) < missing
            hole[0, 0] = False
            seen = np.where(hole, np.nan, seen)
        scores = ScoreMatrix(
            tuple(f"s{i}" for i in range(shape[0])), tuple(f"t{j}" for j in range(shape[1])), seen
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreliableWarning)
            posterior = sf.fit(scores, family=family, draws=4_000, criteria=False, seed=k)
        doubtful += bool(posterior.warnings)
        replicates = risk_replicates(posterior, 0, range(1, shape[0]), seed=k)
        new = draw()
        for r in LEVELS:
            truth = realised(new, r)
            for level in NOMINAL:
                got = predicted_risk(replicates, r, interval=level)
                inside[r, level].append(((truth >= got.low) & (truth <= got.high)).mean())
            chance.append(got.p_risky)
            came_true.append(truth > 0)
    coverage = {key: (np.mean(v), np.std(v, ddof=1) / len(v) ** 0.5) for key, v in inside.items()}
    return coverage, np.concatenate(chance), np.concatenate(came_true), doubtful


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    began = time.perf_counter()
    rows, chance, came_true = [], [], []
    for family, count in (("gaussian", 300), ("zoib", 150)):
        for shape in SIZES:
            for missing in (0.0, 0.1) if shape == (10, 25) else (0.0,):
                n = max(int(count * scale * (1 if shape[0] < 30 else 0.5)), 4)
                coverage, p, hit, doubtful = study(family, shape, n, missing, 20261118)
                chance.append(p)
                came_true.append(hit)
                label = f"{shape[0]} x {shape[1]}" + (", 10% missing" if missing else "")
                for r in LEVELS:
                    cells = (coverage[r, level] for level in NOMINAL)
                    shown = [f"{100 * m:.1f} ± {200 * se:.1f}" for m, se in cells]
                    rows.append([family, label, n, doubtful, f"{r:g}", *shown])
                print(rows[-1], f"{time.perf_counter() - began:.0f} s", flush=True)
    p, hit = np.concatenate(chance), np.concatenate(came_true)
    edges = np.array([0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0 + 1e-9])
    which = np.digitize(p, edges) - 1
    calibration = [
        [
            f"{edges[b]:.2f} to {min(edges[b + 1], 1):.2f}",
            int((which == b).sum()),
            f"{p[which == b].mean():.3f}",
            f"{hit[which == b].mean():.3f}",
        ]
        for b in range(len(edges) - 1)
        if (which == b).any()
    ]
    header = ["family", "systems x topics", "fits", "doubtful", "r"]
    header += [f"{level:.0%} interval" for level in NOMINAL]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(
        f"""# Do predictive intervals of risk hold what they promise?

Tables of scores are simulated from known system and topic effects, fitted with the default priors,
and the predictive interval of each challenger's URisk- is held against the URisk- of a second table
drawn from the same effects. If the intervals are right, 95% of them hold the new value.

{markdown_table(header, rows)}

Percent of challengers whose new risk fell inside the interval, ± two standard errors over the
simulated studies. "Doubtful" counts the fits that carried a warning; they are included.

With 2 or 5 systems the spread between systems is hardly known, and the default prior on it is far
wider than the truth here, so differences between systems are pooled too little and the intervals
tend to be wide rather than narrow.

## "x% chance that it is risky"

All challengers of the table above, by the predicted P(URisk- > 0), and how often the new table
agreed:

{markdown_table(["predicted", "challengers", "mean predicted", "came true"], calibration)}

The truths: `{TRUTH}`. Command: `make calibrate-ppd`.
""",
        encoding="utf-8",
    )
    print(PAGE.read_text())


if __name__ == "__main__":
    main()
