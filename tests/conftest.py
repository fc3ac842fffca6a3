"""Fixtures that every part of the suite shares."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that tests can share tests/strategies.py

# The same examples in every run, remembered nowhere, however slow or busy the machine.
settings.register_profile("surefoot", derandomize=True, deadline=None, database=None)
settings.load_profile("surefoot")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real collections beside the checkout; tests that read them skip where they are absent."""
    path = ROOT.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip("the real collections (../shared/data) are not beside this checkout")
    return path
