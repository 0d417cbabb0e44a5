"""Sweeps as processes of their own, forked from one that has imported everything."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import signal
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from simulator.base.files import TEMPORARY_PREFIX

TABLES = ("cells.parquet", "cells.csv", "manifest.json", "study.resolved.toml")
NO_PAGE = "a page that was left out"
RESULTS = (*TABLES, "report.html")
STUDY = """
title = "tiny"
[workload]
requests = 40
documents = 3
[study]
replications = 3
[grid]
"policy.placer" = ["none", "last", "branch", "dense"]
"cache.capacity" = ["1 GiB", "unbounded"]
"""
CELLS = 24

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(
    ["reports.cli", "reports.execution.sweep", "reports.pages.study", "polars", "altair"]
)


@dataclass
class Sweep:
    """A running `milepost sweep`, the leader of a process group."""

    process: BaseProcess
    receiver: Connection

    def kill(self) -> bool:
        """Kill it and its workers with SIGKILL; return False where it had ended before."""
        for send in (os.killpg, os.kill):  # before it leads a group it is alone
            try:
                send(self.process.pid or 0, signal.SIGKILL)
                break
            except ProcessLookupError:
                continue
        self.process.join()
        return self.process.exitcode == -signal.SIGKILL

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, such as SIGSTOP and SIGCONT, to the sweep alone."""
        os.kill(self.process.pid or 0, number)

    def end(self) -> tuple[int, str]:
        """Wait for it; return its exit code and what it wrote to stderr."""
        code, output = self.receiver.recv()
        self.process.join()
        return code, output

    def workers(self) -> list[int]:
        """Return the process ids of its workers."""
        pids = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                command = (folder / "cmdline").read_text()
            except OSError:
                continue
            if parent == self.process.pid and "spawn_main" in command:
                pids.append(int(folder.name))
        return pids


def start(
    study: Path,
    out: Path,
    *flags: str,
    page: bool = True,
    limit_bytes: int | None = None,
    powers: bool = True,
) -> Sweep:
    """Start a sweep; without its page, which takes longest, with a limit to the size of files."""
    receiver, tell = _forks.Pipe(duplex=False)
    arguments = ["sweep", str(study), "--out", str(out), *flags]
    process = _forks.Process(target=_run, args=(arguments, page, limit_bytes, powers, tell))
    process.start()
    tell.close()
    return Sweep(process, receiver)


def finish(study: Path, out: Path, *flags: str, page: bool = True) -> dict[str, bytes]:
    """Run a sweep to its end; return its results, after a look for leftovers."""
    assert start(study, out, *flags, page=page).end() == (0, "")
    assert not [path for path in out.rglob("*") if path.name.startswith(TEMPORARY_PREFIX)]
    return results(out)


def results(out: Path) -> dict[str, bytes]:
    """Return the results that are there."""
    there = {name: (out / name).read_bytes() for name in RESULTS if (out / name).exists()}
    return {name: content for name, content in there.items() if content != NO_PAGE.encode()}


def entries(out: Path) -> dict[str, tuple[int, int]]:
    """Return the cells in the journal: name -> (inode, time of writing)."""
    stats = {path.stem: path.stat() for path in out.glob("journal/[0-9a-f]*[0-9a-f].json")}
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}


def wait_for(sweep: Sweep, out: Path, cells: int) -> None:
    """Wait until so many cells are in the journal, or the sweep has ended."""
    while sweep.process.is_alive() and len(entries(out)) < cells:
        time.sleep(0.002)


def _run(
    arguments: list[str], page: bool, limit_bytes: int | None, powers: bool, tell: Connection
) -> None:
    import reports.report.store
    from reports.cli import main

    os.setpgid(0, 0)
    if not page:
        reports.report.store.render = lambda _: NO_PAGE
    if limit_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    if not powers:
        _drop_capabilities()
    error = StringIO()
    with redirect_stderr(error), redirect_stdout(StringIO()):
        try:
            main([*arguments, "--quiet"])
        except SystemExit as ended:
            code = ended.code
    tell.send((code, error.getvalue()))


def _drop_capabilities() -> None:
    """Make root a user whom permissions hold; of no effect for others."""
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    none = (ctypes.c_uint32 * 6)()
    assert ctypes.CDLL(None).capset(head, none) == 0
