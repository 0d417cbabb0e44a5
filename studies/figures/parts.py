"""Parts (figures made by some commands) and the folder in which their commands run."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MILEPOST = (sys.executable, "-c", "from reports.entry import main; main()")

Figures = dict[str, Any]


class CommandFailedError(Exception):
    """Raised for a command that ends with an unexpected exit code."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Folders for results and of public traces, and the number of processes of a command."""

    folder: Path
    shared: Path | None
    jobs: int = 1

    def trace(self, name: str) -> Path:
        """Return the file of a public trace, such as "mooncake/conversation_trace.jsonl.gz"."""
        assert self.shared is not None, "a part that opens a trace names it"
        return self.shared / "data" / name

    def milepost(self, *words: str | Path) -> str:
        """Run a command in the root of the repository and return its output.

        Raises
        ------
        CommandFailedError
            For an exit code other than 0; the message has the last line of its errors.
        """
        args = [str(word) for word in words]
        ended = subprocess.run(
            [*MILEPOST, *args],
            cwd=ROOT,
            env=os.environ | {"COLUMNS": "120"},  # the width of tables in documents
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            last = ended.stderr.strip().splitlines()[-1:] or ["nothing said"]
            raise CommandFailedError(f"milepost {shlex.join(args)}: {ended.returncode}: {last[0]}")
        return ended.stdout

    def study(self, name: str, *words: str | Path) -> Path:
        """Run `sweep`, `capacity` or `drift` into a folder of that name, where it is resumed."""
        out = self.folder / name
        self.milepost(*words, "--out", out, "--jobs", str(self.jobs), "--quiet")
        return out


@dataclass(frozen=True, slots=True)
class Part:
    """Figures that some commands make.

    Parameters
    ----------
    name
        Its name in templates and `results/`.
    group
        Name of a group of parts that are chosen together.
    minutes
        Approximate minutes on one core.
    make
        Returns the figures as plain values.
    traces
        Public traces that it needs.
    cheap
        Whether tests always make it: it takes a few seconds and needs no public trace.
    """

    name: str
    group: str
    minutes: float
    make: Callable[[Workplace], Figures]
    traces: tuple[str, ...] = ()
    cheap: bool = False

    def missing(self, shared: Path | None) -> list[str]:
        """Return those of its traces that do not exist."""
        return [t for t in self.traces if shared is None or not (shared / "data" / t).is_file()]
