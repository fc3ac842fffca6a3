"""Fixtures that every part of the suite shares."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that tests can share tests/strategies.py


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real collections beside the checkout; tests that read them skip where they are absent."""
    path = ROOT.parent / "shared" / "data"
    if not path.is_dir():
        # a worktree sits one folder deeper than a clone
        path = ROOT.parent.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip("the real collections (../shared/data) are not beside this checkout")
    return path
