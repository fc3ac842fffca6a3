"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from surefoot.errors import InputError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary sibling of `path` to write to, renamed over it on success, removed on failure."""
    import tempfile  # slow to load, and most commands write no file

    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {target}: {error.strerror}") from None
        raise


@contextmanager
def atomic_open(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """`open` for writing through `atomic_path`; text is UTF-8 with \\n line ends."""
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    with (
        atomic_path(path) as temporary,
        temporary.open(mode, **text) as file,  # type: ignore[call-overload]
    ):
        yield file
