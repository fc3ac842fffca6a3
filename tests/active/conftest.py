"""A PostgreSQL server of our own, from the distribution's packages."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

import pytest


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return homes[-1].parent if homes else None


@pytest.fixture(scope="session")
def postgres():
    """A function that makes an empty database and returns its URL."""
    psycopg = pytest.importorskip("psycopg")
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL's server programs (package postgresql) are not installed")
    home = Path(tempfile.mkdtemp(prefix="surefoot-pg-", dir="/tmp"))
    who = {}
    if os.getuid() == 0:
        # the server refuses to run as root
        owner = pwd.getpwnam("nobody")
        os.chown(home, owner.pw_uid, owner.pw_gid)
        who = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    data = home / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home, **who}
    initdb = [binaries / "initdb", "-D", data, "-A", "trust", "-U", "surefoot", "--no-sync"]
    subprocess.run(initdb, check=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]}, **quiet)
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, "-k", home, "-c", "listen_addresses=", "-F"], **quiet
    )
    base = f"postgresql://surefoot@/postgres?host={home}"
    try:
        deadline = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(base).close()
                break
            except psycopg.OperationalError:
                if server.poll() is not None or time.monotonic() > deadline:
                    pytest.fail("the PostgreSQL server did not start")
                time.sleep(0.05)
        names = count()

        def make() -> str:
            name = f"test{next(names)}"
            with psycopg.connect(base, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return base.replace("/postgres?", f"/{name}?")

        yield make
    finally:
        server.terminate()
        server.wait(10)
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request, tmp_path):
    """Where a study may live: each kind of store in turn."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return request.getfixturevalue("postgres")()
