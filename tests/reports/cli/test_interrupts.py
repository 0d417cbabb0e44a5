"""Ctrl-C at any moment: one line, exit code 130, no traceback; of workers as well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# Interrupts the process that imports a module of this name; `exit` does so when the process ends.
HOOK = """
import atexit, os, signal, sys

NAME = os.environ["INTERRUPT_AT"]

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == NAME and not self.done:
            self.done = True
            os.kill(os.getpid(), signal.SIGINT)

    done = False

if NAME == "exit":
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
elif os.environ.get("INTERRUPT_WORKERS") != "1" or "--multiprocessing-fork" in sys.argv:
    sys.meta_path.insert(0, Interrupt())
"""
STUDY = """
[workload]
requests = 60
documents = 3
[study]
replications = 2
[grid]
"policy.placer" = ["last", "branch"]
"""


@pytest.fixture
def hook(tmp_path: Path) -> Path:
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(HOOK)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run(
    hook: Path, at: str, *arguments: str, workers: bool = False
) -> subprocess.CompletedProcess[str]:
    script = hook / "milepost.py"
    script.write_text("from reports.entry import main\nif __name__ == '__main__':\n    main()\n")
    return subprocess.run(
        [sys.executable, script, *arguments],
        env={
            **os.environ,
            "PYTHONPATH": f"{hook / 'hook'}:{ROOT}",
            "INTERRUPT_AT": at,
            "INTERRUPT_WORKERS": str(int(workers)),
        },
        cwd=hook,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("module", ["reports.cli", "typer", "reports.commands.run"])
def test_while_modules_load(module: str, hook: Path) -> None:
    ended = run(hook, module, "policies")
    assert (ended.returncode, ended.stderr, ended.stdout) == (130, "interrupted\n", "")


@pytest.mark.parametrize("module", ["simpy", "reports.study.file", "simulator.simulation"])
def test_while_a_command_runs(module: str, hook: Path) -> None:
    ended = run(hook, module, "run", "--quiet")
    assert (ended.returncode, ended.stderr, ended.stdout) == (130, "interrupted\n", "")


def test_while_the_process_ends(hook: Path) -> None:
    ended = run(hook, "exit", "policies", "lru")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "lru" in ended.stdout


@pytest.mark.parametrize(
    "module", ["reports.execution.tasks", "reports.execution.executors", "simpy", "logging"]
)
def test_workers_leave_it_to_their_parent_from_the_first_moment(module: str, hook: Path) -> None:
    flags = ("sweep", "study.toml", "--out", "out", "--jobs", "2", "--quiet")
    ended = run(hook, module, *flags, workers=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (hook / "out" / "report.html").exists()
