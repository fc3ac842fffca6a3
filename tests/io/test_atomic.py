import os
import stat

import pytest

from surefoot.errors import InputError
from surefoot.io.atomic import atomic_open, atomic_path, check_apart, check_writable


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


def test_a_link_keeps_pointing_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_open(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with atomic_open(pipe) as file:
            file.write("to a pipe\n")
        assert os.read(reader, 100) == b"to a pipe\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize(
    ("name", "message"), [("no/x", "there is no folder"), (".", "it is a folder")]
)
def test_what_cannot_be_written_is_refused_beforehand(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        check_writable(tmp_path / name)
    check_writable(tmp_path / "x")
    check_writable("x")


def test_an_input_is_not_written_over_through_any_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").write_text("precious")
    (tmp_path / "other").write_text("")
    (tmp_path / "link").symlink_to("real")
    os.link(tmp_path / "real", tmp_path / "hard")
    for name in ("real", "link", "hard", tmp_path / "." / "real"):
        with pytest.raises(InputError, match=r"it is the same file as the input real\. Hint"):
            check_apart(name, ["-", "no\0name", "x" * 5000, "http://a/b", "real"])
    check_apart("new", ["real", "new"])
    check_apart("other", ["real"])
