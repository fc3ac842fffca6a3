import numpy as np
import pytest

from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.io.fit_file import read_fit, write_fit
from surefoot.workflows.fit import fit


@pytest.fixture(scope="module")
def posterior():
    rng = np.random.default_rng(3)
    values = np.clip(rng.beta(2, 2, (5, 8)), 0.01, 0.99)
    values[2, 3] = np.nan
    scores = ScoreMatrix(tuple("ABCDE"), tuple(f"t{j}é" for j in range(8)), values, measure="AP")
    return fit(scores, family="zoib", draws=500)


def test_a_fit_survives_the_file(posterior, tmp_path):
    write_fit(posterior, tmp_path / "fit.nc")
    back = read_fit(tmp_path / "fit.nc")
    assert back.to_dict()["rows"] == posterior.to_dict()["rows"]
    assert back.headline == posterior.headline
    assert back.systems == posterior.systems
    assert back.topics == posterior.topics
    for name, values in posterior.draws.items():
        np.testing.assert_array_equal(back.draws[name], values)
    np.testing.assert_array_equal(back.scores.values, posterior.scores.values)
    assert back.settings["waic"] == posterior.settings["waic"]
    assert back.khat == posterior.khat


def test_the_same_fit_is_the_same_bytes(posterior, tmp_path):
    again = fit(posterior.scores, family="zoib", draws=500, threads=1)
    write_fit(posterior, tmp_path / "one.nc")
    write_fit(again, tmp_path / "two.nc")
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()


def test_every_dimension_is_a_netcdf_scale(posterior, tmp_path):
    h5py = pytest.importorskip("h5py")
    write_fit(posterior, tmp_path / "fit.nc")
    with h5py.File(tmp_path / "fit.nc") as file:
        assert {"posterior", "sample_stats", "observed_data"} <= set(file)
        group = file["posterior"]
        assert [d[0].name for d in group["system"].dims] == [
            "/posterior/chain",
            "/posterior/draw",
            "/posterior/system_name",
        ]
        assert group["b"].shape == (1, 500)


def test_an_interrupted_write_leaves_nothing(posterior, tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.io.fit_file._write_observed", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_fit(posterior, tmp_path / "fit.nc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"system,topic,score\na,b,1\n"])
def test_another_file_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "x.nc").write_bytes(content)
    with pytest.raises(InputError, match="is not a fit file"):
        read_fit(tmp_path / "x.nc")
    with pytest.raises(InputError, match="no such file"):
        read_fit(tmp_path / "absent.nc")
