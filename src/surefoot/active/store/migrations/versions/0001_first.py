"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _study(*, primary: bool) -> "sa.Column[int]":
    return sa.Column(
        "study", sa.Integer, sa.ForeignKey("study.id"), primary_key=primary, nullable=False
    )


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "study",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False, unique=True),
        sa.Column("created", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
    )
    op.create_table(
        "topic",
        _study(primary=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("topic", sa.String, nullable=False),
        sa.Column("docs", sa.Text, nullable=False),
        sa.Column("rankings", sa.Text, nullable=False),
        sa.UniqueConstraint("study", "topic"),
    )
    op.create_table(
        "sampling",
        _study(primary=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("p", sa.Double, nullable=False),
        sa.Column("q", sa.Double, nullable=False),
        sa.Column("cost", sa.Double, nullable=False),
        sa.Column("expected", sa.Text, nullable=False),
        sa.Column("place", sa.Double, nullable=False),
        sa.Column("priority", sa.Double),
    )
    op.create_index("sampling_place", "sampling", ["study", "place"])
    op.create_table(
        "draw",
        _study(primary=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("topic", sa.Integer, nullable=False),
        sa.Column("q", sa.Double, nullable=False),
        sa.Column("uniform", sa.Double, nullable=False),
        sa.Column("charged", sa.Double, nullable=False),
        sa.Column("drawn", sa.String, nullable=False),
    )
    op.create_table(
        "label",
        sa.Column("id", ROW_NUMBER, primary_key=True, autoincrement=True),
        _study(primary=False),
        sa.Column("topic", sa.Integer, nullable=False),
        sa.Column("doc", sa.Integer, nullable=False),
        sa.Column("grade", sa.Integer, nullable=False),
        sa.Column("labeller", sa.String, nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("recorded", sa.String, nullable=False),
    )
    op.create_index("label_topic", "label", ["study", "topic"])
    op.create_table(
        "complete",
        _study(primary=True),
        sa.Column("topic", sa.Integer, primary_key=True),
        sa.Column("recorded", sa.String, nullable=False),
    )
    op.create_table(
        "assignment",
        sa.Column("id", ROW_NUMBER, primary_key=True, autoincrement=True),
        _study(primary=False),
        sa.Column("topic", sa.Integer, nullable=False),
        sa.Column("labeller", sa.String, nullable=False),
        sa.Column("assigned", sa.String, nullable=False),
    )
    op.create_index("assignment_topic", "assignment", ["study", "topic"])
    op.create_table(
        "budget_grant",
        sa.Column("id", ROW_NUMBER, primary_key=True, autoincrement=True),
        _study(primary=False),
        sa.Column("amount", sa.Double, nullable=False),
        sa.Column("granted", sa.String, nullable=False),
    )


def downgrade() -> None:
    """Drop the tables."""
    for name in (
        "budget_grant",
        "assignment",
        "complete",
        "label",
        "draw",
        "sampling",
        "topic",
        "study",
    ):
        op.drop_table(name)
