"""What was worked out from a file is worked out again once the file has changed."""

from __future__ import annotations

import os
from pathlib import Path

from simulator.base import file_memory
from simulator.base.file_memory import remembered
from simulator.base.files import write_text

OLD = (1_000_000_000, 1_000_000_000)


class Reader:
    """Counts how often a file is read."""

    def __init__(self) -> None:
        self.reads = 0
        self.text = remembered(8)(self._text)

    def _text(self, path: Path) -> str:
        self.reads += 1
        return path.read_text() if path.exists() else "none"


def settle(path: Path, monkeypatch) -> None:
    """Let a file be older than the steps of the file system's clock."""
    monkeypatch.setattr(file_memory, "SETTLED_SECONDS", 0.0)


def test_an_unchanged_file_is_read_once(tmp_path, monkeypatch):
    path, reader = tmp_path / "a", Reader()
    path.write_text("one")
    settle(path, monkeypatch)
    assert [reader.text(path) for _ in range(3)] == ["one"] * 3
    assert reader.reads == 1


def test_a_file_that_was_just_written_is_read_each_time(tmp_path):
    path, reader = tmp_path / "a", Reader()
    path.write_text("one")
    assert [reader.text(path) for _ in range(3)] == ["one"] * 3
    assert reader.reads == 3


def test_a_young_file_of_ours_is_read_once_until_another_takes_its_name(tmp_path):
    path, reads = tmp_path / "a", []
    read = remembered(8, ours=True)(lambda path: reads.append(path) or path.read_text())
    for text in ("one", "two"):
        write_text(path, text)
        assert [read(path) for _ in range(3)] == [text] * 3
    assert len(reads) == 2


def test_a_file_of_the_same_name_size_and_time_is_another_file(tmp_path, monkeypatch):
    path, other, reader = tmp_path / "a", tmp_path / "b", Reader()
    for file, text in ((path, "one"), (other, "two")):
        file.write_text(text)
        os.utime(file, OLD)
    settle(path, monkeypatch)
    assert reader.text(path) == "one"
    other.replace(path)
    assert reader.text(path) == "two"


def test_a_file_that_is_rewritten_in_place_is_read_again(tmp_path, monkeypatch):
    path, reader = tmp_path / "a", Reader()
    path.write_text("one")
    settle(path, monkeypatch)
    assert reader.text(path) == "one"
    path.write_text("three")
    assert reader.text(path) == "three"


def test_what_is_no_file_is_remembered_by_its_name(tmp_path):
    reader = Reader()
    assert reader.text(tmp_path / "none") == reader.text(tmp_path / "none") == "none"
    assert reader.text(Path("nul\0byte"[:3])) == "none"
    assert reader.reads == 2
