import re
import subprocess
import sys
from pathlib import Path

import pytest

import surefoot

HEAVY = (
    *("scipy", "pandas", "polars", "pyarrow", "narwhals", "altair", "h5py"),
    *("lightgbm", "xgboost", "sqlalchemy", "dask", "jax", "rich"),
)


def loaded_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import surefoot",
        "import surefoot; surefoot.ScoreMatrix; surefoot.SurefootError",
        "from surefoot.cli.main import cli\n"
        "import click.testing\n"
        "assert click.testing.CliRunner().invoke(cli, ['--help']).exit_code == 0",
    ],
)
def test_import_and_help_load_no_heavy_library(code):
    assert loaded_after(code) & set(HEAVY) == set()


def test_every_public_name_exists_and_is_listed():
    assert set(surefoot.__all__) == {*surefoot._HOMES, "__version__"}
    assert list(surefoot.__all__) == sorted(surefoot.__all__)
    for name in surefoot.__all__:
        assert getattr(surefoot, name) is not None
    assert set(dir(surefoot)) == set(surefoot.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'rsik'"):
        surefoot.rsik  # noqa: B018


def test_only_the_thin_signatures_reach_the_compiled_module():
    root = Path(surefoot.__file__).parent
    importing = re.compile(
        r"^\s*(from surefoot import .*\b_kernels\b|import surefoot\._kernels)", re.M
    )
    users = {
        path.relative_to(root).parts[0]
        for path in root.rglob("*.py")
        if importing.search(path.read_text(encoding="utf-8"))
    }
    assert users == {"kernels"}
