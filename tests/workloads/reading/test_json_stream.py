from __future__ import annotations

import gzip

import pytest

from simulator.base.errors import DataError
from workloads.reading.folders import files_in, first_head
from workloads.reading.json_stream import is_json_lines, read_json_stream


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b'{"a": 1}\n{"a": 2}\n', True),
        (b"[1]\r\n[2]", True),
        (b'\n\n{"a": 1}\n\n{"a": 2}', True),
        (b'{"a": 1}\n{"a": \n', True),
        (b'{"a": \n{"a": 2}\n', True),
        (b'{"a": 1}\n', False),
        (b'{\n"a": 1}\n', False),
        (b'[\n{"a": 1}\n]\n', False),
        (b'{"a": [\n{"b": 1}\n]}\n', False),
        (b"1\n2\n", False),
        (b"", False),
    ],
)
def test_lines_are_told_from_a_document(tmp_path, text, lines):
    path = tmp_path / "f"
    for data in (text, gzip.compress(text)):
        path.write_bytes(data)
        assert is_json_lines(path) == lines


def test_documents_come_with_their_lines(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}\n\n{"a": 2}')
    (tmp_path / "b.json").write_bytes(b'{\n"a": 3}')
    (tmp_path / "c.txt").write_bytes(b"no")
    documents = [(d.file.name, d.line, d.text) for d in read_json_stream(tmp_path)]
    assert documents == [
        ("a.jsonl", 1, b'{"a": 1}'),
        ("a.jsonl", 3, b'{"a": 2}'),
        ("b.json", None, b'{\n"a": 3}'),
    ]


def test_an_empty_file_and_a_folder_without_files_are_refused(tmp_path):
    with pytest.raises(DataError, match="files that end in"):
        list(read_json_stream(tmp_path))
    (tmp_path / "a.json").write_bytes(b" \n")
    with pytest.raises(DataError, match="empty file"):
        list(read_json_stream(tmp_path))


def test_folders_are_walked_by_name_as_deep_as_asked(tmp_path):
    for name in ("b/2.jsonl", "b/c/3.jsonl", "a.jsonl", "z.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"{}\n" if name[0] in "bz" else b"")
    (tmp_path / "link").symlink_to(tmp_path / "b")

    def names(levels):
        files = files_in(tmp_path, (".jsonl",), levels)
        return [file.relative_to(tmp_path).as_posix() for file in files]

    assert names(1) == ["a.jsonl", "z.jsonl"]
    assert names(3) == ["a.jsonl", "b/2.jsonl", "b/c/3.jsonl", "z.jsonl"]
    head = first_head(tmp_path, (".jsonl",), 3)
    assert head is not None
    assert head.path.name == "2.jsonl"  # the first that has something in it


def test_a_line_may_be_as_long_as_a_document(tmp_path):
    path = tmp_path / "a.jsonl"
    long = b'{"a": "' + b"x" * (17 << 20) + b'"}'
    path.write_bytes(long + b"\n{}\n")
    assert is_json_lines(path)
    assert [len(text) for _, _, text in read_json_stream(path)] == [len(long), 2]
