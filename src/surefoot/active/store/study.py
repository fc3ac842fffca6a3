"""A study as it is: settings, draws, budget, labels."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.active.store import schema
from surefoot.active.store.connect import Database, sqlalchemy
from surefoot.active.store.create import now
from surefoot.active.store.migrate import ensure_current
from surefoot.errors import InputError
from surefoot.kernels.active import uniform_draws

select, func = sqlalchemy.select, sqlalchemy.func

# a sum of costs may exceed the budget by its own rounding
_ROUNDING = 1e-9
LEASE_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Task:
    """One drawn query that waits for labels."""

    number: int
    topic: str
    docs: tuple[str, ...]
    rankings: tuple[tuple[int, ...], ...]
    open_docs: tuple[int, ...]  # positions in `docs` that nobody has labelled
    draw: int
    cost: float


@dataclass(frozen=True, slots=True)
class Draw:
    """One recorded draw."""

    number: int
    topic: int
    q: float
    uniform: float
    charged: float
    complete: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a study stands."""

    topics: int
    draws: int
    drawn: int
    labelled: int
    budget: float
    spent: float
    ended: str  # "" while there is something to draw, else why not


@dataclass(slots=True)
class _State:
    """The draws so far, as far as the next one depends on them."""

    draws: int
    drawn: set[int]
    spent: float
    budget: float


class Study:
    """An open study.

    Parameters
    ----------
    location : str or path
        As for `Database`.
    """

    def __init__(self, location: str | os.PathLike[str]) -> None:
        self.database = Database(location)
        ensure_current(self.database)
        with self.database.reading() as connection:
            row = connection.execute(
                select(schema.study.c.id, schema.study.c.settings).where(
                    schema.study.c.name == self.database.name
                )
            ).first()
            if row is None:
                names = [n for (n,) in connection.execute(select(schema.study.c.name))]
                raise InputError(
                    f"{self.database.shown}: has no study {self.database.name!r}. "
                    f"Hint: #NAME, one of {', '.join(names) or 'none yet'}"
                )
        self.number: int = row.id
        self.settings: dict[str, Any] = json.loads(row.settings)
        # what the last planned look said, and what it was made of
        self.look: tuple[tuple[int, int, int], bool] | None = None

    # -- drawing ---------------------------------------------------------------------------------

    def progress(self) -> Progress:
        """Where the study stands, without drawing anything."""
        with self.database.reading() as connection:
            state = self._state(connection)
            _, ended = self._next_draw(connection, state)
            waiting = len(self._waiting(connection))
        return Progress(
            int(self.settings["topics"]),
            state.draws,
            len(state.drawn),
            len(state.drawn) - waiting,
            state.budget,
            state.spent,
            ended,
        )

    def _state(self, connection: Any) -> "_State":
        d = schema.draw.c
        rows = connection.execute(
            select(d.topic, d.charged).where(d.study == self.number).order_by(d.number)
        ).all()
        budget = connection.execute(
            select(func.sum(schema.grant.c.amount)).where(schema.grant.c.study == self.number)
        ).scalar_one()
        drawn = {topic for topic, _ in rows}
        return _State(len(rows), drawn, float(sum(charged for _, charged in rows)), float(budget))

    def _next_draw(self, connection: Any, state: "_State") -> tuple[Any, str]:
        """The draw that comes next (not yet recorded), or why there is none."""
        if len(state.drawn) >= int(self.settings["topics"]):
            return None, "every query has been drawn"
        s = schema.sampling.c
        if self.settings["design"] == "priority":
            found = s.place >= float(state.draws)
        else:
            # draw k is a pure function of the seed and k, so it can be repeated and audited
            uniform = float(uniform_draws(int(self.settings["seed"]), 0, state.draws, 1)[0])
            found = s.place > uniform * float(self.settings["total"])
        row = connection.execute(
            select(s.number, s.q, s.cost, s.priority)
            .where(s.study == self.number, found)
            .order_by(s.place)
            .limit(1)
        ).one()
        if row.priority is not None:
            uniform = row.q / row.priority
        charged = 0.0 if row.number in state.drawn else float(row.cost)
        if state.spent + charged > state.budget * (1 + _ROUNDING):
            if state.draws == 0:
                # errata Active-6: Eq. 6 with n = 0 is 0/0
                raise InputError(
                    f"{self.database.shown}: the budget of {state.budget:g} does not pay for the "
                    f"first query drawn, which costs {charged:g}. Hint: plan with a larger budget"
                )
            return None, "the budget does not pay for the next query"
        return {
            "study": self.number,
            "number": state.draws,
            "topic": row.number,
            "q": row.q,
            "uniform": uniform,
            "charged": charged,
        }, ""

    def advance(self, connection: Any, want: int = 0) -> str:
        """Record draws until `want` drawn queries wait for labels and the next one is new too.

        Draws of queries that are labelled already are looked up and cost nothing more
        (Sawade et al. 2012, Section 4). Returns why there is nothing left to draw, or "".
        """
        c = schema.complete.c
        waiting = set(self._waiting(connection))
        state = self._state(connection)
        rows = []
        while True:
            row, ended = self._next_draw(connection, state)
            if row is None:
                break
            done = row["topic"] not in waiting and (
                row["topic"] in state.drawn
                or connection.execute(
                    select(c.topic).where(c.study == self.number, c.topic == row["topic"])
                ).first()
                is not None
            )
            if not done:
                if len(waiting) >= want:
                    break
                waiting.add(row["topic"])
            rows.append({**row, "drawn": now()})
            state.draws += 1
            state.drawn.add(row["topic"])
            state.spent += row["charged"]
        if rows:
            connection.execute(schema.draw.insert(), rows)
        return str(ended)

    def _waiting(self, connection: Any) -> list[int]:
        """Drawn queries that are not completely labelled, in the order drawn."""
        d, c = schema.draw.c, schema.complete.c
        rows = connection.execute(
            select(d.topic, func.min(d.number).label("first"))
            .where(
                d.study == self.number,
                ~select(c.topic).where(c.study == d.study, c.topic == d.topic).exists(),
            )
            .group_by(d.topic)
            .order_by("first")
        )
        return [row.topic for row in rows]

    def next_tasks(self, count: int = 1, *, labeller: str = "") -> tuple[list[Task], str]:
        """The queries to label now, oldest draw first, drawing further ones as needed.

        Parameters
        ----------
        count : int
            How many queries.
        labeller : str
            Queries given to another labeller within the last day are passed over.
        """
        with self.database.writing() as connection:
            taken = self._taken(connection, labeller) if labeller else set()
            want = count
            while True:
                ended = self.advance(connection, want)
                waiting = self._waiting(connection)
                mine = [t for t in waiting if t not in taken][:count]
                if len(mine) >= count or ended:
                    break
                want += count - len(mine)
            if labeller and mine:
                connection.execute(
                    schema.assignment.insert(),
                    [
                        {"study": self.number, "topic": t, "labeller": labeller, "assigned": now()}
                        for t in mine
                    ],
                )
            return [self._task(connection, t) for t in mine], ended

    def _taken(self, connection: Any, labeller: str) -> set[int]:
        """Queries whose latest assignment is fresh and to somebody else."""
        from datetime import UTC, datetime, timedelta

        fresh = (datetime.now(UTC) - timedelta(seconds=LEASE_SECONDS)).isoformat()
        a = schema.assignment.c
        rows = connection.execute(
            select(a.topic, a.labeller)
            .where(a.study == self.number, a.assigned > fresh)
            .order_by(a.id)
        )
        latest = {row.topic: row.labeller for row in rows}
        return {t for t, name in latest.items() if name != labeller}

    def _task(self, connection: Any, number: int) -> Task:
        t, s, d = schema.topic.c, schema.sampling.c, schema.draw.c
        row = connection.execute(
            select(t.topic, t.docs, t.rankings, s.cost)
            .join(schema.sampling, (s.study == t.study) & (s.number == t.number))
            .where(t.study == self.number, t.number == number)
        ).one()
        first = connection.execute(
            select(func.min(d.number)).where(d.study == self.number, d.topic == number)
        ).scalar_one()
        docs = tuple(json.loads(row.docs))
        known = self._labelled_docs(connection, number)
        rankings = tuple(tuple(r) for r in json.loads(row.rankings))
        missing = tuple(i for i in range(len(docs)) if i not in known)
        return Task(number, row.topic, docs, rankings, missing, first, row.cost)

    def _labelled_docs(self, connection: Any, number: int) -> set[int]:
        entry = schema.label.c
        rows = connection.execute(
            select(entry.doc).where(entry.study == self.number, entry.topic == number).distinct()
        )
        return {doc for (doc,) in rows}

    def grant(self, amount: float) -> None:
        """Add to the budget."""
        with self.database.writing() as connection:
            connection.execute(
                schema.grant.insert().values(study=self.number, amount=amount, granted=now())
            )

    # -- reading ---------------------------------------------------------------------------------

    def draws(self) -> list[Draw]:
        """All draws in order."""
        d, c = schema.draw.c, schema.complete.c
        with self.database.reading() as connection:
            rows = connection.execute(
                select(d.number, d.topic, d.q, d.uniform, d.charged, c.topic.label("done"))
                .outerjoin(schema.complete, (c.study == d.study) & (c.topic == d.topic))
                .where(d.study == self.number)
                .order_by(d.number)
            )
            return [
                Draw(r.number, r.topic, r.q, r.uniform, r.charged, r.done is not None) for r in rows
            ]

    def topics(self, numbers: Sequence[int]) -> list[Any]:
        """Topic, documents, rankings, p, q, cost and prediction of some queries, by number."""
        t, s = schema.topic.c, schema.sampling.c
        out: list[Any] = []
        with self.database.reading() as connection:
            for block in _blocks(sorted(numbers)):
                out += connection.execute(
                    select(
                        t.number,
                        t.topic,
                        t.docs,
                        t.rankings,
                        s.p,
                        s.q,
                        s.cost,
                        s.expected,
                        s.priority,
                    )
                    .join(schema.sampling, (s.study == t.study) & (s.number == t.number))
                    .where(t.study == self.number, t.number.in_(block))
                    .order_by(t.number)
                ).all()
        return out

    def docs_of(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Documents that the study asks about, of those topics that it has."""
        t = schema.topic.c
        out: dict[str, list[str]] = {}
        with self.database.reading() as connection:
            for block in _blocks(names):
                rows = connection.execute(
                    select(t.topic, t.docs).where(t.study == self.number, t.topic.in_(block))
                )
                out |= {row.topic: json.loads(row.docs) for row in rows}
        return out

    def labels(self, numbers: Sequence[int] | None = None) -> list[Any]:
        """Rows of the table `label` in the order recorded, of some queries or of all."""
        entry = schema.label
        found = select(entry).where(entry.c.study == self.number).order_by(entry.c.id)
        with self.database.reading() as connection:
            if numbers is None:
                return list(connection.execute(found).all())
            rows: list[Any] = []
            for block in _blocks(sorted(numbers)):
                rows += connection.execute(found.where(entry.c.topic.in_(block))).all()
            return sorted(rows, key=lambda row: row.id)

    def last_label(self, draws: int) -> int:
        """Number of the latest label of the first queries drawn."""
        entry, d = schema.label.c, schema.draw.c
        early = select(d.topic).where(d.study == self.number, d.number < draws)
        with self.database.reading() as connection:
            found = connection.execute(
                select(func.max(entry.id)).where(entry.study == self.number, entry.topic.in_(early))
            ).scalar()
        return int(found or 0)

    def threshold(self, draws: int) -> float:
        """Priority of the first query that a priority sample of some draws leaves out."""
        s = schema.sampling.c
        with self.database.reading() as connection:
            found = connection.execute(
                select(s.priority).where(s.study == self.number, s.place == float(draws))
            ).scalar()
        return 0.0 if found is None else float(found)


def _blocks(keys: Sequence[Any], size: int = 500) -> Iterable[Sequence[Any]]:
    """Pieces short enough for one statement."""
    return (keys[i : i + size] for i in range(0, len(keys), size))
