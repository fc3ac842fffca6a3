"""Tables of a study. Rows are added, never changed or removed: any estimate can be audited."""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

# what `alembic_version` must say; the migration that leads here is versions/<HEAD>_*.py
HEAD = "0001"

metadata = MetaData()

# SQLite numbers rows by itself only in a column of type INTEGER
_RowNumber = BigInteger().with_variant(Integer, "sqlite")


def _of_study() -> Column[int]:
    return Column("study", Integer, ForeignKey("study.id"), primary_key=True)


study = Table(
    "study",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String, nullable=False, unique=True),
    Column("created", String, nullable=False),
    Column("version", String, nullable=False),
    Column("settings", Text, nullable=False),  # JSON: all that was asked for and chosen
)

# What is to be judged for a query: its documents, and each ranking as positions in that list.
topic = Table(
    "topic",
    metadata,
    _of_study(),
    Column("number", Integer, primary_key=True),
    Column("topic", String, nullable=False),
    Column("docs", Text, nullable=False),  # JSON list of ids
    Column("rankings", Text, nullable=False),  # JSON list of lists
    UniqueConstraint("study", "topic"),
)

# How a query is sampled; `place` is its cumulative probability, or its turn in a priority sample.
sampling = Table(
    "sampling",
    metadata,
    _of_study(),
    Column("number", Integer, primary_key=True),
    Column("p", Double, nullable=False),
    Column("q", Double, nullable=False),
    Column("cost", Double, nullable=False),
    Column("expected", Text, nullable=False),  # JSON: predicted value of each ranking
    Column("place", Double, nullable=False),
    Column("priority", Double),
    Index("sampling_place", "study", "place"),
)

draw = Table(
    "draw",
    metadata,
    _of_study(),
    Column("number", Integer, primary_key=True),  # a second draw of one number cannot exist
    Column("topic", Integer, nullable=False),
    Column("q", Double, nullable=False),
    Column("uniform", Double, nullable=False),
    Column("charged", Double, nullable=False),  # 0 for a query that was drawn before
    Column("drawn", String, nullable=False),
)

label = Table(
    "label",
    metadata,
    Column("id", _RowNumber, primary_key=True, autoincrement=True),
    Column("study", Integer, ForeignKey("study.id"), nullable=False),
    Column("topic", Integer, nullable=False),
    Column("doc", Integer, nullable=False),  # position in the topic's list
    Column("grade", Integer, nullable=False),
    Column("labeller", String, nullable=False),
    Column("source", String, nullable=False),
    Column("recorded", String, nullable=False),
    Index("label_topic", "study", "topic"),
)

# Queries all of whose documents have a label.
complete = Table(
    "complete",
    metadata,
    _of_study(),
    Column("topic", Integer, primary_key=True),
    Column("recorded", String, nullable=False),
)

# Who was given a query to label, and when.
assignment = Table(
    "assignment",
    metadata,
    Column("id", _RowNumber, primary_key=True, autoincrement=True),
    Column("study", Integer, ForeignKey("study.id"), nullable=False),
    Column("topic", Integer, nullable=False),
    Column("labeller", String, nullable=False),
    Column("assigned", String, nullable=False),
    Index("assignment_topic", "study", "topic"),
)

# The budget is the sum of its grants.
grant = Table(
    "budget_grant",
    metadata,
    Column("id", _RowNumber, primary_key=True, autoincrement=True),
    Column("study", Integer, ForeignKey("study.id"), nullable=False),
    Column("amount", Double, nullable=False),
    Column("granted", String, nullable=False),
)
