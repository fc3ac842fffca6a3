from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.inference.bayes.criteria import criteria
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


def resaved(path, to, change=lambda file: None):
    """What netCDF4 and h5netcdf make of a fit that is read and saved again, in ArviZ too."""
    h5py = pytest.importorskip("h5py")
    to.write_bytes(path.read_bytes())
    with h5py.File(to, "r+") as file:
        for group in (file, *file.values()):
            for name, value in list(group.attrs.items()):
                group.attrs[name] = np.bytes_(value) if isinstance(value, str) else [value]
        file.attrs["_NCProperties"] = "version=2,h5netcdf=1.8.2"
        change(file)
    kept = to.read_bytes()
    to.write_bytes(kept[: kept.rfind(b"\nsurefoot blake2b ")] if b"\nsurefoot bl" in kept else kept)
    return to


def test_a_fit_saved_again_by_another_library_is_read(posterior, tmp_path):
    write_fit(posterior, tmp_path / "fit.nc")
    back = read_fit(resaved(tmp_path / "fit.nc", tmp_path / "again.nc"))
    assert back.to_dict()["rows"] == posterior.to_dict()["rows"]
    assert (back.family, back.method, back.khat) == ("zoib", posterior.method, posterior.khat)
    assert back.scores.measure == "AP"
    assert back.headline == posterior.headline


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_a_fit_saved_again_by_arviz_is_read(posterior, tmp_path, engine):
    arviz = pytest.importorskip("arviz")
    pytest.importorskip({"netcdf4": "netCDF4"}.get(engine, engine))
    write_fit(posterior, tmp_path / "fit.nc")
    data = arviz.from_netcdf(tmp_path / "fit.nc", engine=engine)
    data.to_netcdf(tmp_path / "again.nc", engine=engine)
    back = read_fit(tmp_path / "again.nc")
    assert back.to_dict()["rows"] == posterior.to_dict()["rows"]


@pytest.mark.parametrize("part", ["draws", "name", "setting", "score", "digest", "metadata"])
def test_a_fit_of_which_bytes_changed_is_refused(posterior, tmp_path, part):
    path = tmp_path / "fit.nc"
    write_fit(posterior, path)
    content = path.read_bytes()
    sought = {
        "draws": np.ascontiguousarray(posterior.draws["phi"][5:9]).tobytes(),
        "name": "t3é".encode(),
        "setting": b'"seed": 0',
        "score": posterior.scores.values[1].tobytes(),
        "digest": content[-10:-5],
        "metadata": b"sd_topic",
    }[part]
    at = content.find(sought)
    assert at > 0
    path.write_bytes(content[:at] + bytes(b ^ 1 for b in sought) + content[at + len(sought) :])
    with pytest.raises(InputError, match=r"is damaged: what it holds is not what was saved\. Hint"):
        read_fit(path)


@pytest.mark.parametrize("left", [1, 100, 5000, -60, -1])
def test_a_fit_that_was_cut_short_is_incomplete(posterior, tmp_path, left):
    path = tmp_path / "fit.nc"
    write_fit(posterior, path)
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(InputError, match=r"fit.nc is incomplete: .*Hint: copy it again, or fit"):
        read_fit(path)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("phi", np.nan, "draw 0 of phi is nan, and must be above 0"),
        ("phi", -1.0, "draw 0 of phi is -1, and must be above 0"),
        ("zoi", 3.0, "draw 0 of zoi is 3, and must be between 0 and 1"),
        ("sd_topic", -0.1, "draw 0 of sd_topic is -0.1, and must not be negative"),
        ("topic", np.inf, "draw 0 of topic is inf, and must be finite"),
    ],
)
def test_draws_that_no_model_has_are_neither_read_nor_saved(
    posterior, tmp_path, name, value, message
):
    def change(file):
        file["posterior"][name][...] = value

    write_fit(posterior, tmp_path / "fit.nc")
    with pytest.raises(InputError, match=f"is damaged: {message}. Hint: fit again"):
        read_fit(resaved(tmp_path / "fit.nc", tmp_path / "again.nc", change))
    draws = posterior.draws | {name: np.full_like(posterior.draws[name], value)}
    with pytest.raises(InputError, match=f"cannot save the fit as .*: {message}"):
        write_fit(replace(posterior, draws=draws), tmp_path / "new.nc")
    assert not (tmp_path / "new.nc").exists()


@pytest.mark.parametrize("name", ["fit.csv", "fit.json", "f.parquet", "f.TSV", "f.tex", "f.csv.gz"])
def test_a_fit_is_not_called_what_a_table_is_called(posterior, tmp_path, name):
    with pytest.raises(InputError, match=r"a fit is a netCDF file. Hint: .*f(it)?\.nc"):
        sf.save_fit(posterior, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def by_rank(tmp_path_factory):
    rng = np.random.default_rng(1)
    rows = [f"{s},{t},{r},{rng.beta(2, 3):.3f}" for s in "ABC" for t in range(6) for r in (3, 1, 2)]
    path = tmp_path_factory.mktemp("gains") / "gains.csv"
    path.write_text("\n".join(["system,topic,rank,score", *rows]) + "\n")
    return fit(path, family="zoib_rank", draws=600)


def test_the_log_likelihood_is_that_of_the_criteria(posterior, by_rank, tmp_path):
    h5py = pytest.importorskip("h5py")
    for made, shape in ((posterior, (1, 500, 39)), (by_rank, (1, 600, 54))):
        sf.save_fit(made, tmp_path / "fit.nc", log_likelihood=True)
        with h5py.File(tmp_path / "fit.nc") as file:
            group = file["log_likelihood"]
            values = group["score"][:]
            names = {n: group[n][:] for n in group["score"].attrs["coordinates"].split()}
            assert [d[0].name.split("/")[-1] for d in group["score"].dims] == [
                "chain",
                "draw",
                "observation",
            ]
        assert values.shape == shape
        waic, loo = criteria([values[0]], n_draws=shape[1])
        assert waic.value == pytest.approx(made.settings["waic"], rel=1e-12)
        assert loo.value == pytest.approx(made.settings["loo"], rel=1e-12)
        assert all(len(column) == shape[2] for column in names.values())
    assert list(names["observation_rank"][:4]) == [1, 2, 3, 1]
    assert [t.decode() for t in names["observation_topic"][:4]] == ["0", "0", "0", "1"]
    assert sf.read_fit(tmp_path / "fit.nc").to_dict()["rows"] == by_rank.to_dict()["rows"]


def test_the_log_likelihood_is_thinned_as_for_the_criteria(posterior, tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    for home in ("inference.bayes.likelihood", "workflows.save_fit"):
        monkeypatch.setattr(f"surefoot.{home}.MOST_DRAWS", 200)
    monkeypatch.setattr("surefoot.workflows.save_fit._AT_ONCE", 39 * 30)
    again = fit(posterior.scores, family="zoib", draws=500)
    sf.save_fit(again, tmp_path / "one.nc", log_likelihood=True, threads=1)
    sf.save_fit(again, tmp_path / "two.nc", log_likelihood=True, threads=2)
    assert (tmp_path / "one.nc").read_bytes() == (tmp_path / "two.nc").read_bytes()
    with h5py.File(tmp_path / "one.nc") as file:
        group = file["log_likelihood"]
        assert group["draw"][[0, 1, -1]].tolist() == [0, 3, 499]
        waic, _ = criteria([group["score"][0]], n_draws=200)
    assert waic.value == pytest.approx(again.settings["waic"], rel=1e-12)


def test_arviz_computes_loo_from_the_file(posterior, tmp_path):
    arviz = pytest.importorskip("arviz")
    sf.save_fit(posterior, tmp_path / "fit.nc", log_likelihood=True)
    found = arviz.loo(arviz.from_netcdf(tmp_path / "fit.nc"))
    assert -2 * found.elpd_loo == pytest.approx(posterior.settings["loo"], rel=1e-6)
