"""Fixtures shared by the benchmarks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simulator.trace.trace import Trace
from workloads.opening import open_trace

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = Path(os.environ.get("MILEPOST_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no reference data at {folder} (set MILEPOST_SHARED)")
    return folder.resolve()


@pytest.fixture(scope="session")
def conversation(shared: Path) -> Trace:
    """Return the Mooncake conversation trace: 12,031 requests of 12,035 tokens on average."""
    return open_trace(shared / "data/mooncake/conversation_trace.jsonl.gz")
