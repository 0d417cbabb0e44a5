from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reports.cli import main

STUDY = """
title = "small"
[workload]
requests = 120
documents = 5
[study]
replications = 2
warmup = 0.1
[grid]
"policy.placer" = ["none", "last", "branch", "dense"]
"cache.capacity" = ["1 GiB", "4 GiB", "unbounded"]
"""
COMMAND = [sys.executable, "-c", "from reports.entry import main; main()"]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def flat(self) -> str:
        """What was printed, on one line: where it was folded depends on the terminal."""
        return " ".join(self.out.split())


Milepost = Callable[..., Ended]


@pytest.fixture
def milepost(capsys: pytest.CaptureFixture[str]) -> Milepost:
    """Run the command line in this process."""

    def run(*arguments: object) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        assert "Traceback" not in output.err
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, output.out, output.err)

    return run


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the page, which takes longer than everything else."""
    monkeypatch.setattr("reports.report.store.render", lambda _: "a page")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    """Return a trace of three requests with times: two share their first block of 512."""
    rows = (
        {"timestamp": 0, "input_length": 1000, "output_length": 5, "hash_ids": [1, 2]},
        {"timestamp": 60_000, "input_length": 1024, "output_length": 5, "hash_ids": [1, 3]},
        {"timestamp": 90_000, "input_length": 512, "output_length": 5, "hash_ids": [1]},
    )
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def start(*arguments: object) -> subprocess.Popen[str]:
    """Start the command line as a process of its own."""
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
