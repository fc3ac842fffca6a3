import numpy as np
import pytest

from surefoot.inference.bayes.neighbours import LOSS, MOST, WIDTH, alone, neighbourhoods
from surefoot.inference.bayes.sample import importance_ess, systematic_resample


def test_each_value_has_one_place_and_parts_are_small():
    rng = np.random.default_rng(1)
    log_sd = rng.normal(-1, 0.2, (5000, 2))
    found = neighbourhoods(rng.normal(size=(5000, 1)), log_sd, rng.normal(8, 0.05, 5000), (42, 30))
    np.testing.assert_array_equal(np.sort(found.order), np.arange(5000))
    sizes = np.diff(found.edges)
    assert found.edges[0] == 0
    assert found.edges[-1] == 5000
    assert sizes.min() >= 1
    assert sizes.max() <= MOST
    # that is the point: many draws, few approximations
    assert len(sizes) < 1000


@pytest.mark.parametrize("counts", [(3, 5), (42, 30), (110, 249)])
@pytest.mark.parametrize("centre", [-6.0, -1.0, 2.0])
def test_sharing_costs_no_more_than_it_may(counts, centre):
    """Half the summed squares of relative differences of precisions within a neighbourhood."""
    rng = np.random.default_rng(2)
    log_sd, log_information = rng.normal(centre, 0.5, (4000, 2)), rng.normal(8, 0.3, 4000)
    found = neighbourhoods(np.zeros((4000, 1)), log_sd, log_information, counts)
    cost = np.zeros(4000)
    for column, count in enumerate(counts):
        precision = np.exp(-2 * log_sd[:, column]) + np.exp(log_information) / count
        for value, weight in ((np.log(precision), count), (2 * log_sd[:, column], 1)):
            spread = (
                value
                - np.repeat(found.means(value[:, None])[:, 0], np.diff(found.edges))[
                    np.argsort(found.order)
                ]
            )
            cost += 0.5 * weight * spread**2
    assert cost.mean() < LOSS * 1.1


def test_a_second_shape_parameter_keeps_values_apart():
    rng = np.random.default_rng(4)
    shapes, log_sd = rng.normal(size=(4000, 2)), np.full((4000, 2), -1.0)
    found = neighbourhoods(shapes, log_sd, np.full(4000, 8.0), (42, 30))
    for begin, end in zip(found.edges[:-1], found.edges[1:], strict=True):
        assert np.ptp(shapes[found.order[begin:end], 1]) <= WIDTH


def test_alone_everyone_is_a_neighbourhood():
    found = alone(3)
    np.testing.assert_array_equal(found.edges, [0, 1, 2, 3])
    theta = np.array([[1.0], [5.0], [2.0]])
    np.testing.assert_array_equal(found.means(theta), theta)


@pytest.mark.parametrize("group", [1, 4])
def test_effective_size_is_what_repetition_shows(group):
    """Variance of the values over the variance of their mean, weighted and resampled."""
    rng = np.random.default_rng(3)
    n, draws, repeats = 800, 700, 4000
    weighted, resampled, sizes = [], [], []
    for _ in range(repeats):
        value = np.repeat(rng.normal(size=n // group), group) + 0.2 * rng.normal(size=n)
        weight = rng.gamma(4.0, size=n)
        weight /= weight.sum()
        index = systematic_resample(weight, draws, rng)
        weighted.append(weight @ value)
        resampled.append(value[index].mean())
        sizes.append(
            [importance_ess(weight, value, group=group, resampled=r)[0] for r in (0, draws)]
        )
    told = np.mean(sizes, axis=0)
    assert told[0] == pytest.approx(1.04 / np.var(weighted), rel=0.08)
    assert told[1] == pytest.approx(1.04 / np.var(resampled), rel=0.08)
