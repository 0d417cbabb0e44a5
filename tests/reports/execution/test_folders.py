from __future__ import annotations

import signal
from pathlib import Path

import pytest

from simulator.base.files import TEMPORARY_PREFIX
from tests.reports.execution.conftest import Whole
from tests.reports.execution.sweeps import entries, finish, results, start, wait_for

EMPTY, TRACE, ENTRY, PAGE = 0, 2_000, 3_000, 100_000


@pytest.mark.parametrize("limit_bytes", [EMPTY, TRACE, ENTRY, PAGE])
def test_a_full_disk_is_one_line_and_the_sweep_goes_on_later(
    whole: Whole, tmp_path: Path, limit_bytes: int
) -> None:
    out = tmp_path / "out"
    code, output = start(whole.study, out, "--jobs", "1", limit_bytes=limit_bytes).end()
    assert (code, output.count("\n")) == (2, 1)
    assert "cannot be written: file too large" in output.lower()
    assert not list(out.rglob(f"{TEMPORARY_PREFIX}*"))
    kept = results(out)
    assert kept.items() <= whole.results.items()
    assert "report.html" not in kept
    if limit_bytes == PAGE:
        assert finish(whole.study, out, "--jobs", "1") == whole.results


def test_a_read_only_folder_is_one_line(whole: Whole, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    for out in (tmp_path, tmp_path / "out"):
        code, output = start(whole.study, out, "--jobs", "1", powers=False).end()
        assert (code, output.count("\n")) == (2, 1)
        assert "cannot be written: Permission denied" in output
    tmp_path.chmod(0o755)
    assert not list(tmp_path.iterdir())


def test_two_sweeps_in_one_folder_are_refused_while_the_first_lives(
    whole: Whole, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = start(whole.study, out, "--jobs", "1", page=False)
    wait_for(first, out, 1)
    first.signal(signal.SIGSTOP)
    code, output = start(whole.study, out, "--jobs", "1", page=False).end()
    first.signal(signal.SIGCONT)
    assert (code, output.count("\n")) == (2, 1)
    assert "in use by another milepost" in output
    assert first.end() == (0, "")
    assert results(out) == whole.tables


def test_a_lock_without_a_holder_holds_nobody_up(whole: Whole, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sweep = start(whole.study, out, "--jobs", "1", page=False)
    wait_for(sweep, out, 1)
    sweep.kill()
    assert (out / "journal" / "lock").exists()
    assert finish(whole.study, out, "--jobs", "1", page=False) == whole.tables


def test_a_foreign_folder_is_refused_and_left_alone(whole: Whole, tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("mine")
    code, output = start(whole.study, tmp_path, "--jobs", "1", page=False).end()
    assert (code, output.count("\n")) == (2, 1)
    assert "not empty and not the folder of a sweep" in output
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]
    assert not entries(tmp_path)
