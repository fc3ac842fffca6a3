"""Files that appear whole or not at all."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from surefoot.errors import InputError

_KEPT = {"errors": "surrogateescape"}


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary sibling of `path` to write to, renamed over it on success, removed on failure.

    What a link points to is replaced, not the link. A pipe or a device, such as /dev/stdout, gets
    the finished bytes and stays what it is.
    """
    import tempfile  # slow to load, and most commands write no file

    target = Path(path)
    special = target.exists() and not target.is_file()
    if not special:
        target = target.resolve()
    try:
        folder = None if special else target.parent
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=folder)
    except OSError as error:
        raise _cannot_write(Path(path), error) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        with temporary.open("rb") as written:
            if special:
                with target.open("wb") as out:
                    while block := written.read(1 << 20):
                        out.write(block)
            else:
                os.fsync(written.fileno())
        if special:
            temporary.unlink()
        else:
            temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _cannot_write(Path(path), error) from None
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work is done, a file that could not be written after it."""
    target = Path(path)
    folder = target.resolve().parent
    if target.is_dir():
        raise InputError(f"cannot write {target}: it is a folder")
    if not folder.is_dir():
        raise InputError(f"cannot write {target}: there is no folder {str(target.parent)!r}")
    if not os.access(target if target.exists() and not target.is_file() else folder, os.W_OK):
        raise InputError(f"cannot write {target}: no permission")


def check_apart(path: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to write over a file that is read, also where links hide that they are one."""
    target = Path(path)
    for source in inputs:
        try:
            same = target.is_file() and target.samefile(source)
        except (OSError, ValueError):  # no file: a name, an address, standard input
            continue
        if same:
            raise InputError(
                f"cannot write {target}: it is the same file as the input {os.fspath(source)}. "
                "Hint: give another name to write to"
            )


def _cannot_write(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {error.strerror or error}")


@contextmanager
def atomic_open(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """`open` for writing through `atomic_path`; text is UTF-8 with \\n line ends.

    Ids that were read from bytes that are not UTF-8 become those bytes again.
    """
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"} | _KEPT
    with (
        atomic_path(path) as temporary,
        temporary.open(mode, **text) as file,  # type: ignore[call-overload]
    ):
        yield file
