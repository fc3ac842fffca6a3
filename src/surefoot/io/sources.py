"""Bytes out of files, compressed files and standard input."""

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from surefoot.errors import InputError

_BLOCK = 1 << 20
_SLICE = 1 << 26  # between two looks for Ctrl-C

# first bytes -> compression
_MAGIC = {
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zst",
    b"\xfd7zXZ\x00": "xz",
}
# first bytes -> what it is instead of text
_FOREIGN = {
    b"PK\x03\x04": "a zip archive",
    b"\x04\x22\x4d\x18": "an lz4 file",
    b"\xff\xfe": "UTF-16 text",
    b"\xfe\xff": "UTF-16 text",
}


class Source:
    """Something to read from, more than once; standard input and pipes are held in memory.

    Parameters
    ----------
    path : str
        A file, or "-" for standard input. Compression is told by the first bytes, not by the name.
    """

    def __init__(self, path: str) -> None:
        self.path = "standard input" if path == "-" else path
        self._held: bytes | None = None
        if path == "-":
            self._held = sys.stdin.buffer.read()
        else:
            try:
                status = Path(path).stat()
                if stat.S_ISDIR(status.st_mode):
                    raise InputError(f"{path} is a folder. Hint: name the files in it")
                if not stat.S_ISREG(status.st_mode):
                    self._held = Path(path).read_bytes()
            except OSError as error:
                raise cannot_read(path, error) from None
        head = self._first_bytes()
        for magic, what in _FOREIGN.items():
            if head.startswith(magic):
                hint = "save it as UTF-8" if "UTF-16" in what else "unpack it to plain text first"
                raise InputError(f"{self.path}: is {what}, not UTF-8 text. Hint: {hint}")
        self.compression = next((c for m, c in _MAGIC.items() if head.startswith(m)), "")

    @property
    def is_plain_file(self) -> bool:
        """Whether the bytes of the file are the text."""
        return self._held is None and not self.compression

    @property
    def is_parquet(self) -> bool:
        """Whether it begins as Parquet files do, unpacked."""
        head = next(self.blocks(), b"") if self.compression else self._first_bytes()
        return head.startswith(b"PAR1")

    def _first_bytes(self) -> bytes:
        if self._held is not None:
            return self._held[:6]
        try:
            with Path(self.path).open("rb") as file:
                return file.read(6)
        except OSError as error:
            raise cannot_read(self.path, error) from None

    def first_line(self) -> bytes:
        """The text up to the first newline (or as much of it as is reasonable)."""
        if self.is_plain_file:
            with Path(self.path).open("rb") as file:
                head = file.read(4096)
        else:
            head = next(self.blocks(), b"")[:4096]
        return head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]

    def blocks(self) -> Iterator[bytes]:
        """The text, unpacked, in blocks."""
        if self._held is not None and not self.compression:
            yield self._held
            return
        try:
            with self._open() as stream:
                while block := stream.read(_BLOCK):
                    yield block
        except EOFError:
            raise InputError(
                f"{self.path}: the {self.compression} data end too early. "
                "Hint: the file was cut short; copy or download it again"
            ) from None
        except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise self._damaged(error) from None
        except OSError as error:
            if error.errno is None:
                raise self._damaged(error) from None
            raise cannot_read(self.path, error) from None
        except Exception as error:
            if type(error).__name__ != "ZstdError":
                raise
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> InputError:
        return InputError(
            f"{self.path}: the {self.compression} data are damaged ({error}). "
            "Hint: copy or download the file again"
        )

    def _open(self) -> Any:
        raw: Any = self.path if self._held is None else io.BytesIO(self._held)
        if self.compression == "gz":
            return gzip.open(raw)
        if self.compression == "bz2":
            return bz2.open(raw)
        if self.compression == "xz":
            return lzma.open(raw)
        if self.compression == "zst":
            if sys.version_info >= (3, 14):
                from compression import zstd
            else:
                from backports import zstd
            return zstd.open(raw)
        return Path(self.path).open("rb")

    def stream(self) -> io.TextIOWrapper:
        """The text to read bit by bit, unpacked, line ends as they are."""
        blocks = _Blocks(self.blocks(), self.path)
        return io.TextIOWrapper(blocks, encoding="utf-8-sig", newline="")

    def contents(self) -> bytes:
        """All of it, unpacked, without a byte order mark."""
        return b"".join(self.blocks()).removeprefix(b"\xef\xbb\xbf")

    def text(self) -> str:
        """All of it as UTF-8, without a byte order mark."""
        raw = self.contents()
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._not_text(raw, error) from None

    def _not_text(self, raw: bytes, error: UnicodeDecodeError) -> InputError:
        """The one line for bytes that are no UTF-8."""
        line = raw.count(b"\n", 0, error.start) + 1
        return InputError(
            f"{self.path}:{line}: is not UTF-8 text (byte 0x{error.object[error.start]:02x}). "
            "Hint: save the file as UTF-8"
        )


class _Blocks(io.BufferedIOBase):
    """Blocks of bytes as a file to read from."""

    def __init__(self, blocks: Iterator[bytes], name: str) -> None:
        self._blocks = blocks
        self.name = name
        self._rest = b""

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes, fewer at the end of a block; nothing at the end of all."""
        if not self._rest:
            self._rest = next(self._blocks, b"")
        if size < 0:
            size = len(self._rest)
        out, self._rest = self._rest[:size], self._rest[size:]
        return out

    def close(self) -> None:
        """Close what the blocks come from."""
        close = getattr(self._blocks, "close", None)
        if close is not None:
            close()
        super().close()


def read_text(path: str) -> str:
    """All text of a file, unpacked; "-" is standard input."""
    return Source(path).text()


def feed_stretch(reader: Any, file: int, path: str, begin: int, end: int) -> None:
    """Feed bytes begin, ..., end - 1 of an open file, minding Ctrl-C."""
    while begin < end:
        got = reader.feed_file(file, begin, min(_SLICE, end - begin))
        if got < 0:
            raise InputError(f"cannot read {path}: {os.strerror(-got)}")
        if got == 0:
            return
        begin += got


def cannot_read(path: str, error: OSError) -> InputError:
    """The one line for a file that cannot be opened."""
    reason = error.strerror or str(error)
    hint = ""
    if isinstance(error, FileNotFoundError):
        folder = Path(path).parent
        if not folder.is_dir():
            hint = f". Hint: there is no folder {str(folder)!r}"
        else:
            from difflib import get_close_matches

            near = get_close_matches(Path(path).name, [p.name for p in folder.iterdir()], n=1)
            hint = f". Hint: did you mean {str(folder / near[0])!r}?" if near else ""
    return InputError(f"cannot read {path}: {reason}{hint}")
