"""Train a ranker against a champion, and say what it risks."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.data.features import FeatureData
from surefoot.data.seed import check_seed
from surefoot.errors import InputError
from surefoot.io.svmlight import read_features
from surefoot.learn.boosting import train_ranker
from surefoot.learn.champion import Champions, read_champions
from surefoot.learn.measures import score_queries
from surefoot.learn.model import Ranker
from surefoot.learn.monitor import RiskMonitor
from surefoot.learn.objectives import Objective, one_scale
from surefoot.learn.profile import geo_risk, risk_profile
from surefoot.results.training import TrainingCard


def train(
    data: Any,
    *,
    objective: Objective,
    valid: Any = None,
    baseline: Any = None,
    valid_baseline: Any = None,
    booster: str = "lightgbm",
    rounds: int = 300,
    learning_rate: float = 0.1,
    leaves: int = 31,
    min_documents: int = 20,
    early_stopping: int = 0,
    stop_on: str = "effectiveness",
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    threads: int = 0,
) -> tuple[Ranker, TrainingCard]:
    """Train a ranker; returns it with its risk profile on the training and validation queries.

    Parameters
    ----------
    data, valid : path or FeatureData
        Training and held-out queries.
    objective : Objective
        What to learn for.
    baseline : champion source or sequence of them
        What must not be broken; see `read_champions`.
    valid_baseline : champion source, optional
        The champion on the held-out queries; by default `baseline` itself, where it covers them.
    """
    check_seed(seed)
    training = data if isinstance(data, FeatureData) else read_features(data)
    held_out = valid if valid is None or isinstance(valid, FeatureData) else read_features(valid)
    objective = one_scale(objective, training, held_out)
    champions = None
    if baseline is not None:
        champions = read_champions(baseline, training, objective, threads=threads)
    elif objective.needs_champion:
        raise InputError(
            f"the objective {objective.name!r} needs a champion. Hint: --baseline FILE (per-query "
            "scores, a run or a model) or --baseline feature:N"
        )
    held_out_champions = None
    monitor = None
    if held_out is not None:
        held_out = held_out.widened(max(held_out.n_features, training.n_features))
        if held_out.n_features > training.n_features:
            training = training.widened(held_out.n_features)
        if champions is not None:
            source = baseline if valid_baseline is None else valid_baseline
            held_out_champions = read_champions(source, held_out, objective, threads=threads)
        monitor = RiskMonitor(held_out, objective, held_out_champions, stop_on, threads)
    ranker = train_ranker(
        training,
        objective,
        champions=champions,
        monitor=monitor,
        booster=booster,
        rounds=rounds,
        learning_rate=learning_rate,
        leaves=leaves,
        min_documents=min_documents,
        early_stopping=early_stopping,
        params=params,
        seed=seed,
        threads=threads,
    )
    entries = card_entries("train", ranker, training, objective, champions, threads=threads)
    if held_out is not None:
        entries += card_entries(
            "valid", ranker, held_out, objective, held_out_champions, threads=threads
        )
    settings = {
        **objective.to_dict(),
        "booster": booster,
        "rounds": ranker.rounds,
        "learning_rate": learning_rate,
        "leaves": leaves,
        "min_documents": min_documents,
        "seed": seed,
        "baselines": [] if champions is None else list(champions.names),
    }
    card = TrainingCard(
        entries=tuple(entries),
        history=() if monitor is None else tuple(monitor.history),
        settings=settings,
        headline=(_headline(entries[-1], ranker),),
    )
    ranker.card = {**card.to_dict(), "history": list(card.history)}
    return ranker, card


def card_entries(
    split: str,
    ranker: Ranker,
    data: FeatureData,
    objective: Objective,
    champions: Champions | None,
    *,
    threads: int = 0,
) -> list[dict[str, Any]]:
    """The risk profile of a ranker on one collection, a row per baseline."""
    measure = objective.learning_measure()
    values = score_queries(
        measure.build(data.offsets, data.labels),
        data.offsets,
        ranker.predict(data.features, threads=threads),
        threads=threads,
    )
    common = {
        "split": split,
        "measure": str(measure),
        "form": "alpha",
        "alpha": objective.alpha,
        "queries": values.size,
    }
    nothing = float("nan")
    if champions is None:
        blank = dict.fromkeys(
            ("baseline_mean", "f_risk", "f_reward", "risk_reward", "loss_win"), nothing
        )
        counts = dict.fromkeys(("wins", "losses", "ties", "loss_over_20"))
        risks = dict.fromkeys(("u_risk", "t_risk", "geo_risk"), nothing)
        return [
            {**common, "baseline": "none", "mean": float(values.mean()), **blank, **counts, **risks}
        ]
    together = geo_risk(values, np.maximum(champions.values, 0.0), alpha=objective.alpha)
    entries = []
    for name, champion in zip(champions.names, champions.values, strict=True):
        found = risk_profile(values, champion, alpha=objective.alpha)
        entries.append(
            {
                **common,
                "baseline": name,
                "mean": found.mean,
                "baseline_mean": found.champion_mean,
                "f_risk": found.f_risk,
                "f_reward": found.f_reward,
                "risk_reward": found.risk_reward,
                "wins": found.wins,
                "losses": found.losses,
                "ties": found.ties,
                "loss_win": found.loss_win,
                "loss_over_20": found.loss_over_20,
                "u_risk": found.u_risk,
                "t_risk": found.t_risk,
                "geo_risk": together,
            }
        )
    return entries


def _headline(entry: dict[str, Any], ranker: Ranker) -> str:
    where = "held-out" if entry["split"] == "valid" else "training"
    if entry["baseline"] == "none":
        return (
            f"{entry['measure']} {entry['mean']:.4f} on {entry['queries']} {where} queries "
            f"({ranker.rounds} trees)"
        )
    return (
        f"{entry['losses']} of {entry['queries']} {where} queries regress against "
        f"{entry['baseline']}, {entry['loss_over_20']} by more than 20 %; mean {entry['measure']} "
        f"{entry['mean']:.4f} against {entry['baseline_mean']:.4f} ({ranker.rounds} trees)"
    )
