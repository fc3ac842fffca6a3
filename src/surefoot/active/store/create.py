"""Write a new study: all of it appears, or nothing."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.active.store import schema
from surefoot.active.store.connect import Database, sqlalchemy
from surefoot.active.store.migrate import migrate
from surefoot.errors import InputError

_ROWS = 20_000


class NewStudy:
    """The study while it is being written; see `new_study`."""

    def __init__(self, connection: Any, number: int) -> None:
        self._connection = connection
        self._number = number

    def add_topics(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Rows of the table `topic`, without the study."""
        self._insert(schema.topic, rows)

    def add_sampling(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Rows of the table `sampling`, without the study."""
        self._insert(schema.sampling, rows)

    def finish(self, settings: Mapping[str, Any], *, budget: float, name: str) -> None:
        """Settings and the first grant of budget; makes the study findable."""
        self._connection.execute(
            schema.study.update()
            .where(schema.study.c.id == self._number)
            .values(name=name, settings=json.dumps(settings))
        )
        self._connection.execute(
            schema.grant.insert().values(study=self._number, amount=budget, granted=now())
        )

    def _insert(self, table: Any, rows: Iterable[Mapping[str, Any]]) -> None:
        iterator = iter(rows)
        while block := list(islice(iterator, _ROWS)):
            self._connection.execute(
                table.insert(), [{"study": self._number, **row} for row in block]
            )


@contextmanager
def new_study(location: str | os.PathLike[str]) -> Iterator[NewStudy]:
    """Write a study at a place that has none; a failure leaves nothing behind."""
    target = Database(location)
    with ExitStack() as stack:
        database = target
        if target.path is not None:
            temporary = stack.enter_context(_hidden_file(target.path))
            database = Database(temporary, fresh=True)
            database.shown = target.shown
        migrate(database)
        with database.writing() as connection:
            taken = connection.execute(
                sqlalchemy.select(schema.study.c.id).where(schema.study.c.name == target.name)
            ).first()
            if taken is not None:
                raise _exists(target.shown)
            number = connection.execute(
                schema.study.insert().values(
                    name=f"(being written) {target.name}",
                    created=now(),
                    version=__version__,
                    settings="{}",
                )
            ).inserted_primary_key[0]
            yield NewStudy(connection, number)
        if target.path is not None:
            _reveal(temporary, target.path)


@contextmanager
def _hidden_file(target: Path) -> Iterator[Path]:
    """An empty sibling to fill; removed at the end, when it has its final name or has failed."""
    if target.exists():
        raise _exists(str(target))
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_name(temporary.name + "-journal").unlink(missing_ok=True)


def _reveal(temporary: Path, target: Path) -> None:
    """Give a file its name unless the name was taken meanwhile (a link never overwrites)."""
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)
    try:
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        target.hardlink_to(temporary)
    except FileExistsError:
        raise _exists(str(target)) from None
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None


def _exists(shown: str) -> InputError:
    return InputError(
        f"{shown}: there is a study already, and studies are never overwritten. "
        "Hint: choose another name, or move the old one away"
    )


def now() -> str:
    """The time as it is recorded."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
