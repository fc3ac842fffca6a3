"""Connections to a study's database, and its failures in one line."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from surefoot.errors import InputError
from surefoot.extras import require

sqlalchemy: Any = require("sqlalchemy", purpose="keeping a study")

BUSY_SECONDS = 30.0


class Database:
    """One place where studies are kept.

    Parameters
    ----------
    location : str or path
        A file for SQLite, or ``postgresql://user@host/database``; ``#name`` at the end of a URL
        picks one of several studies in it.
    fresh : bool
        The file is new and not yet visible, so it need not survive a crash while it is filled.
    """

    def __init__(self, location: str | os.PathLike[str], *, fresh: bool = False) -> None:
        self.fresh = fresh
        text = os.fspath(location)
        self.is_file = "://" not in text
        if self.is_file:
            self.path: Path | None = Path(text)
            self.name = "study"
            self.shown = text
            self.engine = self._file_engine(Path(text))
        else:
            self.path = None
            url, _, name = text.partition("#")
            self.name = name or "study"
            self.engine = self._server_engine(url)
            # as it was typed, but for the password
            url = self.engine.url.set(drivername="postgresql").render_as_string(hide_password=True)
            self.shown = url.replace("%2F", "/") + (f"#{name}" if name else "")

    def _file_engine(self, path: Path) -> Any:
        def connect() -> sqlite3.Connection:
            # mode=rw: a mistyped name must not become a new empty file
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw",
                uri=True,
                timeout=BUSY_SECONDS,
                isolation_level=None,
            )
            if self.fresh:
                connection.execute("PRAGMA synchronous=OFF")
                connection.execute("PRAGMA journal_mode=MEMORY")
            return connection

        engine = sqlalchemy.create_engine(
            "sqlite://", creator=connect, poolclass=sqlalchemy.pool.NullPool
        )

        def begin(connection: Any) -> None:
            # a writer takes the lock before it reads, so that what it read is still true when it
            # writes; rollback journal and synchronous=FULL make a commit survive a kill
            writes = connection.get_execution_options().get("surefoot_writes", False)
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        sqlalchemy.event.listen(engine, "begin", begin)
        return engine

    def _server_engine(self, url: str) -> Any:
        scheme, _, rest = url.partition("://")
        if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
            raise InputError(
                f"a study is an SQLite file or a postgresql:// URL, not {scheme}://..."
            )
        require("psycopg", purpose="a study in PostgreSQL")
        try:
            return sqlalchemy.create_engine(
                f"postgresql+psycopg://{rest}",
                poolclass=sqlalchemy.pool.NullPool,
                # a database without an encoding of its own would hand out bytes
                connect_args={"client_encoding": "utf8"},
            )
        except sqlalchemy.exc.ArgumentError:
            raise InputError("cannot read the URL of the study's database") from None

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """A connection that sees one consistent state."""
        with self.explained(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """A transaction that no other writer interleaves with; all of it is kept, or nothing."""
        with self.explained(), self.engine.connect() as plain:
            connection = plain.execution_options(surefoot_writes=True)
            with connection.begin():
                if not self.is_file:
                    # one writer at a time a database, released at the end of the transaction
                    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(8367003)")
                yield connection

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the database's failures into one clear line."""
        try:
            yield
        except sqlalchemy.exc.DBAPIError as error:
            raise InputError(f"{self.shown}: {_explanation(error)}") from None


def _explanation(error: Any) -> str:
    text = " ".join(str(error.orig).split())
    fold = text.casefold()
    kept = "nothing of this call was stored, everything before it is"
    for sign, words in (
        ("full", f"the disk is full; {kept}. Hint: free some space and repeat the call"),
        ("no space", f"the disk is full; {kept}. Hint: free some space and repeat the call"),
        ("disk i/o error", f"the file cannot be written (disk I/O error); {kept}"),
        ("readonly", f"is read-only; {kept}. Hint: check the permissions of file and folder"),
        ("read-only", f"is read-only; {kept}"),
        ("locked", f"another process has held the study for {BUSY_SECONDS:.0f} s; {kept}"),
        ("unable to open", "cannot be opened. Hint: is there a study of that name?"),
        ("not a database", "is not a study (not an SQLite file)"),
        ("malformed", "is damaged (not a whole SQLite file)"),
        ("no such table", "is an SQLite file but not a study"),
    ):
        if sign in fold:
            return words
    return text[:300]
