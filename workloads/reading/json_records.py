"""Records of a JSON file, on lines, in an array, or one after another.

A list whose first element is a message (with `role` or `from`) is one record, a conversation; of
any other list each element is a record. In an object of named conversations, or of lists of them
(`holds_conversations`), each conversation is a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from simulator.base.errors import DataError
from workloads.prefixes.key_fields import place_of
from workloads.reading.fields import Problem
from workloads.reading.files import open_file
from workloads.reading.json_lines import explain, not_finite, read_json_lines
from workloads.reading.parquet import count_others, is_parquet, opened_parquet, parquet_columns
from workloads.reading.reader import MAX_LINE_BYTES, chunks, read_start, read_text
from workloads.reading.watching import Watch
from workloads.rows import Rows

MESSAGE_FIELDS = ("role", "from")

_HEAD_BYTES = 1 << 16
_HOLDER = re.compile(
    rb'\s*\{\s*"[^"\\]{0,200}"\s*:\s*\[?\s*\{[^\[\]{}]{0,2000}?"conversations?"\s*:\s*\['
)
_LOGGED = re.compile(rb'"messages"\s*:')  # a line of a chat log has this field too
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?P<ended>"?)|[\[\]{}]', re.DOTALL)


def read_json_records(
    path: Path,
    rows: Rows,
    kind: Any,
    take: Callable[[Any, int], Problem | None],
    columns: Collection[str] = (),
) -> Rows:
    """Decode each record as `kind` and pass it to `take` with the number of its line, or its own.

    Of a Parquet file, `columns` are read and each row is converted to JSON.

    Raises
    ------
    DataError
        For the first bad record, unless bad ones are skipped, for a file without any, and for
        one that is no JSON.
    """
    held = not is_parquet(path) and holds_conversations(read_start(path, _HEAD_BYTES))
    if not is_parquet(path) and not held and stand_on_lines(path):
        return read_json_lines(path, rows, kind, take)
    decode = Watch(kind, rows).decode
    if held:
        records = _held(path)
    else:
        records = _parquet_rows(path, columns, rows) if is_parquet(path) else read_json_values(path)
    number = 0
    for number, text in records:
        problem: Problem | None
        try:
            problem = take(decode(text, number), number)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            problem = not_finite(text) or explain(str(error))
        except RecursionError:
            problem = None, "expected a JSON object, found one nested too deeply"
        if problem is not None:
            rows.refuse(DataError(str(path), problem[1], line=number, field=problem[0]))
    if not number:
        raise DataError(str(path), "expected records, found none")
    return rows


def _parquet_rows(path: Path, columns: Collection[str], rows: Rows) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the JSON of each row of a Parquet file."""
    import polars as pl

    there = parquet_columns(path)
    wanted = [name for name in there if name in columns or place_of(name) is not None]
    count_others(path, there, wanted, rows)
    with opened_parquet(path) as file:
        frame = pl.read_parquet(file, columns=wanted)
    for number, record in enumerate(frame.iter_rows(named=True), start=1):
        yield number, msgspec.json.encode(record)


def holds_conversations(start: bytes) -> bool:
    """Return whether a file is one object whose values are conversations or lists of them."""
    return _HOLDER.match(start) is not None and _LOGGED.search(start) is None


def _held(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the JSON of each conversation in an object of conversations."""
    try:
        values = msgspec.json.decode(read_text(path), type=dict[str, msgspec.Raw]).values()
        records = [record for value in values for record in _listed(value)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what = f"expected one JSON object that holds conversations: {error}"
        raise DataError(str(path), what) from None
    for number, record in enumerate(records, start=1):
        yield number, bytes(record)


def _listed(value: msgspec.Raw) -> list[msgspec.Raw]:
    """Return the elements of a JSON list; any other value is returned as the only element."""
    if bytes(value).lstrip()[:1] != b"[":
        return [value]
    return msgspec.json.decode(value, type=list[msgspec.Raw])


def stand_on_lines(path: Path) -> bool:
    """Return whether each line of a file is a record."""
    start = read_start(path, _HEAD_BYTES).lstrip()
    first = start.partition(b"\n")[0]
    if start[:1] != b"[":
        return first.strip() != b"{"
    try:
        elements = msgspec.json.decode(first)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return not elements or is_message(elements[0])


def is_message(element: Any) -> bool:
    """Return whether an element of a list is a message of a conversation."""
    return isinstance(element, dict) and any(name in element for name in MESSAGE_FIELDS)


def read_json_values(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number (from 1) and the bytes of each record of a file not made of lines.

    Raises
    ------
    DataError
        For a file that cannot be read, is no JSON, or has a record longer than a line may be.
    """
    scanner = _Scanner(path)
    with open_file(path) as file:
        for chunk in chunks(path, file):
            yield from scanner.feed(chunk)
    scanner.end()


class _Scanner:
    """Incremental splitter of JSON text into records."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.held = b""
        self.at = 0  # position up to which `held` has been scanned
        self.open: list[bytes] = []  # open brackets
        self.inner: bool | None = None  # whether the open list contains records
        self.start: int | None = None  # position at which the current record starts
        self.records = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the records that are completed by a chunk of text."""
        self._forget()
        self.held += chunk
        while (match := _TOKEN.search(self.held, self.at)) is not None:
            token = match[0][:1]
            if token == b'"' and not match["ended"]:
                break  # the string continues in the next chunk
            if self.start is None and (token == b'"' or self._between(match.start())):
                self._refuse("expected an object or a list, found something else")
            self.at = match.end()
            if token != b'"':
                yield from self._bracket(token, match.start())
        self._forget()
        self._check(len(self.held))

    def end(self) -> None:
        """Raise `DataError` for a file that ends within a record or a list."""
        if self.open or self._between(len(self.held)):
            self._refuse("expected the end of the JSON, found the end of the file before it")

    def _forget(self) -> None:
        """Drop the text before the current record."""
        kept = self.at if self.start is None else self.start
        self.held = self.held[kept:]
        self.at -= kept
        self.start = None if self.start is None else 0

    def _between(self, end: int) -> bytes:
        """Return the text between the last bracket and `end`, without commas and space."""
        return self.held[self.at : end].strip(b" \t\r\n,")

    def _bracket(self, token: bytes, at: int) -> Iterator[tuple[int, bytes]]:
        if token in b"[{":
            if self.start is None:
                self.start = at
            self.open.append(token)
            return
        if not self.open or self.open.pop() != {b"]": b"[", b"}": b"{"}[token]:
            self._refuse(f"expected JSON, found a '{token.decode()}' that closes nothing")
        yield from self._closed()

    def _closed(self) -> Iterator[tuple[int, bytes]]:
        """Yield the record that the last bracket completes, if any."""
        depth = len(self.open)
        if self.start is not None and depth == (1 if self.inner else 0):
            yield self._record(self.start)
        elif depth == 1 and self.inner is None and self.open[0] == b"[":
            yield from self._first_of_list(self.start or 0)
        if depth == 0:
            self.inner, self.start = None, None

    def _first_of_list(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Decide by a list's first element whether the list is a record or contains records."""
        begin = start + 1 + len(self.held[start + 1 :]) - len(self.held[start + 1 :].lstrip())
        try:
            element = msgspec.json.decode(self.held[begin : self.at])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            element = None
        self.inner = not is_message(element)
        if self.inner:
            yield self._record(begin)

    def _record(self, start: int) -> tuple[int, bytes]:
        self.records += 1
        self._check(self.at - start)
        self.start = None
        return self.records, self.held[start : self.at]

    def _check(self, record_bytes: int) -> None:
        if record_bytes > MAX_LINE_BYTES:
            self._refuse(f"the record is over the limit of {MAX_LINE_BYTES >> 20} MiB")

    def _refuse(self, what: str) -> NoReturn:
        raise DataError(str(self.path), what, line=max(self.records, 1))
