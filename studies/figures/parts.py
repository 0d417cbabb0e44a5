"""A part: figures that some commands make; and the place where they run."""

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
    """A command that ended with a code that was not expected."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """A folder for results, the public traces, and how many processes a command may use."""

    folder: Path
    shared: Path | None
    jobs: int = 1

    def trace(self, name: str) -> Path:
        """Return the file of a public trace, such as "mooncake/conversation_trace.jsonl.gz"."""
        assert self.shared is not None, "a part that opens a trace names it"
        return self.shared / "data" / name

    def milepost(self, *words: str | Path) -> str:
        """Run a command in the root of the repository and return what it prints.

        Raises
        ------
        CommandFailedError
            With the end of what it said, where its exit code is not 0.
        """
        args = [str(word) for word in words]
        ended = subprocess.run(
            [*MILEPOST, *args],
            cwd=ROOT,
            env=os.environ | {"COLUMNS": "120"},  # that tables have in documents
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != 0:
            last = ended.stderr.strip().splitlines()[-1:] or ["nothing said"]
            raise CommandFailedError(f"milepost {shlex.join(args)}: {ended.returncode}: {last[0]}")
        return ended.stdout

    def study(self, name: str, *words: str | Path) -> Path:
        """Run `sweep` or `capacity` into a folder of that name; it goes on where it stood."""
        out = self.folder / name
        self.milepost(*words, "--out", out, "--jobs", str(self.jobs), "--quiet")
        return out

    def drift(self, name: str, *words: str | Path) -> Path:
        """Run `drift` into a folder of that name, unless it is done there already."""
        out = self.folder / name
        if not (out / "drift.json").is_file():
            self.milepost("drift", *words, "--out", out, "--quiet")
        return out


@dataclass(frozen=True, slots=True)
class Part:
    """Figures that some commands make.

    Parameters
    ----------
    name
        What templates and `results/` call it.
    group
        What it is asked for by, together with others.
    minutes
        Of one core, about.
    make
        Returns the figures as plain values.
    traces
        Public traces that it opens.
    cheap
        Whether the tests make it each time: a few seconds, and no public trace.
    """

    name: str
    group: str
    minutes: float
    make: Callable[[Workplace], Figures]
    traces: tuple[str, ...] = ()
    cheap: bool = False

    def missing(self, shared: Path | None) -> list[str]:
        """Return its traces that are not there."""
        return [t for t in self.traces if shared is None or not (shared / "data" / t).is_file()]
