"""Fits on disk: netCDF4 in ArviZ's layout, written through h5py.

Groups ``posterior`` (draws), ``sample_stats`` (summary and diagnostics of each parameter),
``observed_data`` (scores), and where asked for ``log_likelihood``. ``arviz.from_netcdf`` and
``xarray.open_dataset(group=...)`` read them. The file holds nothing of the machine or the clock, so
the same fit gives the same bytes.

After the netCDF data, where its readers do not look, stands a digest of all bytes before it: a fit
that was cut short or changed is refused before HDF5 sees it, which can hang on a damaged file. A
file that another library wrote anew, as ArviZ does, has none and may hold other draws on purpose;
there the draws need only be possible.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from surefoot import __version__
from surefoot.data.scores import ScoreMatrix
from surefoot.errors import InputError
from surefoot.extras import require
from surefoot.io.atomic import atomic_path
from surefoot.io.output import SUFFIXES
from surefoot.results.posterior import SCALARS, SUMMARY, Posterior, RankGains

# 2: with a digest
_FORMAT = 2
_GROUPS = ("posterior", "sample_stats", "observed_data")
_NUMERIC = tuple(name for name in SUMMARY if name not in ("parameter", "method"))
_SEAL = b"\nsurefoot blake2b "
_SEALED = len(_SEAL) + 33  # 32 hexadecimal digits and a newline
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
# what h5py raises on files whose structure is damaged
_BROKEN: tuple[type[Exception], ...] = (LookupError, ValueError, TypeError, AttributeError)
_BROKEN += (ArithmeticError, OSError, RuntimeError, MemoryError)
_ABOVE_0: tuple[str, Callable[[Any], Any]] = ("be above 0", lambda x: x > 0)
_SHARE: tuple[str, Callable[[Any], Any]] = ("be between 0 and 1", lambda x: (x >= 0) & (x <= 1))
_SPREAD: tuple[str, Callable[[Any], Any]] = ("not be negative", lambda x: x >= 0)
# parameter -> what its draws must be, besides finite
_SUPPORT = {"sigma": _ABOVE_0, "phi": _ABOVE_0, "zoi": _SHARE, "coi": _SHARE}
_SUPPORT |= {"nu": ("be above 1", lambda x: x > 1), "sd_system": _SPREAD, "sd_topic": _SPREAD}


@dataclass(frozen=True, slots=True)
class LogLikelihood:
    """The log likelihood of every observation under some draws.

    Parameters
    ----------
    draws : (n,) int array
        Which draws of the posterior.
    rows : int
        Rows in each chunk but the last.
    chunks : iterable of (rows, n_observations) float arrays
        A row for each of these draws; observations as
        `surefoot.inference.bayes.likelihood.log_likelihood_chunks` orders them.
    """

    draws: npt.NDArray[np.int64]
    rows: int
    chunks: Iterable[npt.NDArray[np.float64]]


def check_fit_name(path: str | os.PathLike[str]) -> None:
    """Refuse to call a fit what a table or a page is called."""
    name = Path(path)
    plain = name.with_suffix("") if name.suffix.lower() == ".gz" else name
    if plain.suffix.lower() in SUFFIXES or plain is not name:
        raise InputError(
            f"cannot save a fit as {name}: a fit is a netCDF file. "
            f"Hint: {plain.with_suffix('.nc')} for the fit; the summary goes to standard output"
        )


def write_fit(
    posterior: Posterior,
    path: str | os.PathLike[str],
    *,
    log_likelihood: LogLikelihood | None = None,
) -> None:
    """Write a fit; the file appears whole or not at all."""
    check_fit_name(path)
    h5py = require("h5py", purpose="writing a fit file")
    if wrong := _impossible(posterior.draws, posterior.systems, posterior.topics):
        raise InputError(f"cannot save the fit as {path}: {wrong}. Hint: fit again")
    with atomic_path(path) as temporary:
        with h5py.File(temporary, "w", track_order=True) as file:
            _write(h5py, file, posterior, log_likelihood)
        with temporary.open("r+b") as written:
            digest = _digest(written, temporary.stat().st_size)
            written.write(_SEAL + digest + b"\n")


def _write(
    h5py: Any, file: Any, posterior: Posterior, log_likelihood: LogLikelihood | None
) -> None:
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
    if log_likelihood is not None:
        _write_log_likelihood(h5py, file, posterior, log_likelihood)


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
            _variable(h5py, group, name, posterior.draws[name][None], ("chain", "draw"))
    for name in ("system", "topic"):
        _variable(h5py, group, name, posterior.draws[name][None], ("chain", "draw", f"{name}_name"))


def _write_stats(h5py: Any, file: Any, posterior: Posterior) -> None:
    group = _group(file, "sample_stats")
    _dimension(h5py, group, "parameter", list(posterior.summary["parameter"]))
    for name in _NUMERIC:
        values = np.asarray(posterior.summary[name], dtype=np.float64)
        _variable(h5py, group, name, values, ("parameter",))


def _write_observed(h5py: Any, file: Any, posterior: Posterior) -> None:
    group = _group(file, "observed_data")
    _dimension(h5py, group, "system_name", posterior.systems)
    _dimension(h5py, group, "topic_name", posterior.topics)
    _variable(h5py, group, "score", posterior.scores.values, ("system_name", "topic_name"))
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
            _variable(h5py, group, name, np.asarray(values), ("observation",))


def _write_log_likelihood(
    h5py: Any, file: Any, posterior: Posterior, log_likelihood: LogLikelihood
) -> None:
    group = _group(file, "log_likelihood")
    observed = _observations(posterior)
    shape = (1, len(log_likelihood.draws), len(observed["observation_system"]))
    _dimension(h5py, group, "chain", np.arange(1))
    _dimension(h5py, group, "draw", log_likelihood.draws)
    _dimension(h5py, group, "observation", np.arange(shape[2]))
    data = group.create_dataset(
        "score",
        shape,
        np.float64,
        chunks=(1, log_likelihood.rows, max(1, min(shape[2], 131_072 // log_likelihood.rows))),
        fletcher32=True,
        track_times=False,
    )
    _scaled(group, data, ("chain", "draw", "observation"))
    begin = 0
    for chunk in log_likelihood.chunks:
        data[0, begin : begin + len(chunk)] = chunk
        begin += len(chunk)
    for name, values in observed.items():
        _variable(h5py, group, name, values, ("observation",))
    # netCDF's way to say that they name the observations
    data.attrs["coordinates"] = " ".join(observed)


def _observations(posterior: Posterior) -> dict[str, Any]:
    """System, topic and rank of each observation, as the log likelihoods order them."""
    rank: dict[str, Any] = {}
    if posterior.gains is None:
        system, topic = np.nonzero(~posterior.scores.missing)
    else:
        gains = posterior.gains
        order = np.lexsort((gains.rank, gains.topic, gains.system))
        system, topic = gains.system[order], gains.topic[order]
        rank = {"observation_rank": gains.rank[order]}
    return {
        "observation_system": [posterior.systems[i] for i in system.tolist()],
        "observation_topic": [posterior.topics[j] for j in topic.tolist()],
    } | rank


def _dimension(h5py: Any, group: Any, name: str, values: Any) -> None:
    """A coordinate variable that is its own dimension scale, as netCDF4 has it."""
    _dataset(h5py, group, name, values).make_scale(name)


def _variable(h5py: Any, group: Any, name: str, values: Any, dimensions: tuple[str, ...]) -> None:
    _scaled(group, _dataset(h5py, group, name, values), dimensions)


def _dataset(h5py: Any, group: Any, name: str, values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return group.create_dataset(name, data=np.ascontiguousarray(values), track_times=False)
    text = h5py.string_dtype("utf-8")
    return group.create_dataset(name, data=list(values), dtype=text, track_times=False)


def _scaled(group: Any, data: Any, dimensions: tuple[str, ...]) -> None:
    for axis, dimension in enumerate(dimensions):
        data.dims[axis].attach_scale(group[dimension])


def read_fit(path: str | os.PathLike[str]) -> Posterior:
    """Load a fit that `save_fit` or ``surefoot fit -o`` saved, without recomputing anything.

    Parameters
    ----------
    path : path
        The file; one that ArviZ saved again is read too.

    Returns
    -------
    Posterior
        As it was saved, but for `seconds`.

    Notes
    -----
    A file that is cut short, whose bytes were changed, or whose draws no model can have, is refused
    with an `InputError`.
    """
    h5py = require("h5py", purpose="reading a fit file")
    sealed = _check_bytes(path)
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise _unopened(path, error) from None
    with file:
        try:
            version = int(_attribute(file, "surefoot_format"))
        except _BROKEN:
            raise InputError(
                f"{path} is not a fit file of surefoot. Hint: surefoot fit SCORES -o FIT.nc"
            ) from None
        if version > _FORMAT:
            raise InputError(
                f"{path} was written by a newer surefoot. Hint: upgrade surefoot, or fit again"
            )
        # netCDF4 and h5netcdf, by which ArviZ saves, leave their names
        if version > 1 and not sealed and "_NCProperties" not in file.attrs:
            raise InputError(
                f"{path} is incomplete: its last bytes are missing or changed. "
                "Hint: copy it again, or fit again with surefoot fit SCORES -o FIT.nc"
            )
        try:
            contents = {name: _contents(h5py, file[name]) for name in _GROUPS}
            posterior = _posterior(file, **contents)
        except _BROKEN as error:
            raise _damaged(path, str(error) or type(error).__name__) from None
    if wrong := _impossible(posterior.draws, posterior.systems, posterior.topics):
        raise _damaged(path, wrong)
    return posterior


def _check_bytes(path: str | os.PathLike[str]) -> bool:
    """Whether the file ends in a digest, which is then right."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(len(_SIGNATURE))
            if not head or not _SIGNATURE.startswith(head):
                raise InputError(f"{path} is not a fit file. Hint: surefoot fit SCORES -o FIT.nc")
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - _SEALED, 0))
            seal = file.read()
            if not seal.startswith(_SEAL):
                return False
            digest = _digest(file, size - _SEALED)
    except FileNotFoundError:
        raise InputError(f"cannot read {path}: no such file") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    if seal != _SEAL + digest + b"\n":
        raise _damaged(path, "what it holds is not what was saved")
    return True


def _digest(file: IO[bytes], size: int) -> bytes:
    """Of the first `size` bytes; leaves the file after them."""
    hasher = hashlib.blake2b(digest_size=16)
    file.seek(0)
    while size > 0 and (block := file.read(min(size, 1 << 20))):
        hasher.update(block)
        size -= len(block)
    return hasher.hexdigest().encode()


def _damaged(path: str | os.PathLike[str], why: str) -> InputError:
    return InputError(
        f"{path} is damaged: {' '.join(why.split())}. "
        "Hint: fit again with surefoot fit SCORES -o FIT.nc"
    )


def _unopened(path: str | os.PathLike[str], error: OSError) -> InputError:
    """What is wrong with a file that HDF5 cannot open though it begins like one of its own."""
    size = Path(path).stat().st_size
    whole = re.search(r"stored_eof = (\d+)", str(error))
    if whole or size < 1000:  # no fit is that small
        of = f" of {whole[1]}" if whole else ""
        return InputError(
            f"{path} is incomplete: the file ends after {size}{of} bytes. "
            "Hint: copy it again, or fit again with surefoot fit SCORES -o FIT.nc"
        )
    if error.errno:
        return InputError(f"cannot read {path}: {os.strerror(error.errno)}")
    return _damaged(path, "its structure cannot be read")


def _contents(h5py: Any, group: Any) -> dict[str, Any]:
    """Variable -> array, or list of str."""
    return {
        name: data.asstr()[:].tolist() if h5py.check_string_dtype(data.dtype) else data[()]
        for name, data in group.items()
    }


def _attribute(thing: Any, name: str) -> Any:
    """A plain value; netCDF4 writes arrays of one number, and some libraries bytes."""
    value = thing.attrs[name]
    if isinstance(value, np.ndarray):
        (value,) = value.ravel()
    if isinstance(value, np.generic):
        value = value.item()
    return value.decode("utf-8") if isinstance(value, bytes) else value


def _impossible(
    draws: Mapping[str, Any], systems: tuple[str, ...], topics: tuple[str, ...]
) -> str | None:
    """What is wrong with draws that no posterior can have; None where nothing is."""
    for name in ("b", "sd_system", "sd_topic", "system", "topic"):
        if name not in draws:
            return f"there are no draws of {name}"
    n = len(draws["b"])
    shapes = {"system": (n, len(systems)), "topic": (n, len(topics))}
    for name, values in draws.items():
        if values.shape != shapes.get(name, (n,)) or n == 0:
            return f"the draws of {name} have shape {values.shape}"
        rule, holds = _SUPPORT.get(name, ("be finite", np.isfinite))
        wrong = ~(holds(values) & np.isfinite(values))
        if wrong.any():
            first = np.unravel_index(int(wrong.argmax()), wrong.shape)
            return f"draw {first[0]} of {name} is {values[first]:g}, and must {rule}"
    return None


def _posterior(
    file: Any,
    posterior: dict[str, Any],
    sample_stats: dict[str, Any],
    observed_data: dict[str, Any],
) -> Posterior:
    systems, topics = tuple(posterior["system_name"]), tuple(posterior["topic_name"])
    draws = {n: posterior[n][0] for n in (*SCALARS, "system", "topic") if n in posterior}
    measure = str(_attribute(file["observed_data"], "measure"))
    scores = ScoreMatrix(systems, topics, observed_data["score"], measure=measure)
    method = str(_attribute(file, "method"))
    summary: dict[str, Any] = {"parameter": sample_stats["parameter"]}
    summary |= {name: sample_stats[name].tolist() for name in _NUMERIC}
    summary["method"] = [method] * len(summary["parameter"])
    gains = None
    if "gain" in observed_data:
        gains = RankGains(
            systems,
            topics,
            observed_data["gain_system"],
            observed_data["gain_topic"],
            observed_data["gain_rank"],
            observed_data["gain"],
        )
    texts = {
        n: json.loads(_attribute(file, n)) for n in ("settings", "headline", "inputs", "warnings")
    }
    return Posterior(
        settings=texts["settings"],
        headline=tuple(texts["headline"]),
        inputs=texts["inputs"],
        family=str(_attribute(file, "family")),
        systems=systems,
        topics=topics,
        draws=draws,
        scores=scores,
        method=method,
        khat=float(_attribute(file, "khat")),
        efficiency=float(_attribute(file, "efficiency")),
        effective_draws=float(_attribute(file, "effective_draws")),
        ess=_by_parameter(summary, "ess"),
        rhat=_by_parameter(summary, "rhat"),
        warnings=tuple(texts["warnings"]),
        summary=summary,
        gains=gains,
    )


def _by_parameter(summary: Mapping[str, Any], column: str) -> dict[str, float]:
    return dict(zip(summary["parameter"], summary[column], strict=True))
