"""Fits on disk: netCDF4 in ArviZ's layout, written through h5py.

Groups ``posterior`` (draws), ``sample_stats`` (summary and diagnostics of each parameter),
``observed_data`` (scores). ``arviz.from_netcdf`` and ``xarray.open_dataset(group=...)`` read them.
The file holds nothing of the machine or the clock, so the same fit gives the same bytes.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot import __version__
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.extras import require
from surefoot.io.atomic import atomic_path
from surefoot.results.posterior import SCALARS, SUMMARY, Posterior, RankGains

_FORMAT = 1
_NUMERIC = tuple(name for name in SUMMARY if name not in ("parameter", "method"))


def write_fit(posterior: Posterior, path: str | os.PathLike[str]) -> None:
    """Write a fit; the file appears whole or not at all."""
    h5py = require("h5py", purpose="writing a fit file")
    with atomic_path(path) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        file.attrs["surefoot_version"] = __version__
        file.attrs["surefoot_format"] = _FORMAT
        file.attrs["family"] = posterior.family
        file.attrs["method"] = posterior.method
        file.attrs["warnings"] = json.dumps(posterior.warnings)
        file.attrs["headline"] = json.dumps(posterior.headline)
        settings = {k: v for k, v in posterior.to_dict()["settings"].items() if k != "seconds"}
        file.attrs["settings"] = json.dumps(settings, sort_keys=True)
        file.attrs["inputs"] = json.dumps(dict(posterior.inputs), sort_keys=True)
        for name in ("khat", "efficiency", "effective_draws"):
            file.attrs[name] = getattr(posterior, name)
        _write_posterior(h5py, file, posterior)
        _write_stats(h5py, file, posterior)
        _write_observed(h5py, file, posterior)


def _group(file: Any, name: str) -> Any:
    group = file.create_group(name, track_order=True)
    group.attrs["inference_library"] = "surefoot"
    group.attrs["inference_library_version"] = __version__
    return group


def _write_posterior(h5py: Any, file: Any, posterior: Posterior) -> None:
    group = _group(file, "posterior")
    _dimension(h5py, group, "chain", np.arange(1))
    _dimension(h5py, group, "draw", np.arange(posterior.n_draws))
    _dimension(h5py, group, "system_name", posterior.systems)
    _dimension(h5py, group, "topic_name", posterior.topics)
    for name in SCALARS:
        if name in posterior.draws:
            _variable(group, name, posterior.draws[name][None], ("chain", "draw"))
    for name in ("system", "topic"):
        _variable(group, name, posterior.draws[name][None], ("chain", "draw", f"{name}_name"))


def _write_stats(h5py: Any, file: Any, posterior: Posterior) -> None:
    group = _group(file, "sample_stats")
    _dimension(h5py, group, "parameter", list(posterior.summary["parameter"]))
    for name in _NUMERIC:
        values = np.asarray(posterior.summary[name], dtype=np.float64)
        _variable(group, name, values, ("parameter",))


def _write_observed(h5py: Any, file: Any, posterior: Posterior) -> None:
    group = _group(file, "observed_data")
    _dimension(h5py, group, "system_name", posterior.systems)
    _dimension(h5py, group, "topic_name", posterior.topics)
    _variable(group, "score", posterior.scores.values, ("system_name", "topic_name"))
    group.attrs["measure"] = posterior.scores.measure
    if posterior.gains is not None:
        gains = posterior.gains
        _dimension(h5py, group, "observation", np.arange(len(gains.score)))
        for name, values in (
            ("gain_system", gains.system),
            ("gain_topic", gains.topic),
            ("gain_rank", gains.rank),
            ("gain", gains.score),
        ):
            _variable(group, name, np.asarray(values), ("observation",))


def _dimension(h5py: Any, group: Any, name: str, values: Any) -> None:
    """A coordinate variable that is its own dimension scale, as netCDF4 has it."""
    if isinstance(values, np.ndarray):
        data = group.create_dataset(name, data=values, track_times=False)
    else:
        text = h5py.string_dtype("utf-8")
        data = group.create_dataset(name, data=list(values), dtype=text, track_times=False)
    data.make_scale(name)


def _variable(group: Any, name: str, values: Any, dimensions: tuple[str, ...]) -> None:
    data = group.create_dataset(name, data=np.ascontiguousarray(values), track_times=False)
    for axis, dimension in enumerate(dimensions):
        data.dims[axis].attach_scale(group[dimension])


def read_fit(path: str | os.PathLike[str]) -> Posterior:
    """Load a fit without recomputing anything."""
    h5py = require("h5py", purpose="reading a fit file")
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise InputError(f"cannot read {path}: no such file") from None
    except OSError:
        raise InputError(f"{path} is not a fit file. Hint: surefoot fit SCORES -o FIT") from None
    with file:
        try:
            return _posterior(file)
        except (KeyError, ValueError, TypeError) as error:
            raise InputError(
                f"{path} is not a fit file of surefoot ({error}). Hint: surefoot fit SCORES -o FIT"
            ) from None


def _posterior(file: Any) -> Posterior:
    if int(file.attrs["surefoot_format"]) > _FORMAT:
        raise ValueError("written by a newer version")
    group, observed, stats = file["posterior"], file["observed_data"], file["sample_stats"]
    systems = tuple(group["system_name"].asstr()[:].tolist())
    topics = tuple(group["topic_name"].asstr()[:].tolist())
    draws = {name: group[name][0] for name in (*SCALARS, "system", "topic") if name in group}
    scores = ScoreMatrix(systems, topics, observed["score"][:], measure=observed.attrs["measure"])
    names = stats["parameter"].asstr()[:].tolist()
    method = str(file.attrs["method"])
    summary: dict[str, Any] = {"parameter": names}
    summary |= {name: stats[name][:].tolist() for name in _NUMERIC}
    summary["method"] = [method] * len(names)
    gains = None
    if "gain" in observed:
        gains = RankGains(
            systems,
            topics,
            observed["gain_system"][:],
            observed["gain_topic"][:],
            observed["gain_rank"][:],
            observed["gain"][:],
        )
    return Posterior(
        settings=json.loads(file.attrs["settings"]),
        headline=tuple(json.loads(file.attrs["headline"])),
        inputs=json.loads(file.attrs["inputs"]),
        family=str(file.attrs["family"]),
        systems=systems,
        topics=topics,
        draws=draws,
        scores=scores,
        method=method,
        khat=float(file.attrs["khat"]),
        efficiency=float(file.attrs["efficiency"]),
        effective_draws=float(file.attrs["effective_draws"]),
        ess=_by_parameter(summary, "ess"),
        rhat=_by_parameter(summary, "rhat"),
        warnings=tuple(json.loads(file.attrs["warnings"])),
        summary=summary,
        gains=gains,
    )


def _by_parameter(summary: Mapping[str, Any], column: str) -> dict[str, float]:
    return dict(zip(summary["parameter"], summary[column], strict=True))
