"""Start-up time and install size: what each dependency costs, required or of an extra."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.harness import interleave_commands, markdown_table, publish

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        python = home / "bin" / "python"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--compile"]
        subprocess.run([*pip, str(ROOT)], check=True)
        packages = next((home / "lib").glob("python*/site-packages"))
        sizes = _sizes(packages)
        cases = {
            "python -c pass": [str(python), "-c", "pass"],
            "import numpy": [str(python), "-c", "import numpy"],
            "import surefoot": [str(python), "-c", "import surefoot"],
            "import surefoot, numpy": [str(python), "-c", "import surefoot, numpy"],
            "import click": [str(python), "-c", "import click"],
            "import rich.table": [str(python), "-c", "import rich.table"],
            "import narwhals": [str(python), "-c", "import narwhals"],
            "import scipy.special": [str(python), "-c", "import scipy.special"],
            "import scipy.stats": [str(python), "-c", "import scipy.stats"],
            "surefoot --help": [str(home / "bin" / "surefoot"), "--help"],
        }
        times = interleave_commands(cases, repeats=11)
        extras = _extras()
        loading = interleave_commands(
            {f"import {m}": [sys.executable, "-c", f"import {m}"] for m in EXTRA_MODULES},
            repeats=3,
        )
    total = sum(sizes.values())
    text = "\n\n".join(
        (
            "# Install size and start-up",
            f"`pip install surefoot` puts {total:.1f} MB on disk, byte code included.",
            markdown_table(["package", "MB"], [[k, f"{v:.1f}"] for k, v in sizes.items()]),
            markdown_table(
                ["start", "seconds", "over bare Python"],
                [
                    [k, f"{t.wall:.3f}", f"{t.wall - times['python -c pass'].wall:.3f}"]
                    for k, t in times.items()
                ],
            ),
            "## Extras",
            "On top of the above, as installed here; what two extras share counts in both.",
            markdown_table(["extra", "MB", "of which"], extras),
            markdown_table(
                ["start", "seconds"], [[k, f"{t.wall:.2f}"] for k, t in loading.items()]
            ),
        )
    )
    publish("install", text)


EXTRA_MODULES = (
    *("pandas", "polars", "pyarrow", "altair", "h5py", "lightgbm", "xgboost"),
    *("sqlalchemy", "dask.dataframe", "distributed"),
)


def _extras() -> list[list[str]]:
    """Each extra, its size and its largest parts; what is not installed here is named."""
    base = set(_closure("surefoot", ""))
    rows = []
    for extra in metadata.metadata("surefoot").get_all("Provides-Extra") or ():
        parts = {}
        for name in sorted(set(_closure("surefoot", extra)) - base):
            try:
                files = metadata.distribution(name).files or []
            except metadata.PackageNotFoundError:
                parts[name] = float("nan")
                continue
            located = [Path(str(f.locate())) for f in files]
            parts[name] = sum(p.stat().st_size for p in located if p.is_file()) / 1e6
        known = {k: v for k, v in parts.items() if v == v}
        largest = sorted(known.items(), key=lambda item: -item[1])[:5]
        text = ", ".join(f"{k} {v:.1f}" for k, v in largest)
        if absent := [k for k in parts if k not in known]:
            text = f"{text}; not installed here: {', '.join(absent)}".removeprefix("; ")
        rows.append([extra, f"{sum(known.values()):.0f}", text])
    return rows


def _closure(name: str, extra: str, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """Distributions that `name` brings, itself included."""
    name = canonicalize_name(name)
    if name in seen:
        return
    yield name
    try:
        needs = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    for need in map(Requirement, needs):
        if need.marker is None or need.marker.evaluate({"extra": extra}):
            for further in ("", *need.extras):
                yield from _closure(need.name, further, seen | {name} if further == "" else seen)


def _sizes(packages: Path) -> dict[str, float]:
    """Megabytes of each distribution, largest first; what pip itself needs is left out."""
    sizes: dict[str, float] = {}
    for top in packages.iterdir():
        name = top.name.partition("-")[0].removesuffix(".libs").removesuffix(".py")
        if name in ("pip", "setuptools", "_distutils_hack", "pkg_resources", "distutils"):
            continue
        files = [top] if top.is_file() else [p for p in top.rglob("*") if p.is_file()]
        sizes[name] = sizes.get(name, 0.0) + sum(p.stat().st_size for p in files) / 1e6
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


if __name__ == "__main__":
    main()
