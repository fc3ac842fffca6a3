"""Weights of SARO and FARO as the errata state, and the traps of docs/method/learn.md."""

import numpy as np
import pytest
from scipy.stats import norm

from surefoot.errors import InputError, MeasureError
from surefoot.kernels.lambdas import RiskKind
from surefoot.learn.measures import LearningMeasure
from surefoot.learn.objectives import Objective, RankingGradient

OFFSETS = np.array([0, 3, 6, 9, 12])
LABELS = np.array([2, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 4], dtype=np.float32)


def fit(name: str, champion, **options) -> RankingGradient:
    objective = Objective(name=name, **options)
    return RankingGradient(objective, OFFSETS, LABELS, champions=champion)


@pytest.mark.parametrize("name", ["saro", "faro"])
def test_adapted_alpha_is_equation_25_with_the_standard_deviation_of_topics(name: str) -> None:
    gradient = fit(name, [0.5, 0.9, 0.2, 0.6], alpha=5.0)
    now = np.array([0.7, 0.4, 0.9, 0.55])
    assert gradient.risk(now).kind == RiskKind.NONE  # no model before the first round
    gradient.iteration = 1
    excess = now - gradient.champions[0]
    x = np.where(excess < 0, 6.0 * excess, excess)
    expected = 5.0 * (1.0 - norm.cdf(x / x.std(ddof=1)))  # Eqs 21 and 25; divisor c - 1
    part = gradient.risk(now)
    if name == "saro":
        assert part.kind == RiskKind.SWAP
        np.testing.assert_allclose(part.alpha, expected, rtol=1e-12)
    else:
        assert part.kind == RiskKind.SCALE
        np.testing.assert_allclose(part.alpha, 1.0 + expected, rtol=1e-12)  # Eq. 26
    losses = excess < 0
    assert ((expected[losses] > 2.5) & (expected[losses] < 5)).all()  # errata TRisk-9
    assert ((expected[~losses] > 0) & (expected[~losses] < 2.5)).all()


def test_standard_error_is_kept_after_the_first_round_or_renewed() -> None:
    now, later = np.array([0.7, 0.4, 0.9, 0.55]), np.array([0.9, 0.1, 0.2, 0.55])
    kept, renewed = (
        fit("faro", [0.5, 0.9, 0.2, 0.6], alpha=5.0, standard_error=mode)
        for mode in ("first", "each")
    )
    for gradient in (kept, renewed):
        gradient.iteration = 1
        gradient.risk(now)
    first = kept._deviation
    kept.risk(later)
    renewed.risk(later)
    assert kept._deviation == first
    assert renewed._deviation != first
    kept.reset()
    assert kept._deviation is None
    assert kept.iteration == 0


@pytest.mark.parametrize("name", ["u-cro", "saro", "faro", "georisk"])
def test_model_equal_to_champion_still_learns(name: str) -> None:
    """Trap 1: no spread must not become NaN weights."""
    gradient = fit(name, np.zeros(4), alpha=5.0)
    scores = np.linspace(1, 0, 12)
    gradient.champions = gradient.effectiveness(scores)[None, :]
    for _ in range(3):
        g, h = gradient(scores)
        assert np.isfinite(g).all()
        assert np.isfinite(h).all()
        assert np.abs(g).sum() > 0


def test_georisk_learns_where_nothing_is_effective_yet() -> None:
    labels = np.array([0, 1], dtype=np.float32)
    objective = Objective(name="georisk", measure="nDCG@1")
    gradient = RankingGradient(objective, np.array([0, 2]), labels, champions=[[0.0]])
    g, _ = gradient([1.0, 0.0])  # effectiveness 0 and champion 0: GeoRisk has no slope
    assert g[1] < 0 < g[0]


def test_georisk_gradients_do_not_shrink_with_the_number_of_topics() -> None:
    """Trap 4: differences are O(1/c), so they are scaled by c."""
    sizes = []
    for copies in (1, 50):
        labels = np.tile(LABELS, copies)
        offsets = np.arange(0, labels.size + 1, 3)
        champions = np.tile([0.5, 0.9, 0.2, 0.6], copies)
        gradient = RankingGradient(
            Objective(name="georisk", alpha=1.0), offsets, labels, champions=champions
        )
        sizes.append(np.abs(gradient(np.tile(np.arange(12.0), copies))[0]).mean())
    assert sizes[1] == pytest.approx(sizes[0], rel=0.2)


def test_normalisation_keeps_or_loses_the_weight_of_a_query() -> None:
    """Trap 3: summed before risk weights, a risky query's gradients stay larger."""
    champion = [0.99, 0.0, 0.0, 0.0]
    found = {}
    for mode in ("risk-free", "weighted"):
        plain, risky = (
            RankingGradient(
                Objective(name=n, alpha=9.0, normalize=mode), OFFSETS, LABELS, champions=champion
            ).gradients(np.arange(12.0), double=True)[0][:3]
            for n in ("ndcg", "u-cro")
        )
        found[mode] = np.abs(risky).sum() / np.abs(plain).sum()
    assert found["risk-free"] > found["weighted"] > 1


def test_u_cro_takes_the_mean_of_several_champions() -> None:
    one = fit("u-cro", [[0.2, 0.4, 0.6, 0.8]], alpha=2.0)
    two = fit("u-cro", [[0.1, 0.3, 0.5, 0.7], [0.3, 0.5, 0.7, 0.9]], alpha=2.0)
    scores = np.arange(12.0)
    np.testing.assert_allclose(one(scores)[0], two(scores)[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Objective(name="risk"), "objective 'risk' is not one of ndcg"),
        (lambda: Objective(alpha=-1.0), "alpha must be a finite number not below 0"),
        (lambda: Objective(alpha=float("nan")), "alpha must be a finite"),
        (lambda: Objective(truncation_level=0), "truncation_level must be at least 1"),
        (lambda: Objective(measure="P@5"), "cannot learn for 'P@5'. Hint: nDCG@k"),
        (lambda: Objective(measure="INST(T=0.2)"), "T of INST must be at least 0.5"),
        (lambda: Objective(measure="RBP(p=1)"), "p of RBP must lie between 0 and 1"),
        (lambda: Objective(label_gain=(1.0, 0.0)), "label gains must not fall"),
        (lambda: fit("u-cro", None), "needs a champion's score"),
        (lambda: fit("u-cro", [0.1]), "1 scores for 4 queries"),
        (lambda: fit("u-cro", [0.1, 0.2, np.nan, 0.3]), "missing or not finite"),
        (lambda: fit("georisk", [0.1, 0.2, -0.1, 0.3]), "not negative"),
        (
            lambda: RankingGradient(Objective(), np.array([0, 2]), [0.5, 1.0]),
            "label 0.5 of document 1 is not a whole number",
        ),
        (
            lambda: RankingGradient(Objective(label_gain=(0.0, 1.0)), np.array([0, 1]), [2.0]),
            "label 2 has no gain",
        ),
    ],
)
def test_bad_settings_say_what_is_wrong(call, message: str) -> None:
    with pytest.raises((InputError, MeasureError)) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "name", ["nDCG@10", "nDCG", "AP", "AP@5", "ERR@20", "RBP(p=0.5)", "INST(T=3)"]
)
def test_measure_names_read_back(name: str) -> None:
    assert str(LearningMeasure.parse(name)) == name


def test_objective_survives_its_dictionary() -> None:
    objective = Objective(name="saro", alpha=3.0, label_gain=(0.0, 1.0, 3.0), normalize="off")
    assert Objective.from_dict(objective.to_dict()) == objective
