"""Lines of a text file, plain or gzip, within limits that no real trace reaches."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from simulator.base.errors import DataError
from workloads.reading.files import open_file, reason

MAX_LINE_BYTES = 16 << 20  # a prompt of 16 million tokens as ids of 16-token blocks
MAX_DOCUMENT_BYTES = 256 << 20  # of a file that is one JSON document
MAX_TOTAL_BYTES = 64 << 30  # decompressed
MAX_RATIO = 200  # of decompressed to compressed size; traces reach about 20
RATIO_FREE_BYTES = 64 << 20  # the ratio is checked above this size

_CHUNK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


def read_lines(path: Path, most_bytes: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the number (from 1) and the bytes of each line that is not blank.

    Gzip is recognised by content. A byte order mark, CRLF and a missing final newline are accepted.
    No line may be longer than `most_bytes`, by default `MAX_LINE_BYTES`.

    Raises
    ------
    DataError
        For a file that cannot be read, is binary or truncated, or exceeds a limit.
    """
    with open_file(path) as file:
        for number, line in _split(path, chunks(path, file), most_bytes or MAX_LINE_BYTES):
            kept = line.removeprefix(_BOM).strip() if number == 1 else line.strip()
            if kept:
                yield number, kept


def read_start(path: Path, limit: int) -> bytes:
    """Return the first `limit` bytes of a file, decompressed, without a byte order mark.

    Raises
    ------
    DataError
        For a file that cannot be read, is binary or damaged.
    """
    with open_file(path) as file:
        return next(chunks(path, file), b"")[:limit].removeprefix(_BOM)


def read_text(path: Path) -> bytes:
    """Return a whole file, decompressed, without a byte order mark.

    Raises
    ------
    DataError
        For a file that cannot be read, is binary, damaged or larger than `MAX_DOCUMENT_BYTES`.
    """
    parts, held = [], 0
    with open_file(path) as file:
        for chunk in chunks(path, file):
            parts.append(chunk)
            held += len(chunk)
            if held > MAX_DOCUMENT_BYTES:
                limit = MAX_DOCUMENT_BYTES >> 20
                raise DataError(str(path), f"the document is over the limit of {limit} MiB")
    return b"".join(parts).removeprefix(_BOM)


def _split(path: Path, chunks: Iterator[bytes], most_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Split chunks into numbered lines; chunks of blank lines are skipped."""
    parts: list[bytes] = []
    held = 0
    number = 1
    for chunk in chunks:
        if not held and chunk.isspace():
            number += chunk.count(b"\n")
            continue
        first, *others = chunk.split(b"\n")
        parts.append(first)
        held += len(first)
        if held > most_bytes:
            limit = most_bytes >> 20
            raise DataError(str(path), f"the line is over the limit of {limit} MiB", line=number)
        if others:
            yield number, b"".join(parts)
            yield from enumerate(others[:-1], start=number + 1)
            number += len(others)
            parts = [others[-1]]
            held = len(others[-1])
    yield number, b"".join(parts)


def chunks(path: Path, file: BufferedReader) -> Iterator[bytes]:
    """Yield the decompressed content in parts of at most `_CHUNK_BYTES`."""
    zipped = file.peek(2)[:2] == _GZIP
    stream: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=file) if zipped else file
    compressed = os.fstat(file.fileno()).st_size if zipped else None
    total = 0
    while chunk := _read(path, stream):
        if total == 0 and b"\0" in chunk[:4096]:
            raise DataError(str(path), "expected lines of text, found binary content")
        total += len(chunk)
        _check_total(path, total, compressed)
        yield chunk


def _read(path: Path, stream: BinaryIO | gzip.GzipFile) -> bytes:
    try:
        return stream.read(_CHUNK_BYTES)
    except EOFError:
        raise DataError(str(path), "the gzip data is truncated") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DataError(str(path), f"the gzip data is damaged: {error}") from None
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {reason(error)}") from None


def _check_total(path: Path, total: int, compressed: int | None) -> None:
    if total > MAX_TOTAL_BYTES:
        limit = f"{MAX_TOTAL_BYTES >> 30} GiB"
    elif compressed is not None and total > max(RATIO_FREE_BYTES, MAX_RATIO * compressed):
        limit = f"{MAX_RATIO} times its size and {RATIO_FREE_BYTES >> 20} MiB (a gzip bomb?)"
    else:
        return
    raise DataError(str(path), f"stopped: the content is over the limit of {limit}")
