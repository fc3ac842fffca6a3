"""Where a study lives: one schema, in an SQLite file or in PostgreSQL; rows are only ever added."""
