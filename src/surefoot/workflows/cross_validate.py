"""Compare learning objectives over folds; finished pieces are kept, so that a kill costs little."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot import __version__
from surefoot.data.features import FeatureData
from surefoot.data.seed import check_seed
from surefoot.errors import InputError
from surefoot.inference.intervals import bootstrap_intervals
from surefoot.io.atomic import atomic_open
from surefoot.io.svmlight import Fold, find_folds
from surefoot.learn.baselines import train_baselines
from surefoot.learn.boosting import train_ranker
from surefoot.learn.champion import Champions, read_champions
from surefoot.learn.measures import LearningMeasure, score_queries
from surefoot.learn.monitor import RiskMonitor
from surefoot.learn.objectives import OBJECTIVES, Objective, one_scale
from surefoot.learn.profile import RiskProfile, risk_profile
from surefoot.results.cross_validation import CrossValidation, QueryScores

Doubles = npt.NDArray[np.float64]
# (finished pieces, all pieces)
Progress = Callable[[float, float], None]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One model: a fold (and what its data were), an objective with its alpha, a seed."""

    fold: str
    data: str
    objective: Objective
    seed: int

    @property
    def file(self) -> str:
        return (
            f"{self.fold}.{self.objective.name}.alpha{self.objective.alpha:g}.seed{self.seed}.json"
        )


def cross_validate(
    source: Any,
    *,
    work: str | os.PathLike[str],
    objectives: Sequence[str] = OBJECTIVES,
    alphas: Sequence[float] = (1.0, 5.0, 10.0, 20.0),
    base: Objective | None = None,
    baseline: Any = None,
    learned_baselines: bool = False,
    booster: str = "lightgbm",
    rounds: int = 300,
    learning_rate: float = 0.1,
    leaves: int = 31,
    min_documents: int = 20,
    early_stopping: int = 0,
    stop_on: str = "effectiveness",
    params: Mapping[str, Any] | None = None,
    seeds: int = 1,
    seed: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> CrossValidation:
    """Train every objective at every alpha on every fold and compare them on the test queries.

    Parameters
    ----------
    source : path or sequence of Fold
        A directory in MSLR's or LETOR's fold layout.
    work : path
        Where finished models' per-query scores are kept; a second call with the same settings and
        data trains only what is missing.
    objectives, alphas
        "ndcg" is trained once; the others once per alpha.
    base : Objective, optional
        Measure, truncation, normalisation and the like, common to all.
    baseline : champion source
        The single champion: feature:N, scores, runs or models.
    learned_baselines : bool
        Set a quarter of each fold's training queries aside, train four baselines on them
        (LambdaMART, regression trees, a line, AdaRank) and let GeoRisk learn against those, as
        Dincer et al. 2016 do. Every objective then trains on the other three quarters.
    seeds : int
        Models per fold and objective; scores are averaged and counts are means over seeds.
    """
    check_seed(seed)
    for name in objectives:
        if name not in OBJECTIVES:
            raise InputError(f"objective {name!r} is not one of {', '.join(OBJECTIVES)}")
    if baseline is None:
        raise InputError("cross-validate compares with a champion. Hint: --baseline feature:N")
    folds = list(source) if not isinstance(source, (str, os.PathLike)) else find_folds(source)
    base = base or Objective()
    variants = [replace(base, name="ndcg", alpha=0.0)]
    variants += [
        replace(base, name=name, alpha=float(alpha))
        for name in objectives
        if name != "ndcg"
        for alpha in alphas
    ]
    home = Path(work)
    home.mkdir(parents=True, exist_ok=True)
    training: dict[str, Any] = {
        "booster": booster,
        "rounds": rounds,
        "learning_rate": learning_rate,
        "leaves": leaves,
        "min_documents": min_documents,
        "early_stopping": early_stopping,
        "stop_on": stop_on,
        "params": dict(params or {}),
    }
    common = {
        **training,
        "version": __version__,
        "baseline": _named(baseline),
        "learned_baselines": learned_baselines,
    }
    pieces = {
        fold.name: [
            _Piece(fold.name, _stamp(fold), v, seed + s) for v in variants for s in range(seeds)
        ]
        for fold in folds
    }
    total = sum(len(p) for p in pieces.values())
    done, trained = 0, 0
    for fold in folds:
        missing = [p for p in pieces[fold.name] if _load(home / p.file, common, p) is None]
        done += len(pieces[fold.name]) - len(missing)
        if progress is not None:
            progress(done, total)
        for piece, document in _train(
            fold, missing, base, baseline, learned_baselines, training, threads
        ):
            with atomic_open(home / piece.file) as file:
                json.dump({"settings": _settings(common, piece), **document}, file)
            done += 1
            trained += 1
            if progress is not None:
                progress(done, total)
    found = {}
    for fold in folds:
        for piece in pieces[fold.name]:
            found[piece.fold, piece.objective.name, piece.objective.alpha, piece.seed] = _load(
                home / piece.file, common, piece
            )
    scores = _scores(found, folds, variants, range(seed, seed + seeds))
    entries = _entries(found, folds, variants, scores, seed, threads)
    return CrossValidation(
        entries=tuple(entries),
        scores=scores,
        settings={
            **common,
            **base.to_dict(),
            "alpha": list(alphas),
            "name": list(objectives),
            "seeds": seeds,
            "folds": len(folds),
            "data": [_stamp(fold) for fold in folds],
            "trained": trained,
            "reused": total - trained,
        },
        headline=(_headline(entries),),
    )


def _train(
    fold: Fold,
    missing: Sequence[_Piece],
    base: Objective,
    baseline: Any,
    learned_baselines: bool,
    training: dict[str, Any],
    threads: int,
) -> Iterator[tuple[_Piece, dict[str, Any]]]:
    """Models of one fold, one after another; the data are read once, and not at all for none."""
    if not missing:
        return
    train, valid, test = fold.train(), fold.valid(), fold.test()
    width = max(train.n_features, valid.n_features, test.n_features)
    train, valid, test = train.widened(width), valid.widened(width), test.widened(width)
    base = one_scale(base, train, valid, test)
    learned: list[Champions] = []
    if learned_baselines:
        chosen = np.random.default_rng(0).permutation(len(train.queries))
        cut = len(train.queries) // 4
        others = train_baselines(train.select(np.sort(chosen[:cut])), base, threads=threads)
        train = train.select(np.sort(chosen[cut:]))
        learned = [others.champions(part, base, threads=threads) for part in (train, valid, test)]
    single = [
        read_champions(baseline, part, base, threads=threads).single()
        for part in (train, valid, test)
    ]
    measure = base.learning_measure()
    top = LearningMeasure.parse("nDCG@1", label_gain=base.label_gain)
    settings = {k: v for k, v in training.items() if k != "stop_on"}
    for piece in missing:
        against = learned if learned and piece.objective.name == "georisk" else single
        objective = replace(piece.objective, max_label=base.max_label)
        monitor = None
        if training["early_stopping"]:
            monitor = RiskMonitor(valid, objective, against[1], training["stop_on"], threads)
        ranker = train_ranker(
            train,
            objective,
            champions=against[0],
            monitor=monitor,
            seed=piece.seed,
            threads=threads,
            **settings,
        )
        scores = ranker.predict(test.features, threads=threads)
        yield (
            piece,
            {
                "topics": list(test.queries),
                "values": _on(test, measure, scores, threads),
                "ndcg_1": _on(test, top, scores, threads),
                "champion": single[2].values[0].tolist(),
                "learned": learned[2].values.tolist() if learned else [],
                "rounds": ranker.rounds,
            },
        )


def _on(data: FeatureData, measure: LearningMeasure, scores: Doubles, threads: int) -> list[float]:
    built = measure.build(data.offsets, data.labels)
    values: list[float] = score_queries(built, data.offsets, scores, threads=threads).tolist()
    return values


def _settings(common: dict[str, Any], piece: _Piece) -> dict[str, Any]:
    return {
        **common,
        "data": piece.data,
        "objective": piece.objective.to_dict(),
        "seed": piece.seed,
    }


def _load(path: Path, common: dict[str, Any], piece: _Piece) -> dict[str, Any] | None:
    """A finished piece of the same settings and data, or None."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    wanted = json.loads(json.dumps(_settings(common, piece)))
    return document if document.get("settings") == wanted else None


def _named(baseline: Any) -> list[str]:
    """The champion's sources, with what changes when a file among them does."""
    several = isinstance(baseline, Sequence) and not isinstance(baseline, str)
    out = []
    for source in baseline if several else [baseline]:
        name = str(source)
        if isinstance(source, (str, os.PathLike)) and Path(source).is_file():
            found = Path(source).stat()
            name += f" {found.st_size} {found.st_mtime_ns}"
        out.append(name)
    return out


def _stamp(fold: Fold) -> str:
    """What changes when the fold's data do: names, sizes and times of its files."""
    if not fold.files:
        return "in memory"
    found = [(p.name, p.stat()) for p in fold.files]
    listing = "\n".join(f"{name} {s.st_size} {s.st_mtime_ns}" for name, s in found)
    return hashlib.sha256(listing.encode()).hexdigest()[:16]


def _scores(
    found: Mapping[tuple[str, str, float, int], Any],
    folds: Sequence[Fold],
    variants: Sequence[Objective],
    seeds: Sequence[int],
) -> QueryScores:
    """The test queries of all folds, side by side."""

    def across(variant: Objective, seed: int, field: str) -> Doubles:
        parts = [found[f.name, variant.name, variant.alpha, seed][field] for f in folds]
        return np.concatenate([np.asarray(p, dtype=np.float64) for p in parts], axis=-1)

    plain = variants[0]
    learned = [found[f.name, plain.name, plain.alpha, seeds[0]]["learned"] for f in folds]
    champion = across(plain, seeds[0], "champion")
    return QueryScores(
        topics=tuple(
            t for f in folds for t in found[f.name, plain.name, plain.alpha, seeds[0]]["topics"]
        ),
        values=np.array([[across(v, s, "values") for s in seeds] for v in variants]),
        champion=champion,
        baselines=(
            across(plain, seeds[0], "learned") if all(learned) else np.empty((0, champion.size))
        ),
    )


def _entries(
    found: Mapping[tuple[str, str, float, int], Any],
    folds: Sequence[Fold],
    variants: Sequence[Objective],
    scores: QueryScores,
    seed: int,
    threads: int,
) -> list[dict[str, Any]]:
    champion, learned = scores.champion, scores.baselines
    seeds = range(seed, seed + scores.values.shape[1])
    plain = scores.values[0].mean(axis=0)
    entries = []
    for variant, values in zip(variants, scores.values, strict=True):
        first = [
            v
            for f in folds
            for s in seeds
            for v in found[f.name, variant.name, variant.alpha, s]["ndcg_1"]
        ]
        against = [risk_profile(v, champion, alpha=variant.alpha) for v in values]
        entry: dict[str, Any] = {
            "objective": variant.name,
            "form": "alpha",
            "alpha": variant.alpha,
            "folds": len(folds),
            "queries": champion.size,
            "ndcg_1": float(np.mean(first)),
            "mean": float(values.mean()),
            "champion_mean": float(champion.mean()),
            "risk_reward": _mean(against, lambda p: p.risk_reward),
            "loss_win": _mean(against, lambda p: p.loss_win),
            "losses": _mean(against, lambda p: p.losses),
            "wins": _mean(against, lambda p: p.wins),
            "loss_over_20": _mean(against, lambda p: p.loss_over_20),
            "difference": float(values.mean() - plain.mean()),
            "low": float("nan"),
            "high": float("nan"),
        }
        if variant.name != "ndcg":
            difference = values.mean(axis=0) - plain
            if np.ptp(difference) > 0:
                interval = bootstrap_intervals(
                    difference, methods=("bca",), seed=seed, threads=threads
                )
                entry["low"] = float(interval.low[0, 0])
                entry["high"] = float(interval.high[0, 0])
            else:
                entry["low"] = entry["high"] = float(difference[0])
        many = [risk_profile(v, b, alpha=variant.alpha) for v in values for b in learned]
        entry["reward_risk_baselines"] = _mean(many, lambda p: p.f_reward / max(p.f_risk, 1e-12))
        entry["win_loss_baselines"] = _mean(many, lambda p: p.wins / max(p.losses, 1))
        entry["losses_baselines"] = _mean(many, lambda p: p.losses)
        entry["wins_baselines"] = _mean(many, lambda p: p.wins)
        entry["loss_over_20_baselines"] = _mean(many, lambda p: p.loss_over_20)
        entries.append(entry)
    return entries


def _mean(profiles: Sequence[RiskProfile], value: Callable[[RiskProfile], float]) -> float:
    return float(np.mean([value(p) for p in profiles])) if profiles else float("nan")


def _headline(entries: Sequence[dict[str, Any]]) -> str:
    plain, *others = entries
    if not others:
        return f"mean {plain['mean']:.4f} against {plain['champion_mean']:.4f} of the champion"
    # an effectiveness loss that the interval cannot tell from none
    safe = [e for e in others if e["high"] >= 0]
    if not safe:
        return "Every risk-sensitive objective tried lost effectiveness against the plain one"
    best = min(safe, key=lambda e: e["risk_reward"])
    if best["risk_reward"] >= plain["risk_reward"]:
        return "No objective lowered risk/reward below the plain one's without a loss on the mean"
    change = 100 * (1 - best["risk_reward"] / plain["risk_reward"])
    return (
        f"{best['objective']} at alpha {best['alpha']:g} lowers risk/reward by {change:.1f} % "
        f"({plain['risk_reward']:.4f} to {best['risk_reward']:.4f}); mean {best['mean']:.4f} "
        f"against {plain['mean']:.4f} plain, difference {best['low']:+.4f} to {best['high']:+.4f}"
    )
