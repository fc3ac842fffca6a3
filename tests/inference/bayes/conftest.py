import csv

import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.io.scores import read_scores


@pytest.fixture(scope="session")
def covid_pooled(shared_data) -> ScoreMatrix:
    """The 42 pooled systems of TREC-COVID round 1: 1,260 rows."""
    folder = shared_data / "trec_covid" / "round1"
    with (folder / "round1_pooled.csv").open() as file:
        pooled = {row["system"] for row in csv.DictReader(file) if row["pooled"] == "1"}
    scores = read_scores(folder / "round1_data.csv")
    return scores.select(systems=[s for s in scores.systems if s in pooled])


@pytest.fixture(scope="session")
def reference_posterior(shared_data):
    """File name -> {our parameter name: (mean, sd, q2.5, q50, q97.5)}."""

    def load(name: str) -> dict[str, tuple[float, ...]]:
        out = {}
        with (shared_data / "reference_posteriors" / name).open() as file:
            for row in csv.DictReader(file):
                key = row["variable"].removesuffix(",Intercept]")
                for kind in ("system", "topic"):
                    if key.startswith(f"r_{kind}["):
                        key = f"{kind}[{key.removeprefix(f'r_{kind}[')}]"
                key = {
                    "b_Intercept": "b",
                    "sd_system__Intercept": "sd_system",
                    "sd_topic__Intercept": "sd_topic",
                }.get(key, key)
                columns = ("mean", "sd", "q2.5", "q50", "q97.5")
                out[key] = tuple(float(row[c]) for c in columns)
        return out

    return load
