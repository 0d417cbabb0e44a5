from __future__ import annotations

import gzip
import json

import msgspec
import pytest

from simulator.base.errors import DataError
from workloads.prefixes.prompts import BlockKeys
from workloads.reading import reader
from workloads.reading.json_document import read_json_documents
from workloads.rows import Rows


class Document(msgspec.Struct):
    number: int


def read(path, on_bad_line="fail"):
    """Return the numbers of the documents, with the places they had."""
    rows, taken = Rows(BlockKeys(1), on_bad_line), []

    def take(document, number):
        if document.number < 0:
            return "number", "expected 0 or more"
        taken.append((number, document.number))
        return None

    assert read_json_documents(path, rows, Document, take) is rows
    return taken, rows


def test_a_file_is_one_document_whatever_its_lines_and_its_packing(tmp_path):
    path = tmp_path / "t"
    for content in (b'{"number": 3}', b'\xef\xbb\xbf\r\n{\r\n "number"\r\n: 3}\r\n'):
        for packed in (content, gzip.compress(content)):
            path.write_bytes(packed)
            assert read(path)[0] == [(1, 3)]


def test_a_folder_is_its_json_files_by_name(tmp_path):
    for name, number in (("b.json", 2), ("c.json.gz", 3), ("a.json", 1)):
        text = json.dumps({"number": number}).encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    (tmp_path / "a.jsonl").write_text("no document")
    assert read(tmp_path)[0] == [(1, 1), (2, 2), (3, 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "expected one JSON object, found a broken line"),
        (b'{"number": 1} {"number": 2}', "found a broken line: JSON is malformed: trailing"),
        (b'{"number": "1"}', "field 'number': expected a whole number, found str"),
        (b'{"number": -1}', "field 'number': expected 0 or more"),
        (b'{"number": NaN}', "field 'number': expected a finite number, found NaN"),
        (b'{"number": "\xff"}', "t.json: "),
        (b'{"x": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_bad_document_fails_with_its_name_or_is_counted(tmp_path, text, message):
    (tmp_path / "s.json").write_text('{"number": 1}')
    (tmp_path / "t.json").write_bytes(text)
    with pytest.raises(DataError) as caught:
        read(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 't.json'}: ")
    assert message in str(caught.value)
    taken, rows = read(tmp_path, "skip")
    assert taken == [(1, 1)]
    assert rows.bad_lines == 1


@pytest.mark.parametrize("text", [b"", b" \n"])
def test_an_empty_file_fails(tmp_path, text):
    path = tmp_path / "t.json"
    path.write_bytes(text)
    with pytest.raises(DataError, match="found an empty file"):
        read(path, "skip")


def test_a_folder_without_documents_fails(tmp_path):
    with pytest.raises(DataError, match=r"expected files that end in \.json"):
        read(tmp_path)


def test_a_document_beyond_the_limit_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "MAX_DOCUMENT_BYTES", 1 << 20)
    path = tmp_path / "t.json"
    path.write_text('{"number": 1' + " " * (1 << 20) + "}")
    with pytest.raises(DataError, match="over the limit of 1 MiB"):
        read(path)
