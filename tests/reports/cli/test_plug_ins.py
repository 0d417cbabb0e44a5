"""Policies from a file beside the study."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reports.cli.conftest import Milepost

OWN = '''
from policies.eviction import Lru


class Own(Lru):
    """Evict as LRU does.

    Parameters
    ----------
    k
        Some number.

    Source: a letter.
    """

    def __init__(self, k: int = 2) -> None:
        super().__init__()
'''
STUDY = """
[workload]
requests = 60
[policy]
placer = "last"
[study]
replications = 2
[grid]
"policy.eviction" = ["lru", "policy_of_this_folder:Own"]
"cache.capacity" = ["1 GiB", "4 GiB"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "policy_of_this_folder.py").write_text(OWN)
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_workers_find_it_in_the_working_folder_too(folder: Path) -> None:
    """A console script has no working folder in its path: nor has python with -P."""
    command = [sys.executable, "-P", "-c", "from reports.cli import main; main()"]
    root = str(Path(__file__).parents[3])
    ended = subprocess.run(
        [*command, "sweep", "study.toml", "--out", "out", "--jobs", "2", "--quiet"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "policy_of_this_folder:Own" in (folder / "out" / "report.html").read_text()


def test_it_is_shown_like_any_policy(
    folder: Path, milepost: Milepost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (policy,) = milepost("policies", "policy_of_this_folder:Own", "--json").json["policies"]
    assert (policy["kind"], policy["usage"]) == ("eviction", "policy_of_this_folder:Own:k=2")
    assert policy["parameters"][0]["about"] == "Some number."
    output = milepost("policies", "policy_of_this_folder:Own:k=3").out
    assert "Evict as LRU does." in output
    assert "a letter." in output
