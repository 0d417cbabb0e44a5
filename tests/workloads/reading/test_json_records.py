from __future__ import annotations

import gzip
import json

import pytest

from simulator.base.errors import DataError
from workloads.prefixes.prompts import BlockKeys
from workloads.reading.json_records import read_json_records
from workloads.rows import Rows

SAYS = {"role": "user", "content": 'a "]}" \\ b'}
ROW = {"id": 1, "messages": [SAYS, SAYS]}


def records(path, on_bad_line="fail"):
    taken = []

    def take(record, number):
        taken.append((number, record))

    rows = read_json_records(path, Rows(BlockKeys(1), on_bad_line), dict | list, take)
    return taken, rows


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "records.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


FILES = {
    "lines": (f"{json.dumps(ROW)}\n{json.dumps(ROW)}\n", [ROW, ROW]),
    "lines of lists": (f"{json.dumps([SAYS])}\n{json.dumps([])}\n", [[SAYS], []]),
    "an array": (json.dumps([ROW, ROW]), [ROW, ROW]),
    "an array over lines": (json.dumps([ROW, ROW], indent=1), [ROW, ROW]),
    "an array of lists": (json.dumps([[SAYS], [SAYS, SAYS]]), [[SAYS], [SAYS, SAYS]]),
    "one conversation": (json.dumps([SAYS, SAYS]), [[SAYS, SAYS]]),
    "one conversation over lines": (json.dumps([SAYS, SAYS], indent=1), [[SAYS, SAYS]]),
    "a document over lines": (json.dumps(ROW, indent=1), [ROW]),
    "documents over lines": (json.dumps(ROW, indent=1) * 2, [ROW, ROW]),
    "arrays one after another": (f"[\n{json.dumps(ROW)}]\n[{json.dumps(ROW)}]", [ROW, ROW]),
}


@pytest.mark.parametrize("name", FILES)
def test_records_are_found_however_they_stand(write, name):
    text, expected = FILES[name]
    for data in (text.encode(), gzip.compress(text.encode())):
        assert records(write(data))[0] == list(enumerate(expected, start=1))


def test_a_record_may_come_in_many_pieces(write, monkeypatch):
    from workloads.reading import json_records

    text = json.dumps([ROW, ROW], indent=1).encode()

    def bits(path, file):
        yield from (text[at : at + 3] for at in range(0, len(text), 3))

    monkeypatch.setattr(json_records, "chunks", bits)
    assert records(write(text))[0] == [(1, ROW), (2, ROW)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps([ROW, ROW])[:-1], "2: expected the end of the JSON"),
        (json.dumps([ROW, ROW])[:-9], "1: expected the end of the JSON"),
        (f"[{json.dumps(ROW)}, 7, {{}}]", "1: expected an object or a list, found something else"),
        (f'[{json.dumps(ROW)}, "x"]', "1: expected an object or a list, found something else"),
        (f"[{json.dumps(ROW)}]]", "closes nothing"),
        (f"[{json.dumps(ROW)}}}", "closes nothing"),
        (f"[{json.dumps(ROW)}, {{a}}]", "2: expected one JSON object, found a broken line"),
        ("", "found an empty file"),
        ("[\n", "expected the end of the JSON"),
    ],
)
def test_what_is_no_json_is_one_line(write, text, message):
    path = write(text)
    with pytest.raises(DataError) as caught:
        records(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bad_record_of_an_array_can_be_skipped(write):
    taken, rows = records(write(f"[{json.dumps(ROW)}, {{a}}, {json.dumps(ROW)}]"), "skip")
    assert [number for number, _ in taken] == [1, 3]
    assert rows.bad_lines == 1
    assert rows.first_bad is not None
    assert rows.first_bad.line == 2


def test_a_record_is_bounded(write, monkeypatch):
    from workloads.reading import json_records

    monkeypatch.setattr(json_records, "MAX_LINE_BYTES", 1000)
    with pytest.raises(DataError, match="the record is over the limit"):
        records(write(json.dumps([{"role": "user", "content": "x" * 2000}], indent=1)))
