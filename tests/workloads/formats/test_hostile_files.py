"""Broken files of every format: a sound trace or one clear line, and never another number.

A format is here by its entry in `EXAMPLES`, or in `FOLDERS` where it is a folder.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.base.errors import DataError, UsageError
from simulator.trace.trace import Trace
from tests.workloads.formats.examples import EXAMPLES, FOLDERS
from workloads.formats import FORMATS
from workloads.opening import format_of, open_trace
from workloads.validation import validate

SMALL = sorted(EXAMPLES)
CSV = [name for name in SMALL if EXAMPLES[name][:1] not in b"{["]
LINES = [name for name in SMALL if EXAMPLES[name].count(b"\n") > 1]
NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-7", "0x1F", "1_0", "--5", "+5"]
NO_NUMBERS += ["true", "[]", "2.5", "9" * 30, "", "12a", "\u0663"]
NUMBER = re.compile(rb"(?<![\w.:+-])\d+(?:\.\d+)?(?![\w.:-])")

quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def opened(path: Path, **options: Any) -> Trace | None:
    """Open a file: a sound trace, or None after an error of one line that names the file."""
    try:
        trace = open_trace(path, **options)
    except (DataError, UsageError) as error:
        message = str(error)
    else:
        assert trace.problem() is None
        return trace
    assert "\n" not in message
    assert len(message) < 2000
    assert path.name in message
    return None


def lengths(trace: Trace) -> list[tuple[int, int]]:
    return sorted(zip(trace.prompt_tokens.tolist(), trace.output_tokens.tolist(), strict=True))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "hostile.dat"


def folder(tmp_path: Path, name: str) -> Path:
    path = tmp_path / "hostile.dir"
    path.mkdir(exist_ok=True)
    for part, data in FOLDERS[name].items():
        (path / part).write_bytes(data)
    return path


def test_every_format_is_here():
    assert {*EXAMPLES, *FOLDERS} == set(FORMATS)
    assert not set(EXAMPLES) & set(FOLDERS)


@pytest.mark.parametrize("name", SMALL)
def test_a_sound_file_is_recognised_and_read_whole(file, name):
    write(file, EXAMPLES[name])
    assert format_of(file) == name
    trace = opened(file)
    assert trace is not None
    assert len(trace)
    assert not any(anomaly.error for anomaly in validate(file))


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_a_sound_folder_is_recognised_and_read_whole(tmp_path, name):
    path = folder(tmp_path, name)
    assert format_of(path) == name
    trace = opened(path)
    assert trace is not None
    assert len(trace)


@pytest.mark.parametrize("other", sorted(FORMATS))
def test_files_of_one_format_read_as_another_are_sound_or_refused(tmp_path, file, other):
    for name in SMALL:
        opened(write(file, EXAMPLES[name]), format=other)
    for name in FOLDERS:
        opened(folder(tmp_path, name), format=other)


@pytest.mark.parametrize("name", SMALL)
def test_a_byte_order_mark_line_ends_and_gzip_change_nothing(file, name):
    whole = lengths(open_trace(write(file, EXAMPLES[name])))
    unix = EXAMPLES[name].replace(b"\r\n", b"\n")
    for variant in (b"\xef\xbb\xbf" + unix, unix.replace(b"\n", b"\r\n"), unix + b"\n\n"):
        for data in (variant, gzip.compress(variant)):
            write(file, data)
            assert format_of(file) == name
            assert lengths(open_trace(file)) == whole


@pytest.mark.parametrize("name", SMALL)
def test_a_file_cut_at_any_byte_is_refused_or_holds_its_whole_lines(file, name):
    data = EXAMPLES[name]
    whole = lengths(open_trace(write(file, data)))
    for at in range(len(data)):
        trace = opened(write(file, data[:at]), format=name)
        if trace is None:
            continue
        last = data[at - 1 : at]
        # a number at the end of a file without a newline may have had more digits
        if name not in CSV or not last.isdigit():
            assert set(lengths(trace)) <= set(whole), at


@pytest.mark.parametrize("name", LINES)
def test_a_broken_line_is_skipped_with_a_note_and_named_otherwise(file, name):
    first, second, *rest = EXAMPLES[name].splitlines(keepends=True)
    write(file, b"".join([first, second.strip()[:-3] + b"\xff\n", *rest]))
    with pytest.raises(DataError, match=r"hostile\.dat:2: "):
        open_trace(file, format=name)
    trace = opened(file, format=name, on_bad_line="skip")
    if trace is not None:
        assert "skipped as bad" in trace.notes[0]
    assert validate(file, format=name)[0].what == "bad-line"


@pytest.mark.parametrize("name", SMALL)
def test_no_number_is_read_as_another(file, name):
    data = EXAMPLES[name]
    before = open_trace(write(file, data))
    for number in NUMBER.finditer(data):
        for text in NO_NUMBERS:
            changed = data[: number.start()] + text.encode() + data[number.end() :]
            trace = opened(write(file, changed), format=name)
            if trace is not None and trace.notes == before.notes:
                assert lengths(trace) == lengths(before), changed


@pytest.mark.parametrize("name", SMALL)
def test_a_number_that_is_replaced_by_one_is_read_as_that(file, name):
    """So that the test above cannot pass because nothing is read."""
    data = EXAMPLES[name]
    before = open_trace(write(file, data))
    changed = 0
    for number in NUMBER.finditer(data):
        more = data[: number.start()] + b"1" + number[0] + data[number.end() :]
        trace = opened(write(file, more), format=name)
        changed += trace is None or lengths(trace) != lengths(before)
    assert changed or name in {"conversations", "lmcache", "otel", "prompts"}


@pytest.mark.parametrize("name", sorted(set(SMALL) - set(CSV)))
def test_fields_that_come_twice_are_refused_or_the_last_counts(file, name):
    """As in JSON readers everywhere."""
    data = EXAMPLES[name]
    before = open_trace(write(file, data))
    for field in re.finditer(rb'"\w+": (?=[\d"])', data):
        twice = data[: field.start()] + field[0] + b"77, " + data[field.start() :]
        trace = opened(write(file, twice), format=name)
        assert trace is None or lengths(trace) == lengths(before)


@pytest.mark.parametrize("name", SMALL)
def test_strange_bytes_are_refused_or_harmless(file, name):
    data = EXAMPLES[name]
    deep = b"[" * 100_000
    places = range(0, len(data), 7)
    for at in places:
        for strange in (b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\n", b'"', b","):
            opened(write(file, data[:at] + strange + data[at:]), format=name)
    for at in list(places)[::6]:
        opened(write(file, data[:at] + deep + data[at:]), format=name)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    "data", [b"", b"\n", b" \r\n\n", b"\xef\xbb\xbf", b"\x00", b"{}", b"[]", b"null"]
)
def test_files_without_content_are_refused(file, name, data):
    assert opened(write(file, data), format=name) is None
    assert opened(write(file, data)) is None


@pytest.mark.parametrize("name", CSV)
@pytest.mark.parametrize("separator", [b";", b"\t", b"|", b" "])
def test_other_separators_are_refused(file, name, separator):
    write(file, EXAMPLES[name].replace(b",", separator))
    assert opened(file) is None
    with pytest.raises(DataError, match="separated by commas"):
        open_trace(file, format=name)


@pytest.mark.parametrize("name", SMALL)
def test_damaged_gzip_is_refused(file, name):
    data = gzip.compress(EXAMPLES[name] * 3)
    for at in range(3, len(data) - 1, 9):
        opened(write(file, data[:at]), format=name)
    with pytest.raises(DataError, match=r"truncated|damaged"):
        open_trace(write(file, data[: len(data) // 2]), format=name)
    broken = data[:20] + bytes([data[20] ^ 0xFF]) + data[21:]
    opened(write(file, broken), format=name)


@pytest.fixture(scope="module")
def bomb():
    """Return 72 MiB of blanks as gzip members of 70 KiB in all."""
    return gzip.compress(b" " * (72 << 20), compresslevel=9)


@pytest.mark.parametrize("name", SMALL)
def test_a_gzip_bomb_is_stopped(file, name, bomb):
    start = gzip.compress(EXAMPLES[name].rstrip())
    with pytest.raises(DataError, match=r"limit of|over the limit"):
        open_trace(write(file, start + bomb), format=name)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_paths_that_are_no_files_are_refused(tmp_path, name):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    empty = tmp_path / "empty"
    empty.mkdir()
    for path in (loop, empty, tmp_path / "absent"):
        assert opened(path, format=name) is None
        assert opened(path) is None


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_folders_with_broken_files_are_refused_or_sound(tmp_path, name):
    for part, data in FOLDERS[name].items():
        path = folder(tmp_path, name)
        for broken in (
            b"",
            b"\x00",
            data[: len(data) // 2],
            data.replace(b",", b";"),
            b"\xff" + data,
        ):
            (path / part).write_bytes(broken)
            opened_folder(path, name)
        (path / part).unlink()
        opened_folder(path, name)
        (path / part).mkdir()
        opened_folder(path, name)
        (path / part).rmdir()


def opened_folder(path: Path, name: str) -> None:
    """Open a folder as `opened` does."""
    opened(path, format=name)


@quick
@given(name=st.sampled_from(SMALL), drawn=st.data())
def test_mutated_files_are_sound_or_refused(tmp_path, name, drawn):
    data = bytearray(EXAMPLES[name])
    for _ in range(drawn.draw(st.integers(1, 4))):
        at = drawn.draw(st.integers(0, len(data) - 1))
        length = drawn.draw(st.integers(0, 12))
        data[at : at + length] = drawn.draw(st.binary(max_size=6))
        if not data:
            data = bytearray(b" ")
    path = write(tmp_path / "hostile.dat", bytes(data))
    opened(path)
    opened(path, format=name, on_bad_line="skip")
    validate_all(path, name)


def validate_all(path: Path, name: str) -> None:
    """Validate a file; what cannot be read as lines at all is one clear line."""
    try:
        anomalies = validate(path, format=name)
    except (DataError, UsageError) as error:
        lines = [str(error)]
    else:
        lines = [anomaly.detail for anomaly in anomalies]
        assert all(anomaly.count >= 1 for anomaly in anomalies)
    assert not any("\n" in line for line in lines)


@quick
@given(name=st.sampled_from(SMALL), drawn=st.data())
def test_replaced_words_and_numbers_are_sound_or_refused(tmp_path, name, drawn):
    words = re.split(rb"([\w.+-]+)", EXAMPLES[name])
    for _ in range(drawn.draw(st.integers(1, 3))):
        at = 2 * drawn.draw(st.integers(0, len(words) // 2 - 1)) + 1
        words[at] = drawn.draw(
            st.one_of(
                st.integers(-(1 << 70), 1 << 70).map(lambda number: str(number).encode()),
                st.floats().map(lambda number: repr(number).encode()),
                st.sampled_from([b"", b"null", b"true", b"{}", b"[]", b'""', b"x" * 300]),
            )
        )
    path = write(tmp_path / "hostile.dat", b"".join(words))
    trace = opened(path, format=name)
    if trace is not None:
        assert np.isfinite(trace.prompt_tokens).all()
    validate_all(path, name)
