import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import InputError
from surefoot.io.groups import read_groups


def matrix(n_systems=8, n_topics=50, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.beta(1, 2, size=(n_systems, n_topics))
    return sf.ScoreMatrix(
        tuple(f"s{i}" for i in range(n_systems)), tuple(f"q{j}" for j in range(n_topics)), values
    )


def test_random_pairs_come_from_different_groups():
    groups = {f"s{i}": "one" if i < 5 else "two" for i in range(8)}
    result = sf.normality(matrix(), groups=groups, pairs=30, drop_lowest=0.0)
    assert len(result) == 30 * 4
    assert all(groups[a] != groups[b] for a, b in zip(result.system, result.other, strict=True))


def test_the_lowest_quarter_is_left_out():
    m = matrix()
    worst = {m.systems[i] for i in np.argsort(m.means())[:2]}
    result = sf.normality(m, pairs=60)
    assert not worst & (set(result.system) | set(result.other))


def test_skewness_grows_more_negative_with_r():
    result = sf.normality(matrix(), champion="s0", r=[1, 5])
    skew = result.skewness.reshape(-1, 2)
    assert (skew[:, 1] < skew[:, 0]).all()


def test_the_recommendation_comes_first():
    mild = sf.normality(matrix(n_topics=400), champion="s0", r=1)
    assert "Student" in mild.headline[0]
    skewed = sf.normality(matrix(n_topics=60), champion="s0", r=5)
    assert "studentized" in skewed.recommendation
    assert skewed.headline[0] == skewed.recommendation


def test_groups_are_read_from_a_table(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("system,group\n" + "".join(f"s{i},g{i % 2}\n" for i in range(8)))
    assert len(sf.normality(matrix(), groups=path, pairs=3, r=2)) == 3


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"r": 0.5}, "not less than 1"),
        ({"pairs": 0}, "at least 1"),
        ({"drop_lowest": 1.0}, "share"),
        ({"groups": {"s0": "a"}}, "no group"),
        ({"groups": {f"s{i}": "a" for i in range(8)}}, "two groups"),
        ({"champion": "nobody"}, "nobody"),
    ],
)
def test_bad_options_are_one_line(kwargs, message):
    with pytest.raises(sf.SurefootError, match=message):
        sf.normality(matrix(), **kwargs)


@pytest.mark.parametrize("text", ["", "a,b\nc,d\n", "system,group\ns0\n"])
def test_broken_groups_tables_say_where(tmp_path, text):
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(sf.SurefootError, match=r"groups\.csv:\d"):
        sf.normality(matrix(), groups=path)


def test_groups_that_are_no_text_are_refused(tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_bytes(b"system,group\n\xff,b\n")
    with pytest.raises(InputError, match=r"groups.csv:2: is not UTF-8 text"):
        read_groups(groups)
