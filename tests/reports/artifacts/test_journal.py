from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reports.artifacts.journal import CellOutcome, Journal
from simulator.base.errors import DataError, UsageError
from simulator.base.files import TEMPORARY_PREFIX, whole_file, write_text

OUTCOME = CellOutcome("abc", {"saved_tokens": 3, "rate": 0.1, "blocks": [1, 2], "p99": None})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    with Journal(tmp_path, "study") as journal:
        journal.write(OUTCOME)
        journal.write(CellOutcome("bad", None, "it broke"))
    with Journal(tmp_path, "study") as journal:
        assert journal.read("abc") == OUTCOME
        assert journal.read("bad") == CellOutcome("bad", None, "it broke")
        assert journal.read("other") is None


def test_floats_keep_every_bit(tmp_path: Path) -> None:
    values = [0.1 + 0.2, 1e-308, 1 / 3, 2.0**60 + 0.0]
    with Journal(tmp_path, "study") as journal:
        journal.write(CellOutcome("abc", {"values": values}))
        outcome = journal.read("abc")
    assert outcome is not None
    assert outcome.metrics == {"values": values}


def test_another_study_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path, "study") as journal:
        journal.write(OUTCOME)
    with pytest.raises(UsageError, match="results of another study"):
        Journal(tmp_path, "other")
    Journal(tmp_path, "study").__exit__(None, None, None)


def test_an_empty_journal_may_be_taken_over(tmp_path: Path) -> None:
    Journal(tmp_path, "study").__exit__(None, None, None)
    Journal(tmp_path, "other").__exit__(None, None, None)


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path, "study") as journal:
        journal.write(OUTCOME)
    header = tmp_path / "journal" / "header.json"
    header.write_text(json.dumps({"schema_version": 2, "study": "study"}))
    with pytest.raises(UsageError, match="schema_version 2, expected 1"):
        Journal(tmp_path, "study")


def test_a_foreign_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("mine")
    with pytest.raises(UsageError, match=r"not empty .*'thesis\.doc'"):
        Journal(tmp_path, "study")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.doc"]


def test_a_file_as_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        Journal(tmp_path / "out", "study")


def test_a_second_process_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from reports.artifacts.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1]), 'study'); print('open', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(UsageError, match="in use by another milepost"):
            Journal(tmp_path, "study")
        holder.kill()
    Journal(tmp_path, "study").__exit__(None, None, None)  # the lock went with its holder


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\x00\xff", b'{"schema_version": 1, "cell": "abc", "metrics": {}}'],
)
def test_a_damaged_entry_counts_as_absent(content: bytes, tmp_path: Path) -> None:
    with Journal(tmp_path, "study") as journal:
        journal.write(OUTCOME)
        (tmp_path / "journal" / "abc.json").write_bytes(content)
        assert journal.read("abc") is None


def test_an_entry_with_one_figure_changed_counts_as_absent(tmp_path: Path) -> None:
    with Journal(tmp_path, "study") as journal:
        journal.write(OUTCOME)
        path = tmp_path / "journal" / "abc.json"
        path.write_text(path.read_text().replace('"saved_tokens": 3', '"saved_tokens": 4'))
        assert journal.read("abc") is None


def test_every_damaged_byte_of_an_entry_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Journal(tmp_path, "study") as journal:
        journal.write(OUTCOME)
        path = tmp_path / "journal" / "abc.json"
        sound = path.read_bytes()
        for at in range(0, len(sound), 7):
            path.write_bytes(sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :])
            outcome = journal.read("abc")
            assert outcome in (None, OUTCOME)  # white space does not matter
            warning = capsys.readouterr().err
            assert (outcome is None) == (
                f"{path} is damaged: this cell is computed again" in warning
            )


def test_a_damaged_header_is_told_as_damage(tmp_path: Path) -> None:
    with Journal(tmp_path, "study") as journal:
        journal.write(OUTCOME)
    header = tmp_path / "journal" / "header.json"
    sound = header.read_bytes()
    at = sound.index(b"study") + 11
    for damaged in (sound.replace(b"study", b"stucy"), sound[:at], b"", sound[:-20] + b"\x00" * 20):
        header.write_bytes(damaged)
        with pytest.raises(DataError, match=r"header\.json: damaged.* delete this file"):
            Journal(tmp_path, "study")
    header.unlink()
    with Journal(tmp_path, "study") as journal:
        assert journal.read("abc") == OUTCOME


def test_a_header_of_an_earlier_version_has_no_checksum(tmp_path: Path) -> None:
    with Journal(tmp_path, "study") as journal:
        journal.write(OUTCOME)
    header = tmp_path / "journal" / "header.json"
    header.write_text(json.dumps({"schema_version": 1, "study": "study"}))
    with Journal(tmp_path, "study") as journal:
        assert journal.read("abc") == OUTCOME


def test_leftovers_of_a_killed_writer_are_removed(tmp_path: Path) -> None:
    Journal(tmp_path, "study").__exit__(None, None, None)
    for folder in (tmp_path, tmp_path / "journal"):  # of no living process
        (folder / f"{TEMPORARY_PREFIX}1234").write_text("half")
    Journal(tmp_path, "study").__exit__(None, None, None)
    assert not list(tmp_path.rglob(f"{TEMPORARY_PREFIX}*"))


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_no_half_written_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(tmp_path, "study") as journal:
        before = sorted(path.name for path in (tmp_path / "journal").iterdir())
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(UsageError, match=r"abc\.json: cannot be written: No space left"):
            journal.write(OUTCOME)
        assert sorted(path.name for path in (tmp_path / "journal").iterdir()) == before


def test_an_older_file_survives_a_failed_write(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_text(path, "old")

    def write_badly() -> None:
        with whole_file(path) as temporary:
            temporary.write_text("new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_badly()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_nan_is_refused(tmp_path: Path) -> None:
    with Journal(tmp_path, "study") as journal, pytest.raises(ValueError, match="JSON"):
        journal.write(CellOutcome("abc", {"rate": float("nan")}))
