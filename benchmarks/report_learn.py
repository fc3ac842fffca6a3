"""The pages of the learning study, from the cells that `experiments_learn` collected.

Every sentence with a verdict is decided here from intervals; nothing is quoted by hand.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.experiments_learn import (
    ALPHAS,
    FAMILIES,
    GAP_ROUNDS,
    LETOR,
    REMEDIES,
    SETTINGS,
    Scale,
    _read,
    finished,
    gap_cells,
    generated_cells,
    settings_cells,
    variants,
)
from benchmarks.harness import markdown_table
from surefoot.errors import UnreliableWarning
from surefoot.inference.intervals import bootstrap_intervals
from surefoot.learn.contrast import Contrast, contrast, risk_features

METHOD = Path(__file__).resolve().parent.parent / "docs" / "method"
RESULTS_PAGE = METHOD / "learn_results.md"
GAP_PAGE = METHOD / "learn_ohsumed.md"
COMMAND = "python -m benchmarks.experiments_learn"
NAMES = {
    "ndcg": "plain",
    "u-cro": "U-CRO",
    "saro": "SARO",
    "faro": "FARO",
    "t-star-faro": "T*-FARO",
    "georisk": "GeoRisk",
}
TITLES = {"off": "Without normalisation", "risk-free": "With normalisation"}
# what the aims of the study allow and ask for
NDCG_MARGIN, RISK_AIM, WINS_AIM = 0.002, 0.10, 0.025
GUARDS = ("leaf needs", "lambda_l2", "leaf values")
KEEPS = 0.01  # FARO keeps NDCG when no more than this part of it can have been lost


@dataclass(frozen=True, slots=True)
class Study:
    """Per-query effectiveness of the rankers of one normalisation on one collection.

    Parameters
    ----------
    values : dict
        (objective, alpha) to (n_seeds, n_queries).
    champion : (n_queries,) array
    learned : (n_seeds, n_baselines, n_queries) array
    ndcg_1 : dict
        Mean NDCG@1 by (objective, alpha).
    """

    values: dict[tuple[str, float], Any]
    champion: Any
    learned: Any
    ndcg_1: dict[tuple[str, float], float]

    @property
    def plain(self) -> tuple[str, float]:
        """The control's key."""
        return ("ndcg", 0.0)

    def features(self, key: tuple[str, float], against: str) -> Any:
        """Of one ranker, against the champion or all learned baselines."""
        if against == "champion":
            return risk_features(self.values[key], self.champion)
        return risk_features(self.values[key][:, None, :], self.learned)

    def against_control(
        self, key: tuple[str, float], against: str = "champion", **options: Any
    ) -> dict[str, Contrast]:
        """One ranker against the plain one of the same normalisation."""
        return self.compare(key, self.plain, against, **options)

    def compare(
        self, key: tuple[str, float], other: tuple[str, float], against: str, **options: Any
    ) -> dict[str, Contrast]:
        """One ranker against another, with intervals over queries."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnreliableWarning)
            return contrast(
                self.features(key, against),
                self.features(other, against),
                resamples=20_000,
                **options,
            )

    def seeds_agreeing(self, key: tuple[str, float], name: str, against: str = "champion") -> float:
        """Share of the seeds in which a statistic changes in the direction of the whole."""
        whole = _changes(self.features(key, against), self.features(self.plain, against))[name]
        champions = self.learned if against == "learned" else [self.champion] * len(self.learned)
        agreeing = [
            _changes(risk_features(ours, b), risk_features(plain, b))[name] * whole > 0
            for ours, plain, b in zip(
                self.values[key], self.values[self.plain], champions, strict=True
            )
        ]
        return float(np.mean(agreeing))

    def seeds_lower(self, key: tuple[str, float]) -> str:
        """In how many seeds risk/reward against the champion is below the control's."""
        lower = [
            _changes(risk_features(v, self.champion), risk_features(p, self.champion))[
                "risk_reward"
            ]
            < 0
            for v, p in zip(self.values[key], self.values[self.plain], strict=True)
        ]
        return f"{sum(lower)}/{len(lower)}"

    def clear(
        self, key: tuple[str, float], name: str, found: Contrast, against: str = "champion"
    ) -> int:
        """Sign of a change that neither the choice of queries nor that of seeds explains; else 0.

        The interval over queries excludes zero, and at least nine seeds of ten agree.
        """
        if found.low <= 0 <= found.high or not np.isfinite(found.low + found.high):
            return 0
        return int(np.sign(found.change)) if self.seeds_agreeing(key, name, against) >= 0.9 else 0


def _changes(ours: Any, plain: Any) -> dict[str, float]:
    """Changes without intervals, of two tables of `risk_features`."""
    a, b = ours.mean(axis=1), plain.mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "mean": float(a[0] - b[0]),
            "risk_reward": float((a[1] / a[2]) / (b[1] / b[2]) - 1),
            "win_loss": float((a[4] / a[3]) / (b[4] / b[3]) - 1),
            "loss_over_20": float(a[5] / b[5] - 1),
        }


# changes on the validation queries, the setting's name, and what the test queries say
Choice = tuple[dict[str, float], str, dict[str, Contrast]]


def write_pages(home: Path, scale: Scale, *, quick: bool) -> None:
    """All pages for which there are cells."""
    parts = [*_generated(home, scale, quick), *_letor(home)]
    if parts:
        RESULTS_PAGE.write_text(
            _intro(quick, len(_complete_seeds(home, scale))) + "\n".join(parts), encoding="utf-8"
        )
        print(f"wrote {RESULTS_PAGE}")
    text = _gap(home, quick)
    if text:
        GAP_PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {GAP_PAGE}")


def _intro(quick: bool, seeds: int) -> str:
    note = (
        "\n> This page was written by the small version of the study (`--quick`): fewer queries\n"
        "> and seeds, wide intervals. The command above without `--quick` writes the full one.\n"
        if quick
        else ""
    )
    return f"""# Risk-sensitive LambdaMART: what was measured

Written by `{COMMAND} --seeds {seeds}`
and `{COMMAND} --report`; what the objectives are is in [learn.md](learn.md).
{note}
Every ranker is compared with the plain LambdaMART **of the same normalisation**: the booster's own
normalisation of lambdas can change losses by itself, so a comparison across it would credit the
wrong cause. Intervals are 95 % each, BCa bootstrap over queries, paired; what seeds (and, for the
learned baselines, baselines) differ in is averaged within a query first, so that more seeds make a
query's score steadier but are never counted as more queries. They speak of other queries, not of
other training runs; so a change is called **clear** only when its interval excludes zero and at
least nine seeds of ten agree in its direction. The intervals are not corrected for the number of
settings in a table.

Risk/reward is the sum of losses over the sum of gains against the champion; a query counts as
"loss > 20 %" when it loses more than a fifth of the champion's NDCG@10. Counts are means over
seeds.

"""


# --- the generated collection


def _load(home: Path, scale: Scale, family: str, part: str, seeds: list[int]) -> Study:
    known = [_read(home / f"baselines.seed{s}.json")[part] for s in seeds]
    keys = [("ndcg", 0.0), *((label, alpha) for label, _, alpha, _ in variants())]
    values, first = {}, {}
    for label, alpha in keys:
        middle = "ndcg" if label == "ndcg" else f"{label}.alpha{alpha:g}"
        found = [_read(home / f"{family}.{middle}.seed{s}.json") for s in seeds]
        values[label, alpha] = np.array([f[part] for f in found])
        first[label, alpha] = float(np.mean([f["ndcg_1"] for f in found]))
    return Study(
        values,
        np.array([k["champion"] for k in known])
        if part == "valid"
        else np.array(known[0]["champion"]),
        np.array([k["learned"] for k in known]),
        first,
    )


def _complete_seeds(home: Path, scale: Scale) -> list[int]:
    cells = [c for part in generated_cells(scale) for c in part]
    missing = {c.arguments["seed"] for c in cells if finished(home, c, scale) is None}
    return [s for s in range(scale.seeds) if s not in missing]


def _generated(home: Path, scale: Scale, quick: bool) -> Iterator[str]:
    seeds = _complete_seeds(home, scale)
    if not seeds:
        print("no complete seed of the generated study")
        return
    yield f"""## A generated collection in the manner of MSLR

{len(seeds)} training collections of {scale.train:,} queries, each with {scale.valid:,} validation
queries and {scale.held_out:,} held-out queries for the four learned baselines; all are tested on
the same {scale.test:,} unseen queries. About {scale.documents} documents a query, {scale.features}
features. The champion is the BM25-like feature. LightGBM, {scale.leaves} leaves, learning rate
{scale.learning_rate}; the plain control's validation queries say how many trees (up to
{scale.rounds}), and every objective of that seed and normalisation gets as many.
"""
    studies = {f: _load(home, scale, f, "test", seeds) for f in FAMILIES}
    usual: list[Choice] = []
    for family, study in studies.items():
        rounds = [_read(home / f"{family}.ndcg.seed{s}.json")["rounds"] for s in seeds]
        table = {k: study.against_control(k) for k in study.values if k != study.plain}
        many = {k: study.against_control(k, "learned") for k in study.values if k != study.plain}
        yield f"### {TITLES[family]}\n"
        yield f"Trees of the control: {', '.join(map(str, rounds))}.\n"
        valid = _load(home, scale, family, "valid", seeds)
        usual.append(_choice(valid, "the usual one", family, many["georisk", 1.0]))
        yield "\n".join(f"- {s}" for s in _claims(study, valid, table, many)) + "\n"
        yield "Against the BM25-like champion (the shape of Table 3 of Dincer et al. 2014):\n"
        yield _champion_table(study, table) + "\n"
        yield (
            "Against the four learned baselines, macro-averaged (the shape of Table 7 of Dincer et "
            "al. 2016):\n"
        )
        yield _learned_table(study, many) + "\n"
    yield "### What normalisation does by itself\n"
    yield _confound(home, studies, seeds) + "\n"
    yield from _other_settings(home, scale, usual)


def _other_settings(home: Path, scale: Scale, choices: list[Choice]) -> Iterator[str]:
    """The aims under other settings; the validation queries choose among them and the usual one."""
    rows = []
    for name, setting in SETTINGS.items():
        key = (setting.objective, setting.alpha)
        for family in FAMILIES:
            seeds = _setting_seeds(home, scale, name, family)
            if not seeds:
                continue
            test = _load_setting(home, name, family, "test", seeds)
            valid = _load_setting(home, name, family, "valid", seeds)
            single, many = test.against_control(key), test.against_control(key, "learned")
            label = f"{NAMES[key[0]]} {key[1]:g}"
            rows.append(
                [
                    label,
                    setting.title,
                    "on" if family != "off" else "off",
                    len(seeds),
                    f"{single['mean'].control:.4f}",
                    _absolute(single["mean"]),
                    _percent(many["win_loss"]),
                    _percent(many["risk_reward"]),
                    _percent(single["risk_reward"]),
                ]
            )
            if setting.objective == "georisk":
                choices.append(_choice(valid, setting.title, family, many))
    if not rows:
        return
    yield "### Other settings\n"
    yield (
        "Each against the plain ranker of the same seed and normalisation; where a setting changes "
        'the plain\nranker too, against one trained with that setting. "Own number of trees" lets '
        "the validation queries\nstop the risk-sensitive ranker as they stop its control.\n"
    )
    allowed = [c for c in choices if c[0]["mean"] >= 0]
    if allowed:
        seen, title, found = max(allowed, key=lambda c: c[0]["win_loss"])
        ratio, mean = found["win_loss"], found["mean"]
        reached = ratio.change >= WINS_AIM and mean.change >= 0
        yield (
            f"- **GeoRisk at alpha 1 with a setting that the validation queries choose: the aim is "
            f"{'reached' if reached else 'not reached'}.** They choose: {title} (wins/losses "
            f"{100 * seen['win_loss']:+.1f} % there); on the test queries it changes wins/losses "
            f"against the learned baselines by {_percent(ratio)} and NDCG@10 by "
            f"{_absolute(mean)}.\n"
        )
    elif choices:
        yield (
            "- No setting of GeoRisk at alpha 1 keeps NDCG@10 on the validation queries, so they "
            "choose none.\n"
        )
    header = ["objective", "setting", "normalisation", "seeds", "plain NDCG@10", "change"]
    header += ["wins/losses, learned", "risk/reward, learned", "risk/reward, BM25"]
    yield markdown_table(header, rows) + "\n"


def _choice(valid: Study, title: str, family: str, many: dict[str, Contrast]) -> Choice:
    key = ("georisk", 1.0)
    seen = _changes(valid.features(key, "learned"), valid.features(valid.plain, "learned"))
    return seen, f"{title}, {TITLES[family].lower()}", many


def _setting_files(name: str, family: str, seed: int) -> tuple[str, str]:
    """The control's and the variant's cell."""
    setting = SETTINGS[name]
    own = f".{name}" if setting.own_control else ""
    return (
        f"{family}.ndcg{own}.seed{seed}.json",
        f"{family}.{setting.objective}.{name}.seed{seed}.json",
    )


def _setting_seeds(home: Path, scale: Scale, name: str, family: str) -> list[int]:
    cells = {c.file: c for part in (*settings_cells(scale), *generated_cells(scale)) for c in part}
    return [
        seed
        for seed in range(scale.seeds)
        if all(
            finished(home, cells[file], scale) is not None
            for file in (*_setting_files(name, family, seed), f"baselines.seed{seed}.json")
        )
    ]


def _load_setting(home: Path, name: str, family: str, part: str, seeds: list[int]) -> Study:
    setting = SETTINGS[name]
    known = [_read(home / f"baselines.seed{s}.json")[part] for s in seeds]
    files = [_setting_files(name, family, s) for s in seeds]
    champion = np.array([k["champion"] for k in known])
    return Study(
        {
            ("ndcg", 0.0): np.array([_read(home / plain)[part] for plain, _ in files]),
            (setting.objective, setting.alpha): np.array(
                [_read(home / ours)[part] for _, ours in files]
            ),
        },
        champion if part == "valid" else champion[0],
        np.array([k["learned"] for k in known]),
        {},
    )


def _champion_table(study: Study, table: dict[tuple[str, float], dict[str, Contrast]]) -> str:
    n = study.values[study.plain].shape[1]
    base = study.against_control(study.plain)
    rows = []
    for key in [study.plain, *_ordered(table)]:
        found = table.get(key, base)
        means = study.features(key, "champion").mean(axis=1)
        plain = key == study.plain
        rows.append(
            [
                NAMES[key[0]],
                "" if plain else f"{key[1]:g}",
                f"{study.ndcg_1[key]:.3f}",
                f"{found['mean'].value:.4f}",
                "" if plain else _absolute(found["mean"]),
                f"{found['risk_reward'].value:.4f}",
                "" if plain else _percent(found["risk_reward"]),
                "" if plain else study.seeds_lower(key),
                f"{means[3] / means[4]:.3f}",
                f"{n * means[3]:.0f}",
                f"{n * means[4]:.0f}",
                f"{n * means[5]:.0f}",
                "" if plain else _percent(found["loss_over_20"]),
            ]
        )
    header = ["objective", "alpha", "NDCG@1", "NDCG@10", "change", "risk/reward", "change"]
    header += ["seeds lower", "loss/win", "losses", "wins", "loss > 20 %", "change"]
    return markdown_table(header, rows)


def _learned_table(study: Study, many: dict[tuple[str, float], dict[str, Contrast]]) -> str:
    n = study.values[study.plain].shape[1]
    base = study.against_control(study.plain, "learned")
    rows = []
    for key in [study.plain, *_ordered(many)]:
        found = many.get(key, base)
        means = study.features(key, "learned").mean(axis=1)
        plain = key == study.plain
        rows.append(
            [
                NAMES[key[0]],
                "" if plain else f"{key[1]:g}",
                f"{found['mean'].value:.4f}",
                f"{1 / found['risk_reward'].value:.3f}",
                "" if plain else _percent(found["risk_reward"]),
                f"{found['win_loss'].value:.3f}",
                "" if plain else _percent(found["win_loss"]),
                f"{n * means[4]:.0f}",
                f"{n * means[3]:.0f}",
                f"{n * means[5]:.0f}",
            ]
        )
    header = ["objective", "alpha", "NDCG@10", "reward/risk", "risk/reward change", "wins/losses"]
    header += ["change", "wins", "losses", "loss > 20 %"]
    return markdown_table(header, rows)


def _ordered(table: dict[tuple[str, float], Any]) -> list[tuple[str, float]]:
    return sorted(table, key=lambda k: (list(NAMES).index(k[0]), k[1]))


def _claims(
    study: Study,
    valid: Study,
    table: dict[tuple[str, float], dict[str, Contrast]],
    many: dict[tuple[str, float], dict[str, Contrast]],
) -> Iterator[str]:
    def line(label: str, statistic: str) -> str:
        show = _points if statistic == "mean" else _change
        return ", ".join(show(table[label, a][statistic]) for a in ALPHAS)

    def clear(label: str, statistic: str, sign: int, alphas: Any = ALPHAS) -> list[float]:
        """The alphas at which a change of that sign is clear."""
        return [
            a
            for a in alphas
            if study.clear((label, a), statistic, table[label, a][statistic]) == sign
        ]

    steep = study.compare(("u-cro", ALPHAS[-1]), ("u-cro", ALPHAS[0]), "champion")["mean"]
    fewer = clear("u-cro", "loss_over_20", -1)
    trades = "shows" if steep.high < 0 and fewer else "shows in part" if fewer else "does not show"
    yield (
        f"**U-CRO trades NDCG for fewer losses as alpha grows: {trades}.** At alpha "
        f"{_list(ALPHAS)} NDCG@10 changes by {line('u-cro', 'mean')}, losses over 20 % by "
        f"{line('u-cro', 'loss_over_20')}, risk/reward by {line('u-cro', 'risk_reward')}. From "
        f"alpha {ALPHAS[0]:g} to {ALPHAS[-1]:g} NDCG@10 changes by {_absolute(steep)}; losses over "
        f"20 % are clearly fewer at {_alphas(fewer)}."
    )
    apart = [study.compare(("saro", a), ("u-cro", a), "champion")["mean"] for a in ALPHAS]
    gentler = sum(c.change > 0 for c in apart)
    yield (
        f"**SARO loses less NDCG than U-CRO: at {gentler} of {len(ALPHAS)} values of alpha.** "
        f"SARO's NDCG@10 minus U-CRO's is {', '.join(_absolute(c) for c in apart)}; its "
        f"risk/reward changes by {line('saro', 'risk_reward')}."
    )
    worst = min((table["faro", a]["mean"] for a in ALPHAS), key=lambda c: c.low)
    keeps = worst.low >= -KEEPS * worst.control
    better = clear("faro", "risk_reward", -1)
    yield (
        f"**FARO keeps NDCG at every alpha: {'shows' if keeps else 'is not certain'}.** NDCG@10 "
        f"changes by {line('faro', 'mean')}; the lowest end of the intervals is {worst.low:+.4f} "
        f"({100 * worst.low / worst.control:+.1f} %). Risk/reward changes by "
        f"{line('faro', 'risk_reward')}, clearly lower at {_alphas(better)}."
    )
    geo, single = many["georisk", 1.0], table["georisk", 1.0]
    reached = geo["win_loss"].change >= WINS_AIM and geo["mean"].change >= 0
    sure = study.clear(("georisk", 1.0), "win_loss", geo["win_loss"], "learned") > 0
    yield (
        f"**GeoRisk at alpha 1: wins/losses at least {100 * WINS_AIM:g} % better against four "
        f"learned baselines at no lower NDCG: {'reached' if reached else 'not reached'}"
        f"{', and clearly better than the control' if sure else ''}.** Wins/losses change by "
        f"{_percent(geo['win_loss'])}, NDCG@10 by {_absolute(geo['mean'])}; at alpha "
        f"{_list(ALPHAS)} by "
        + ", ".join(_change(many["georisk", a]["win_loss"]) for a in ALPHAS)
        + " and "
        + ", ".join(_points(many["georisk", a]["mean"]) for a in ALPHAS)
        + f". Against BM25 its risk/reward changes by {_percent(single['risk_reward'])}."
    )
    mean_champion = many["t-star-faro", 1.0]
    ratio = study.compare(("georisk", 1.0), ("t-star-faro", 1.0), "learned")["win_loss"]
    yield (
        f"**GeoRisk's expectation does better than the baselines' mean (T*-FARO) at alpha 1: "
        f"{_verdict(ratio.low, ratio.high)}.** T*-FARO changes wins/losses by "
        f"{_percent(mean_champion['win_loss'])}; GeoRisk's are {_percent(ratio)} from T*-FARO's."
    )
    aim = f"Risk/reward {100 * RISK_AIM:g} % lower at an NDCG@10 loss of at most {NDCG_MARGIN:g}, "
    chosen = _chosen(valid)
    if chosen is None:
        yield (
            f"**{aim}the setting chosen on the validation queries: none is chosen.** The control "
            "has its best number of trees on these very queries, and no objective lowers "
            "risk/reward there within that loss."
        )
    else:
        found = table[chosen]
        yield (
            f"**{aim}the setting chosen on the validation queries: {_reached(found)}.** "
            f"They choose (lowest risk/reward within that loss) {NAMES[chosen[0]]} at alpha "
            f"{chosen[1]:g}; on the test queries it changes risk/reward by "
            f"{_percent(found['risk_reward'])} and NDCG@10 by {_absolute(found['mean'])}."
        )
    both = {k: f for k, f in table.items() if _reached(f) != "not reached"}
    best = min(both, key=lambda k: both[k]["risk_reward"].change, default=None)
    if best is None:
        yield f"**{aim}any setting on the test queries: not reached.**"
        return
    yield (
        f"**{aim}any setting on the test queries: {_reached(both[best])}** by "
        f"{', '.join(f'{NAMES[k[0]]} {k[1]:g}' for k in both)}, {len(both)} of {len(table)} "
        f"settings. {NAMES[best[0]]} at alpha {best[1]:g} changes risk/reward by "
        f"{_percent(both[best]['risk_reward'])} and NDCG@10 by "
        f"{_absolute(both[best]['mean'])}; picked "
        "on the queries that measure it, it looks a little better than it is."
    )


def _reached(found: dict[str, Any]) -> str:
    risk, mean = found["risk_reward"], found["mean"]
    if risk.high <= -RISK_AIM and mean.low >= -NDCG_MARGIN:
        return "reached, and the intervals lie wholly within"
    return "reached" if risk.change <= -RISK_AIM and mean.change >= -NDCG_MARGIN else "not reached"


def _chosen(valid: Study) -> tuple[str, float] | None:
    """The setting that a user would pick on the validation queries, pooled over seeds."""

    def pooled(key: tuple[str, float]) -> tuple[float, float]:
        means = risk_features(valid.values[key].ravel(), valid.champion.ravel()).mean(axis=1)
        return float(means[0]), float(means[1] / means[2])

    mean, risk = pooled(valid.plain)
    found = {k: pooled(k) for k in valid.values if k != valid.plain}
    allowed = {k: r for k, (m, r) in found.items() if m >= mean - NDCG_MARGIN and r < risk}
    return min(allowed, key=allowed.__getitem__) if allowed else None


def _confound(home: Path, studies: dict[str, Study], seeds: list[int]) -> str:
    off, on = studies["off"], studies["risk-free"]
    rows = []

    def row(name: str, values: Any, control: Any) -> None:
        found = contrast(
            risk_features(values, off.champion),
            risk_features(control, off.champion),
            resamples=20_000,
        )
        rows.append(
            [
                name,
                _absolute(found["mean"]),
                _percent(found["risk_reward"]),
                _percent(found["loss_over_20"]),
            ]
        )

    row("plain, normalised, against plain without", on.values[on.plain], off.values[off.plain])
    for label in ("u-cro", "faro"):
        inside = np.array(
            [_read(home / f"weighted.{label}.alpha5.seed{s}.json")["test"] for s in seeds]
        )
        row(f"{NAMES[label]} 5, risk inside the normalisation", inside, on.values[on.plain])
        row(f"{NAMES[label]} 5, risk outside it", on.values[label, 5.0], on.values[on.plain])
    text = markdown_table(["ranker", "NDCG@10", "risk/reward", "loss > 20 %"], rows)
    return (
        text
        + "\n\nThe first row is no risk-sensitive learning at all. The others are against plain "
        "normalised\nLambdaMART: a normalisation that sums lambdas after their risk weights "
        "(`--normalize weighted`)\ntakes back part of the weight of a query; the default sums them "
        "before (`risk-free`).\n"
    )


# --- OHSUMED, MQ2008, LightGBM's sample


def _letor(home: Path) -> Iterator[str]:
    titles = {
        "ohsumed": "OHSUMED (five folds)",
        "mq2008": "MQ2008 (the test file of fold 1, cross-validated within)",
        "lightgbm": "LightGBM's sample (its own test file)",
    }
    found = {n: {f: _letor_study(home, n, f) for f in FAMILIES} for n in LETOR}
    if not any(s for families in found.values() for s in families.values()):
        return
    yield """## Small public collections

The same protocol by `sf.cross_validate`: a quarter of each fold's training queries is set aside for
the four learned baselines, seeds differ in bagged rows and features. These collections are small;
most intervals are wide, and the sentences say so.
"""
    for name in LETOR:
        for family in FAMILIES:
            study = found[name][family]
            if study is None:
                continue
            table = {k: study.against_control(k) for k in study.values if k != study.plain}
            geo = study.against_control(("georisk", ALPHAS[0]), "learned")
            queries = study.values[study.plain].shape[1]
            if family == FAMILIES[0]:
                yield f"### {titles[name]}\n"
                yield (
                    f"{queries} test queries, {len(study.values[study.plain])} seeds; the champion "
                    f"is {_champion_name(home, name)} with NDCG@10 {study.champion.mean():.3f}.\n"
                )
            yield f"**{TITLES[family]}.** " + _letor_sentence(study, table, geo) + "\n"
            yield _champion_table(study, table) + "\n"


def _letor_study(home: Path, name: str, family: str) -> Study | None:
    paths = sorted(home.glob(f"letor.{name}.{family}.seed*.json"))
    if not paths:
        return None
    cells = [_read(p) for p in paths]
    keys = [(str(v[0]), float(v[1])) for v in cells[0]["variants"]]
    return Study(
        {k: np.array([c["test"][i] for c in cells]) for i, k in enumerate(keys)},
        np.array(cells[0]["champion"]),
        np.array([c["learned"] for c in cells]),
        {k: float(np.mean([c["ndcg_1"][i] for c in cells])) for i, k in enumerate(keys)},
    )


def _champion_name(home: Path, name: str) -> str:
    path = next(iter(sorted(home.glob(f"letor.{name}.*.json"))))
    feature = str(_read(path)["champion_name"])
    kinds = {"ohsumed": "BM25 of title and abstract", "mq2008": "BM25 of the whole document"}
    return f"`{feature}` ({kinds.get(name, 'the best on the training queries')})"


def _letor_sentence(
    study: Study,
    table: dict[tuple[str, float], dict[str, Contrast]],
    geo: dict[str, Contrast],
) -> str:
    def clear(name: str, sign: int) -> list[tuple[str, float]]:
        return [k for k, c in table.items() if study.clear(k, name, c[name]) == sign]

    worse, better = clear("mean", -1), clear("mean", 1)
    safer, riskier = clear("risk_reward", -1), clear("risk_reward", 1)
    most = max((k for k in table if k[0] == "u-cro"), key=lambda k: k[1])
    u_cro = table[most]
    shows = u_cro["mean"].high < 0 and u_cro["loss_over_20"].high < 0
    return (
        f"Of {len(table)} settings, NDCG@10 is clearly lower than the control's in "
        f"{_settings_list(worse)} and higher in {_settings_list(better)}; risk/reward is lower in "
        f"{_settings_list(safer)} and higher in {_settings_list(riskier)}. U-CRO's trade at alpha "
        f"{most[1]:g} {'shows' if shows else 'cannot be told from chance'}: NDCG@10 "
        f"{_absolute(u_cro['mean'])}, losses over 20 % {_percent(u_cro['loss_over_20'])}. GeoRisk "
        f"at alpha {ALPHAS[0]:g} changes wins/losses against the learned baselines by "
        f"{_percent(geo['win_loss'])} and NDCG@10 by {_absolute(geo['mean'])}."
    )


# --- the gap on OHSUMED


def _gap(home: Path, quick: bool) -> str:
    cells = {c.file: c for c in gap_cells_present(home)}
    if not cells:
        return ""
    best = np.array(_read(home / "gap.features.json")["test"])
    strongest = int(best.mean(axis=1).argmax())
    factors: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in cells.values():
        if cell.function == "gap_factors":
            a = cell.arguments
            key = (a["leaves"], a["family"], a["truncation"], a["splits"], a["step"])
            factors[key] = _read(home / cell.file)
    at = GAP_ROUNDS.index(100)

    def values(*key: Any) -> Any:
        return np.array(factors[key]["test"][at])

    rows = [
        [
            leaves,
            "all" if truncation > 500 else f"first {truncation}",
            "on" if family != "off" else "off",
            splits,
            f"{step:g}",
            *(f"{np.mean(t):.3f}" for t in found["test"]),
            f"{found['train'][at]:.3f}",
        ]
        for (leaves, family, truncation, splits, step), found in factors.items()
    ]
    header = ["leaves", "pairs", "normalisation", "splits", "step"]
    header += [f"{r} trees" for r in GAP_ROUNDS] + ["training, 100 trees"]
    ours, theirs = (31, "off", 1000, "newton", 0.1), (31, "off", 1000, "variance", 0.01)
    gap = _difference(values(*theirs), values(*ours))
    step = _difference(values(31, "off", 1000, "newton", 0.01), values(*ours))
    splits = _difference(values(31, "off", 1000, "variance", 0.1), values(*ours))
    remedies = []
    guards, small = [], []
    control: Any = None
    for i, name in enumerate(REMEDIES):
        path = home / f"gap.remedy{i:02d}.json"
        if not path.exists():
            continue
        found = _read(path)
        test = np.array(found["test"])
        if control is None:
            control = test
        change = "" if test is control else _interval(_difference(test, control))
        if name.startswith(GUARDS):
            guards.append(float(test.mean()))
        elif "7 leaves" in name or "rate" in name or "same" in name:
            small.append(float(test.mean()))
        trees = found["rounds"]
        shown = f"{min(trees)} to {max(trees)}" if min(trees) < max(trees) else f"{trees[0]}"
        remedies.append([name, shown, f"{found['train']:.3f}", f"{test.mean():.3f}", change])
    cause = (
        "The step alone explains the gap"
        if step[0] > 0.5 * gap[0] and step[0] > splits[0]
        else "The splits explain more of the gap than the step"
        if splits[0] > step[0]
        else "Neither factor alone explains most of the gap"
    )
    return f"""# Why LambdaMART did worse than jforests on OHSUMED

Written by `{COMMAND} --only gap`
and `{COMMAND} --report`.

OHSUMED has 63 or 64 training queries a fold. All-pairs LambdaMART without normalisation, at the
usual learning rate of .1, came out about .04 NDCG@10 below jforests at "the same" settings. Its
best single feature ({strongest + 1}) alone has {best[strongest].mean():.3f}.

jforests, by its source, takes the learning rate also as the slope of the pairwise logistic, and
then leaves the slope out of gradients and hessians. With learning rate r a Newton step of r in its
scores is a step of r times r in the logistic's own units: at r = .1 it moves as LightGBM or XGBoost
do at .01. It also chooses splits by the variance of the lambdas, all documents alike, where the
boosters weigh documents by their hessians. Both can be set apart by growing plain LambdaMART tree
by tree:

{markdown_table(header, rows)}

NDCG@10 on the {best.shape[1]} test queries of the five folds; "training" is on the queries learned
from.

{cause}: at 100 trees, 31 leaves and all pairs, jforests' two
choices together change NDCG@10 by {_interval(gap)}, the smaller step alone by
{_interval(step)}, the splits alone by {_interval(splits)} (paired, 95 %, BCa over
queries). After 100 trees of step .1 the training queries have NDCG@10
{factors[ours]["train"][at]:.3f} and the test queries {np.mean(factors[ours]["test"][at]):.3f}; with
jforests' step and splits {factors[theirs]["train"][at]:.3f} and
{np.mean(factors[theirs]["test"][at]):.3f}. What looks like a fault of the lambdas is overfitting:
the same number of trees at ten times the step.

## What helps, and what does not

Options of `surefoot train`, without normalisation; the change is against the first row.

{markdown_table(["setting", "trees", "training", "test", "change"], remedies)}

The best of the guards against tiny hessians (`min_sum_hessian_in_leaf`, `lambda_l2`, clipped leaf
values) brings NDCG@10 to {max(guards):.3f}, the best of small steps and small trees to
{max(small):.3f}; a single feature has {best[strongest].mean():.3f}. With fewer than a few hundred
training queries take a small learning rate and small trees, and let validation queries stop the
training:

    surefoot train TRAIN --valid VALID --learning-rate 0.02 --leaves 7 --min-documents 100 \\
        --early-stopping 50
"""


def gap_cells_present(home: Path) -> list[Any]:
    """The cells of the gap study that have been run."""
    return [c for c in gap_cells(Path(), quick=False) if (home / c.file).exists()]


def _difference(ours: Any, theirs: Any) -> tuple[float, float, float]:
    found = bootstrap_intervals(ours - theirs, methods=("bca",))
    return float(found.estimate[0]), float(found.low[0, 0]), float(found.high[0, 0])


# --- words


def _interval(found: tuple[float, float, float]) -> str:
    return f"{found[0]:+.3f} ({found[1]:+.3f} to {found[2]:+.3f})"


def _absolute(c: Contrast) -> str:
    return f"{c.change:+.4f} ({c.low:+.4f} to {c.high:+.4f})"


def _percent(c: Contrast) -> str:
    if not np.isfinite(c.change + c.low + c.high):
        return "undefined" if not np.isfinite(c.change) else f"{100 * c.change:+.1f} %"
    return f"{100 * c.change:+.1f} % ({100 * c.low:+.1f} to {100 * c.high:+.1f})"


def _points(c: Contrast) -> str:
    return f"{c.change:+.4f}"


def _change(c: Contrast) -> str:
    return f"{100 * c.change:+.1f} %"


def _verdict(low: float, high: float) -> str:
    return "shows" if low > 0 else "does not show, the opposite does" if high < 0 else "undecided"


def _list(numbers: Any) -> str:
    return ", ".join(f"{n:g}" for n in numbers)


def _alphas(found: list[float]) -> str:
    return f"alpha {_list(found)}" if found else "no alpha"


def _settings_list(keys: list[tuple[str, float]]) -> str:
    if not keys:
        return "none"
    return f"{len(keys)} (" + ", ".join(f"{NAMES[k[0]]} {k[1]:g}" for k in keys) + ")"
