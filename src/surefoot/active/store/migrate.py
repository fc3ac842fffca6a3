"""Bring a database to the schema of this version."""

from pathlib import Path
from typing import Any

from surefoot.active.store.connect import Database, sqlalchemy
from surefoot.active.store.schema import HEAD
from surefoot.errors import InputError
from surefoot.extras import require


def version_of(connection: Any) -> str | None:
    """The schema's version, None where there is no study yet."""
    if not sqlalchemy.inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.exec_driver_sql(
        "SELECT version_num FROM alembic_version"
    ).scalar()
    return found


def migrate(database: Database, *, revision: str = HEAD) -> None:
    """Create or upgrade the tables, in one transaction."""
    require("alembic", purpose="creating a study")
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with database.writing() as connection:
        config.attributes["connection"] = connection
        known = _revisions(config)
        current = version_of(connection)
        if current is not None and current not in known:
            raise InputError(
                f"{database.shown}: was made by a newer surefoot (schema {current}). "
                "Hint: upgrade surefoot"
            )
        if revision == "base" or (
            current is not None and known.index(current) > known.index(revision)
        ):
            command.downgrade(config, revision)
        else:
            command.upgrade(config, revision)


def _revisions(config: Any) -> list[str]:
    """All versions, oldest first."""
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(config).walk_revisions()
    return [script.revision for script in scripts][::-1]


def ensure_current(database: Database) -> None:
    """Upgrade an older study; refuse what is none."""
    with database.reading() as connection:
        current = version_of(connection)
    if current is None:
        raise InputError(
            f"{database.shown}: holds no study. Hint: surefoot active plan POOL -o {database.shown}"
        )
    if current != HEAD:
        migrate(database)
