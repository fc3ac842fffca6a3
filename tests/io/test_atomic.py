import os
import stat

import pytest

from surefoot.errors import InputError
from surefoot.io.atomic import atomic_open, atomic_path


def test_a_file_appears_whole_with_ordinary_permissions(tmp_path):
    with atomic_open(tmp_path / "x") as file:
        file.write("é\n")
        assert not (tmp_path / "x").exists()
    assert (tmp_path / "x").read_bytes() == "é\n".encode()
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, error):
    (tmp_path / "x").write_text("old")

    def write():
        with atomic_open(tmp_path / "x") as file:
            file.write("new")
            raise error

    with pytest.raises(error):
        write()
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_text() == "old"


def test_a_folder_that_does_not_exist_is_said_in_one_line(tmp_path):
    with (
        pytest.raises(InputError, match=r"cannot write .*x: No such file"),
        atomic_path(tmp_path / "no" / "x"),
    ):
        pass
