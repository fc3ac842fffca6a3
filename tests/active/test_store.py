import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.pools import labelled_pool

import surefoot as sf
from surefoot.active.store import schema
from surefoot.active.store.connect import Database
from surefoot.active.store.migrate import migrate, version_of
from surefoot.active.store.study import Study
from surefoot.errors import InputError
from surefoot.io.labels import Label


@pytest.fixture(scope="module")
def known():
    return labelled_pool(150, docs=4, seed=21)


def plan(known, location, **options):
    options = {"measure": "ERR", "compare": True, "budget": 60, "seed": 5, **options}
    return sf.active.plan(known.pool, location, **options)


def work(location, labels, *, labeller="", acknowledge=None, count=2):
    """Label until nothing is left to label; tell after every call what is stored."""
    study = Study(location)
    while True:
        tasks = sf.active.next_tasks(study, count=count, labeller=labeller)
        if not len(tasks):
            if tasks.settings["ended"]:
                return
            time.sleep(0.01)
            continue
        rows = list(zip(tasks.topic, tasks.doc, strict=True))
        sf.active.label(study, [Label(t, d, labels[t][d], labeller) for t, d in rows])
        if acknowledge is not None:
            os.write(acknowledge, (json.dumps(rows) + "\n").encode())


@contextlib.contextmanager
def child(function, *args, **options):
    """Run a function in a forked process, which is gone at the end; yields its number."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            function(*args, **options)
            status = 0
        finally:
            os._exit(status)
    done = []

    def wait():
        if not done:
            done.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        return done[0]

    try:
        yield pid, wait
    finally:
        if not done:
            os.kill(pid, signal.SIGKILL)
            wait()


def check(location):
    """What must hold of a study at any moment."""
    study = Study(location)
    draws = study.draws()
    assert [d.number for d in draws] == list(range(len(draws)))
    paid = [d.topic for d in draws if d.charged > 0]
    assert len(paid) == len(set(paid)) == len({d.topic for d in draws})
    return study


def acknowledged_before(reader, rounds):
    """Labels that a child told of, read until it told `rounds` times or was done."""
    told, rest = set(), b""
    while rounds > 0 and (piece := os.read(reader, 4096)):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            told.update(map(tuple, json.loads(line)))
            rounds -= 1
    return told


def stored_labels(location):
    rows = sf.active.export(check(location), "labels").table
    return list(zip(rows["topic"], rows["doc"], strict=True))


def finishes_as_undisturbed(known, location, tmp_path, **options):
    """Whatever happened before, the study goes on and ends where one without a kill ends."""
    undisturbed = str(tmp_path / "undisturbed.db")
    plan(known, undisturbed, **options)
    for place in (location, undisturbed):
        work(place, known.labels)
    for look in (sf.active.estimate, sf.active.status):
        assert look(location).columns() == look(undisturbed).columns()
    with contextlib.closing(sqlite3.connect(location)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_kills_at_random_moments_lose_nothing_and_count_nothing_twice(known, tmp_path):
    location = str(tmp_path / "s.db")
    plan(known, location, budget=80)
    rng = random.Random(7)
    acknowledged, kills = set(), 0
    while kills < 25:
        reader, writer = os.pipe()
        with child(work, location, known.labels, acknowledge=writer, count=1) as (pid, wait):
            os.close(writer)
            # how far it gets is told by its own progress, not by the speed of this machine
            acknowledged |= acknowledged_before(reader, rng.randrange(3))
            time.sleep(rng.uniform(0, 0.02))
            os.kill(pid, signal.SIGKILL)
            status = wait()
        with os.fdopen(reader, "rb") as told:
            for line in told.read().split(b"\n")[:-1]:
                acknowledged.update(map(tuple, json.loads(line)))
        assert status == -signal.SIGKILL, "the work was done before the last kill"
        kills += 1
        stored = stored_labels(location)
        assert len(stored) == len(set(stored))
        assert acknowledged <= set(stored)
    assert len(acknowledged) > 20
    finishes_as_undisturbed(known, location, tmp_path, budget=80)


def work_until_statement(location, labels, fatal, *, acknowledge):
    """Work, and die before statement or commit number `fatal`, or right after a commit."""
    from surefoot.active.store.connect import sqlalchemy

    seen = 0

    def count(*_):
        nonlocal seen
        seen += 1
        if seen == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    for moment in ("before_cursor_execute", "after_cursor_execute", "commit"):
        sqlalchemy.event.listen(sqlalchemy.engine.Engine, moment, count)
    work(location, labels, acknowledge=acknowledge, count=1)


def test_a_kill_at_every_single_statement_is_survived(known, tmp_path):
    location = str(tmp_path / "s.db")
    plan(known, location, budget=60)
    acknowledged = set()
    for fatal in range(1, 61):
        reader, writer = os.pipe()
        options = {"fatal": fatal, "acknowledge": writer}
        with child(work_until_statement, location, known.labels, **options) as (_, wait):
            os.close(writer)
            acknowledged |= acknowledged_before(reader, 10**9)
            assert wait() == -signal.SIGKILL
        os.close(reader)
        stored = stored_labels(location)
        assert len(stored) == len(set(stored))
        assert acknowledged <= set(stored)
    assert acknowledged
    finishes_as_undisturbed(known, location, tmp_path, budget=60)


def test_a_kill_while_planning_leaves_no_half_study(known, tmp_path):
    rng = random.Random(3)
    for attempt in range(8):
        location = tmp_path / f"s{attempt}.db"
        with child(plan, known, location) as (pid, wait):
            time.sleep(rng.uniform(0.0, 0.15))
            os.kill(pid, signal.SIGKILL)
            wait()
        if location.exists():
            assert sf.active.next_tasks(location).topic
        else:
            plan(known, location)


@pytest.mark.parametrize("design", ["replacement", "priority"])
def test_processes_labelling_at_once_stay_consistent(known, location, tmp_path, design):
    alone = str(tmp_path / "alone.db")
    plan(known, location, budget=25, design=design)
    plan(known, alone, budget=25, design=design)
    work(alone, known.labels)
    with contextlib.ExitStack() as stack:
        waits = [
            stack.enter_context(child(work, location, known.labels, labeller=name))[1]
            for name in ("ann", "bob", "cay")
        ]
        assert [wait() for wait in waits] == [0, 0, 0]
    check(location)
    together, apart = sf.active.estimate(location), sf.active.estimate(alone)
    assert together.columns() == apart.columns()
    one, other = (sf.active.export(s, "draws").table for s in (location, alone))
    assert one == other
    rows = sf.active.export(location, "labels").table
    assert len(set(zip(rows["topic"], rows["doc"], strict=True))) == len(rows["doc"])


def test_every_store_gives_the_same_study(known, location, tmp_path):
    other = str(tmp_path / "other.db")
    plan(known, location, budget=10, stop="sign")
    plan(known, other, budget=10, stop="sign")
    for place in (location, other):
        work(place, known.labels)
    for look in (sf.active.estimate, sf.active.export, sf.active.status):
        assert look(location).columns() == look(other).columns()
    with pytest.raises(InputError, match="never overwritten"):
        plan(known, location)


def test_one_database_holds_several_studies(known, postgres):
    url = postgres()
    plan(known, f"{url}#first", budget=5)
    plan(known, f"{url}#second", budget=5, seed=6)
    work(f"{url}#first", known.labels)
    assert Study(f"{url}#second").draws() == []
    with pytest.raises(InputError, match=r"has no study 'third'. Hint: #NAME, one of first"):
        Study(f"{url}#third")


# -- migrations ----------------------------------------------------------------------------------


def test_the_migrations_lead_to_the_schema_and_back(location):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    if "://" not in location:
        Path(location).touch()
    database = Database(location)
    migrate(database)
    with database.reading() as connection:
        assert version_of(connection) == schema.HEAD
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    migrate(database, revision="base")
    with database.reading() as connection:
        assert version_of(connection) is None
    migrate(database)


def test_a_study_of_a_newer_version_is_refused(known, tmp_path):
    location = tmp_path / "s.db"
    plan(known, location)
    with contextlib.closing(sqlite3.connect(location)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match=r"made by a newer surefoot \(schema 9999\)"):
        Study(location)


# -- failures ------------------------------------------------------------------------------------


def test_a_full_disk_is_said_plainly_and_does_no_damage(known, tmp_path):
    location = tmp_path / "s.db"
    plan(known, location)
    work_until = sf.active.next_tasks(location, count=5)
    before = sf.active.export(location, "draws").table
    said = tmp_path / "said"

    def fill():
        size = location.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        many = [
            Label(t, d, known.labels[t][d], f"labeller {i}")
            for i in range(300)
            for t, d in zip(work_until.topic, work_until.doc, strict=True)
        ]
        try:
            sf.active.label(location, many)
        except InputError as error:
            os.write(handle, str(error).encode())

    handle = os.open(said, os.O_CREAT | os.O_WRONLY)
    with child(fill) as (_, wait):
        assert wait() == 0
    os.close(handle)
    message = said.read_text()
    assert "disk" in message
    assert "nothing of this call was stored" in message
    assert sf.active.export(location, "labels").table["doc"] == []
    assert sf.active.export(location, "draws").table == before
    work(location, known.labels)
    assert sf.active.estimate(location).draws > 5


def test_a_disk_too_small_for_a_plan_names_the_study(known, tmp_path):
    location = tmp_path / "s.db"
    reader, writer = os.pipe()

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        try:
            plan(known, location)
        except InputError as error:
            os.write(writer, str(error).encode())

    with child(fill) as (_, wait):
        os.close(writer)
        with os.fdopen(reader) as told:
            message = told.read()
        assert wait() == 0
    assert message.startswith(f"{location}: ")
    assert "disk" in message
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_study_can_be_read_and_says_so_when_written(known):
    folder = Path(tempfile.mkdtemp(prefix="surefoot-"))
    try:
        location = folder / "s.db"
        plan(known, location, budget=5)
        work(location, known.labels)
        location.chmod(0o444)
        folder.chmod(0o555)
        reader, writer = os.pipe()

        def read_and_write():
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            draws = sf.active.estimate(location).draws
            try:
                sf.active.label(location, {"q0": dict.fromkeys(known.labels["q0"], 0)})
            except InputError as error:
                os.write(writer, f"{draws} {error}".encode())

        with child(read_and_write) as (_, wait):
            os.close(writer)
            with os.fdopen(reader) as told:
                message = told.read()
            assert wait() == 0
        assert "is read-only" in message
        assert "Hint: check the permissions" in message
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be opened. Hint: is there a study of that name?"),
        (b"", "holds no study. Hint: surefoot active plan"),
        (b"not a database at all, " * 100, "is not a study"),
    ],
)
def test_what_is_no_study_is_refused(tmp_path, content, message):
    location = tmp_path / "s.db"
    if content is not None:
        location.write_bytes(content)
    with pytest.raises(InputError, match=message):
        sf.active.status(location)
    assert content is not None or not location.exists()


def test_an_unknown_kind_of_url_is_refused():
    with pytest.raises(InputError, match="an SQLite file or a postgresql:// URL, not mysql"):
        Study("mysql://localhost/x")


def test_a_server_that_does_not_answer_is_one_line():
    pytest.importorskip("psycopg")
    with pytest.raises(InputError) as caught:
        Study("postgresql://user:secret@127.0.0.1:1/none?application_name=a/b#mine")
    assert str(caught.value).startswith(
        "postgresql://user:***@127.0.0.1:1/none?application_name=a/b#mine: connection failed"
    )


def test_the_draws_are_those_of_the_seed(known, location):
    planned = plan(known, location, budget=15)
    work(location, known.labels)
    cumulative = np.cumsum(planned.q)
    draws = sf.active.export(location, "draws").table
    expected = [
        planned.q_topics[int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))]
        for u in draws["uniform"]
    ]
    assert draws["topic"] == expected
