"""Files are whole or absent."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.base.errors import UsageError
from simulator.base.files import remove_leftovers, whole_file, write_text
from tests.conftest import ROOT


def test_a_file_is_written_whole(tmp_path):
    write_text(tmp_path / "a.txt", "ü\n")
    assert (tmp_path / "a.txt").read_bytes() == "ü\n".encode()
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_an_error_midway_leaves_the_older_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_half() -> None:
        with whole_file(path) as temporary:
            temporary.write_text("ne")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(UsageError, match=r"a\.txt: cannot be written: No space left"):
        write_half()
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


WRITER = """
import sys, time
from pathlib import Path
from simulator.base.files import whole_file
with whole_file(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    print(temporary, flush=True)
    input()
    temporary.write_text("whole")
"""


def writer(path: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that is halfway through writing a file; return its temporary file too."""
    command = [sys.executable, "-c", WRITER, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, **pipes)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    living, being_written = writer(tmp_path / "b.txt")
    killed, left = writer(tmp_path / "a.txt")
    killed.kill()
    killed.communicate()
    assert left.exists()
    remove_leftovers(tmp_path)
    assert not left.exists()
    assert being_written.read_text() == "half"
    living.communicate("\n")
    assert (tmp_path / "b.txt").read_text() == "whole"
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


def test_the_next_writer_into_a_folder_removes_what_was_left(tmp_path):
    (tmp_path / ".writing-1234").write_text("half")
    (tmp_path / ".writing-folder").mkdir()
    write_text(tmp_path / "a.txt", "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".writing-folder", "a.txt"]


@pytest.mark.parametrize("name", ["missing/a.txt", ".", "a\0b"])
def test_a_name_that_cannot_be_written_is_one_line(tmp_path, name):
    with pytest.raises(UsageError, match="cannot") as caught:
        write_text(tmp_path / name if name != "." else Path(), "x")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
