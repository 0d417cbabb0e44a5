from __future__ import annotations

import gzip
import os

import pytest

from simulator.base.errors import DataError
from workloads.reading import reader
from workloads.reading.reader import read_lines


def lines_of(path):
    return list(read_lines(path))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "lines"


def problem_of(path) -> str:
    with pytest.raises(DataError) as caught:
        lines_of(path)
    text = str(caught.value)
    assert "\n" not in text
    assert str(path) in text
    return text


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"", []),
        (b"a", [(1, b"a")]),
        (b"a\nb\n", [(1, b"a"), (2, b"b")]),
        (b"a\r\n\r\n  \nb", [(1, b"a"), (4, b"b")]),
        (b"\xef\xbb\xbfa\nb", [(1, b"a"), (2, b"b")]),
    ],
)
def test_lines_are_numbered_and_cleaned(file, pack, content, lines):
    file.write_bytes(pack(content))
    assert lines_of(file) == lines


def test_lines_across_pieces_are_joined(file, monkeypatch):
    monkeypatch.setattr(reader, "_CHUNK_BYTES", 3)
    content = b"one\ntwenty\n\nthree hundred\nx"
    file.write_bytes(content)
    wanted = [(1, b"one"), (2, b"twenty"), (4, b"three hundred"), (5, b"x")]
    assert lines_of(file) == wanted


def test_blank_stretches_count_as_lines(file, monkeypatch):
    monkeypatch.setattr(reader, "_CHUNK_BYTES", 100)
    file.write_bytes(b"a\n" + b"\n" * 998 + b"b\n" + b" \n" * 1000 + b"c")
    assert lines_of(file) == [(1, b"a"), (1000, b"b"), (2001, b"c")]


def test_gzip_members_follow_each_other(file):
    file.write_bytes(gzip.compress(b"a\nb") + gzip.compress(b"c\n"))
    assert lines_of(file) == [(1, b"a"), (2, b"bc")]


def test_a_truncated_gzip_is_said(file):
    file.write_bytes(gzip.compress(os.urandom(5000).hex().encode())[:-20])
    assert "truncated" in problem_of(file)


def test_a_damaged_gzip_is_said(file):
    data = bytearray(gzip.compress(b"some text\n" * 100))
    data[15] ^= 0xFF
    file.write_bytes(data)
    assert "damaged" in problem_of(file)


def test_a_gzip_bomb_stops_at_the_ratio(file, monkeypatch):
    monkeypatch.setattr(reader, "RATIO_FREE_BYTES", 1 << 20)
    file.write_bytes(gzip.compress(b'{"a": 1}\n' * 1_000_000))
    assert "200 times its size" in problem_of(file)


def test_the_total_is_bounded(file, monkeypatch):
    monkeypatch.setattr(reader, "MAX_TOTAL_BYTES", 1 << 30)
    monkeypatch.setattr(reader, "_CHUNK_BYTES", 1000)
    file.write_bytes(b"line\n" * 300)
    assert len(lines_of(file)) == 300
    monkeypatch.setattr(reader, "MAX_TOTAL_BYTES", 1200)
    assert "over the limit" in problem_of(file)


def test_a_line_without_end_stops_at_its_limit_and_is_named(file, monkeypatch):
    monkeypatch.setattr(reader, "MAX_LINE_BYTES", 1 << 20)
    file.write_bytes(b"short\n" + gzip.compress(b"")[:0] + b"x" * (3 << 20))
    assert f"{file}:2: the line is over the limit of 1 MiB" in problem_of(file)


def test_binary_content_is_said(file):
    file.write_bytes(b"\x7fELF\0\0\0\1")
    assert "binary" in problem_of(file)


def test_what_is_no_readable_file_is_one_line(tmp_path):
    assert "no such file" in problem_of(tmp_path / "absent")
    assert "directory" in problem_of(tmp_path)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert "cannot be read" in problem_of(loop)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert "regular file" in problem_of(fifo)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_line(file):
    file.write_bytes(b"a")
    file.chmod(0)
    assert "permission denied" in problem_of(file)
