"""Threads lent by the booster change when, never what."""

import subprocess
import sys

import numpy as np
import pytest

from surefoot.kernels.lambdas import NO_TEAM, rank_documents
from surefoot.learn import Objective, RankingGradient
from surefoot.learn.team import booster_team


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_gradients_are_the_same_on_the_boosters_threads(
    booster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip(booster)
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 60, 200)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    labels, scores = rng.integers(0, 5, offsets[-1]), rng.normal(size=offsets[-1])

    def gradients(threads: int) -> list[bytes]:
        made = RankingGradient(
            Objective(name="georisk"),
            offsets,
            labels,
            champions=champions,
            booster=booster,
            threads=threads,
        )
        return [part.tobytes() for part in made.gradients(scores)]

    champions = np.random.default_rng(1).random((3, sizes.size))
    lent = [gradients(threads) for threads in (1, 2, 5)]
    monkeypatch.setattr("surefoot.learn.objectives.booster_team", lambda _: NO_TEAM)
    own = [gradients(threads) for threads in (1, 2, 5)]
    assert lent[0] == lent[1] == lent[2] == own[0] == own[1] == own[2]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other OpenMP runtimes")
def test_the_boosters_threads_are_found_and_work() -> None:
    pytest.importorskip("lightgbm")
    team = booster_team("lightgbm")
    assert team != NO_TEAM
    scores = np.random.default_rng(0).normal(size=10_000)
    offsets = np.arange(0, 10_001, 50)
    lent = rank_documents(offsets, scores, threads=3, team=team)
    assert lent.tolist() == rank_documents(offsets, scores, threads=1).tolist()


def test_no_booster_no_team() -> None:
    code = "from surefoot.learn.team import booster_team as t; print(t('lightgbm'), t('xgboost'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0 0\n"
