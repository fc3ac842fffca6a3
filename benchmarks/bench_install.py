"""Start-up time and install size: what each required dependency costs."""

import subprocess
import sys
import tempfile
from pathlib import Path

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
    total = sum(sizes.values())
    text = "\n\n".join(
        (
            "# Install size and start-up",
            f"`pip install surefoot` puts {total:.0f} MB on disk, byte code included.",
            markdown_table(["package", "MB"], [[k, f"{v:.1f}"] for k, v in sizes.items()]),
            markdown_table(
                ["start", "seconds", "over bare Python"],
                [
                    [k, f"{t.wall:.3f}", f"{t.wall - times['python -c pass'].wall:.3f}"]
                    for k, t in times.items()
                ],
            ),
        )
    )
    publish("install", text)


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
