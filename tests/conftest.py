"""What every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

ROOT = Path(__file__).parent.parent

# The source itself is tested, whose parts can be replaced; tests/compiled sees to what is compiled.
os.environ["MILEPOST_PLAIN"] = "1"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference data; skip where it is absent."""
    folder = Path(os.environ.get("MILEPOST_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no reference data at {folder} (set MILEPOST_SHARED)")
    return folder.resolve()
