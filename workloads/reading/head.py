"""The beginning of a file, from which its format is recognised."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workloads.reading.files import names_in
from workloads.reading.parquet import MAGIC, is_parquet, parquet_columns
from workloads.reading.reader import read_start

HEAD_BYTES = 1 << 16

_NAMED = re.compile(rb'"([\w.]{1,80})"\s*:')


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a file, or the names in a folder.

    Parameters
    ----------
    path
        The file or folder.
    names
        Names of the files in a folder, sorted; empty for a file.
    text
        The first bytes of a file (decompressed), at most 64 KiB.
    record
        The JSON object on the first line, or in the whole file if it is short; else None.
    columns
        The first line as column names of a CSV file, or the columns of a Parquet file; empty for
        a folder or JSON.
    """

    path: Path
    names: tuple[str, ...] = ()
    text: bytes = b""
    record: dict[str, Any] | None = None
    columns: tuple[str, ...] = ()

    def has(self, *fields: str) -> bool:
        """Return whether the first object has all of these fields."""
        if self.record is not None:
            return all(field in self.record for field in fields)
        return self.text[:1] == b"{" and self.mentions(*fields)

    def mentions(self, *fields: str) -> bool:
        """Return whether all of these are field names, at any depth, in the first bytes."""
        names = set(_NAMED.findall(self.text))
        return all(field.encode() in names for field in fields)

    def has_columns(self, *names: str) -> bool:
        """Return whether the table has all of these columns."""
        return all(name in self.columns for name in names)


def read_head(path: Path) -> Head:
    """Read the beginning of a file, or the names in a folder.

    Raises
    ------
    DataError
        For a file or folder that cannot be read.
    """
    if path.is_dir():
        return Head(path, names=names_in(path))
    if is_parquet(path):
        return Head(path, text=MAGIC, columns=parquet_columns(path))
    text = read_start(path, HEAD_BYTES)
    first = text.partition(b"\n")[0]
    record = _object(first) or (_object(text) if len(text) < HEAD_BYTES else None)
    if record is not None or text[:1] in {b"{", b"["}:
        return Head(path, text=text, record=record)
    return Head(path, text=text, columns=_columns(first))


def mentioned(text: bytes) -> list[str]:
    """Return the field names, at any depth, in the first bytes, in order."""
    return [name.decode() for name in dict.fromkeys(_NAMED.findall(text))]


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        record = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _columns(line: bytes) -> tuple[str, ...]:
    names = line.decode(errors="replace").split(",")
    return tuple(name.strip().strip('"').strip() for name in names)
