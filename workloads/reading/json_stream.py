"""Files with one JSON document, or one on each line, read singly or from a folder.

Tools write the same documents either way: a trace as a file of its own, or a batch of spans on each
line. A file of lines is read line by line, which needs the memory of one line only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from simulator.base.errors import DataError
from workloads.reading.fields import Problem
from workloads.reading.folders import files_in
from workloads.reading.json_lines import explain, not_finite
from workloads.reading.reader import MAX_DOCUMENT_BYTES, read_lines, read_text

SUFFIXES = (".json", ".json.gz", ".jsonl", ".jsonl.gz")

Decoded = TypeVar("Decoded")
Text = TypeVar("Text", bytes, msgspec.Raw)


class JsonDocument(NamedTuple):
    """A document in a file; `line` is None if it is the whole file."""

    file: Path
    line: int | None
    text: bytes


def read_json_stream(path: Path) -> Iterator[JsonDocument]:
    """Yield the documents of a file, or of each JSON file in a folder, by name.

    Raises
    ------
    DataError
        For a file that is empty or cannot be read, and for a folder without any.
    """
    for file in files_in(path, SUFFIXES):
        if is_json_lines(file):
            for line, text in read_lines(file, MAX_DOCUMENT_BYTES):
                yield JsonDocument(file, line, text)
        else:
            text = read_text(file)
            if not text.strip():
                raise DataError(str(file), "expected a JSON document, found an empty file")
            yield JsonDocument(file, None, text)


def is_json_lines(file: Path) -> bool:
    """Return whether a file has several lines of which the first is a document of its own.

    If the first line is broken, the second is checked, unless the whole file is one document.
    """
    try:
        lines = read_lines(file, MAX_DOCUMENT_BYTES)
        first, second = next(lines, None), next(lines, None)
        if first is None or second is None:
            return False
        return _is_json(first[1]) or (_is_json(second[1]) and not _is_json(read_text(file)))
    except DataError:
        return False


def decoded(
    decode: Callable[[Text], Decoded], text: Text
) -> tuple[Decoded, None] | tuple[None, Problem]:
    """Return the decoded text, or None and what is wrong with it."""
    try:
        return decode(text), None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, not_finite(bytes(text)) or explain(str(error))
    except RecursionError:
        return None, (None, "expected a JSON document, found one nested too deeply")


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return text.lstrip()[:1] in {b"{", b"["}
