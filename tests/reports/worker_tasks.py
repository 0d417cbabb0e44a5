"""Work that a spawned worker can import."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from reports.artifacts.journal import CellOutcome
from simulator.base.errors import UsageError


@dataclass(frozen=True)
class Job:
    identity: str
    action: str = "square"
    marks: Path | None = None


def work(job: Job) -> CellOutcome:
    if job.action == "raise":
        raise ZeroDivisionError("bad\nluck")
    if job.action == "refuse":
        raise UsageError("no such thing")
    if job.action == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if job.action == "die once" and job.marks is not None and not job.marks.exists():
        job.marks.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return CellOutcome(job.identity, {"square": int(job.identity) ** 2})
