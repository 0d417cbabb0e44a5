"""Files are whole or absent."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from simulator.errors import UsageError
from simulator.files import whole_file, write_text


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
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("name", ["missing/a.txt", ".", "a\0b"])
def test_a_name_that_cannot_be_written_is_one_line(tmp_path, name):
    with pytest.raises(UsageError, match="cannot") as caught:
        write_text(tmp_path / name if name != "." else Path(), "x")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
