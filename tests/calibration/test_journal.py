from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from calibration.journal import MeasurementJournal
from simulator.base.errors import DataError, UsageError

HEAD: dict[str, Any] = {"model": "toy", "seed": 0}


def filled(path: Path) -> None:
    journal = MeasurementJournal(path, HEAD)
    journal.add_seconds("a", 0.5, 0.7)
    journal.add_seconds("a", 0.25, 0.3)
    journal.add_skipped("b", "out of memory", 1.0)
    journal.add_fact("gate", {"error": 1e-7})
    journal.close()


def assert_filled(journal: MeasurementJournal) -> None:
    assert journal.seconds == {"a": [0.5, 0.25]}
    assert journal.skipped == {"b": "out of memory"}
    assert journal.facts == {"gate": {"error": 1e-7}}
    assert journal.spent_seconds == 2.0


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    filled(path)
    journal = MeasurementJournal(path, HEAD)
    assert_filled(journal)
    journal.close()
    assert len(path.read_bytes().splitlines()) == 5


@pytest.mark.parametrize("half", [b'{"name": "c", "sec', b'{"name": "c"}', b"\x00\x00\xff", b"{"])
def test_a_last_line_that_was_not_finished_is_cut_off(tmp_path: Path, half: bytes) -> None:
    path = tmp_path / "journal"
    filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole + half)
    journal = MeasurementJournal(path, HEAD)
    assert_filled(journal)
    journal.add_seconds("c", 1.0, 1.0)
    journal.close()
    assert path.read_bytes().startswith(whole + b'{"name": "c", "seconds": 1.0')


def test_killed_at_any_byte_it_opens_and_keeps_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    filled(path)
    whole = path.read_bytes()
    for length in range(len(whole) + 1):
        path.write_bytes(whole[:length])
        journal = MeasurementJournal(path, HEAD)
        journal.close()
        kept = len(whole[:length].splitlines(keepends=True)) - (whole[:length][-1:] != b"\n")
        assert len(path.read_bytes().splitlines()) == max(kept, 1)  # at least the head


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b'{"name": "a"}',
        b'{"name": "a", "seconds": -1.0, "spent": 1.0}',
        b'{"name": "a", "seconds": NaN, "spent": 1.0}',
        b'{"name": "a", "seconds": 1e999, "spent": 1.0}',
        b'{"name": "a", "seconds": "fast", "spent": 1.0}',
        b'{"name": 5, "seconds": 1.0, "spent": 1.0}',
        b'{"name": "a", "seconds": 1.0, "spent": -1.0}',
        b"\x80\x04.",
    ],
)
def test_a_line_that_is_none_of_ours_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "journal"
    filled(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], line + b"\n", *lines[2:]]))
    with pytest.raises(DataError, match=re.escape(f"{path}:3: not a line")) as caught:
        MeasurementJournal(path, HEAD)
    assert "\n" not in str(caught.value)


def test_a_journal_of_another_calibration_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    filled(path)
    with pytest.raises(UsageError, match="model was 'toy', now 'other'; --fresh"):
        MeasurementJournal(path, HEAD | {"model": "other"})
    with pytest.raises(UsageError, match="device was None, now 'cpu'"):
        MeasurementJournal(path, HEAD | {"device": "cpu"})


@pytest.mark.parametrize("first", [b"{}\n", b'{"head": 1}\n', b"PK\x03\x04\n", b"5\n"])
def test_a_file_that_is_no_journal_is_refused(tmp_path: Path, first: bytes) -> None:
    path = tmp_path / "journal"
    path.write_bytes(first)
    with pytest.raises(DataError, match="1: not a line of a calibration's journal"):
        MeasurementJournal(path, HEAD)
    assert path.read_bytes() == first


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: Is a directory"):
        MeasurementJournal(tmp_path, HEAD)
