"""What a user installs: an sdist that is complete, and a wheel of it that needs no compiler."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
# kept from one run to the next, so that only what changed is compiled again
KEPT = ROOT / "build" / "distribution"

pytestmark = pytest.mark.slow


def run(*command: object, **options: object) -> str:
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def build(kind: str, source: Path, folder: Path, *options: str) -> Path:
    what = (f"--{kind}", "--no-isolation", "--outdir", folder)
    run(sys.executable, "-m", "build", *what, *options, source)
    (made,) = folder.iterdir()
    return made


def unpack(sdist: Path, folder: Path) -> Path:
    """The files of an sdist; those that are there already keep their time stamps."""
    with tarfile.open(sdist) as archive:
        top = archive.getnames()[0].partition("/")[0]
        wanted = {folder / m.name: m for m in archive.getmembers() if m.isfile()}
        for path in folder.rglob("*"):
            if path.is_file() and path not in wanted:
                path.unlink()
        for path, member in wanted.items():
            source = archive.extractfile(member)
            assert source is not None
            content = source.read()
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    return folder / top


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """Built from the sdist alone."""
    source = unpack(sdist, KEPT / "source")
    options = f"-Cbuild-dir={KEPT / 'objects'}"
    return build("wheel", source, tmp_path_factory.mktemp("wheel"), options)


def required(name: str) -> set[str]:
    """Distributions that `name` needs, and what they need, without extras."""
    found = {name}
    for line in metadata.requires(name) or ():
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            found |= {need.name} if need.name in found else required(need.name)
    return found


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory):
    """Programs of an environment with the wheel and its declared requirements, and nothing else.

    The requirements are links to those of this environment, which is quicker than 200 MB of copies.
    """
    home = tmp_path_factory.mktemp("clean")
    run(sys.executable, "-m", "venv", "--without-pip", home)
    (packages,) = (home / "lib").glob("python*/site-packages")
    for name in required("surefoot") - {"surefoot"}:
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or () if file.parts[0] != ".."}:
            if top != "__pycache__" and not (packages / top).exists():
                (packages / top).symlink_to(Path(str(distribution.locate_file(top))))
    pip = (sys.executable, "-m", "pip", "--python", home / "bin" / "python")
    run(*pip, "install", "--no-index", wheel)  # fails where a requirement is missing
    return home / "bin"


@pytest.fixture
def bare(clean, tmp_path):
    """Runs a program where there is no compiler, no cmake and nothing of this environment."""
    nowhere = {"CC": "/nowhere/cc", "CXX": "/nowhere/c++", "HOME": str(tmp_path)}

    def call(program: str, *arguments: object) -> str:
        environment = {**nowhere, "PATH": str(clean)}
        return run(clean / program, *arguments, env=environment, cwd=tmp_path)

    return call


@pytest.fixture(scope="module")
def held(sdist):
    with tarfile.open(sdist) as archive:
        return {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}


def test_the_sdist_holds_the_sources_and_nothing_that_git_ignores(sdist, held):
    born = sdist.stat().st_mtime
    for folder in ("src", "cpp"):
        found = (p for p in (ROOT / folder).rglob("*") if p.is_file() and p.stat().st_mtime < born)
        sources = {p for p in found if "__pycache__" not in p.parts and p.suffix != ".so"}
        assert {p.relative_to(ROOT).as_posix() for p in sources} - held == set()
    allowed = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {name.partition("/")[0] for name in held} <= {*allowed, "PKG-INFO"} - {"build", "dist"}


def test_the_wheel_holds_the_package_and_one_compiled_module(wheel, held):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    package = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    sources = {name.removeprefix("src/") for name in held if name.startswith("src/")}
    sources = {name for name in sources if not name.startswith("surefoot/kernels/reference/")}
    assert sources - package == set()
    (compiled,) = package - sources
    assert compiled.startswith("surefoot/_kernels.")


def test_the_wheel_works_without_a_compiler(bare, tmp_path):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert bare("surefoot", "--version").split()[-1] == version
    where = bare("python", "-c", "import surefoot._kernels as k; print(k.__file__)").strip()
    assert not Path(where).is_relative_to(ROOT)
    assert "challenger1: YES" in bare("surefoot", "demo", tmp_path / "demo")
    files = (tmp_path / "demo" / "qrels.txt", tmp_path / "demo" / "runs" / "champion.run")
    scores = bare("surefoot", "evaluate", *files, "-m", "nDCG@10", "--format", "trec_eval")
    assert scores.split()[:2] == ["ndcg_cut_10", "all"] or scores.split()[:2] == ["nDCG@10", "all"]
    assert "inst_res" in bare("inst_eval", *files, "-T", "3")


def test_a_missing_extra_is_named(bare, tmp_path):
    table = tmp_path / "scores.csv"
    table.write_text("topic,a,b\nt1,0.1,0.2\nt2,0.3,0.4\n")
    program = "import surefoot as sf; sf.risk('scores.csv', champion='a').to_pandas()"
    with pytest.raises(AssertionError, match=r"pip install 'surefoot\[frames\]'"):
        bare("python", "-c", program)
