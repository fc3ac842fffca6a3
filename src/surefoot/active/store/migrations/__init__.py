"""Alembic's scripts: every version of the schema, in order."""
