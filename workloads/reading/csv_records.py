"""CSV files of texts, whose quoted cells may be long and contain line breaks."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from simulator.base.errors import DataError, printable
from workloads.reading.fields import Problem
from workloads.reading.reader import MAX_LINE_BYTES, read_text
from workloads.reading.table_columns import OtherColumns, without
from workloads.rows import Rows

Record = dict[str, str]


class _Lines(Protocol):
    """The type of what `csv.reader` returns, which has no public one."""

    @property
    def line_num(self) -> int: ...

    def __next__(self) -> list[str]: ...


def read_csv_records(
    path: Path,
    rows: Rows,
    wanted: Sequence[str],
    take: Callable[[Record, int], Problem | None],
    used: Collection[str] | None = None,
) -> None:
    """Read a CSV file: pass each record to `take` with the number of its first line.

    Parameters
    ----------
    path
        The file, plain or gzip, UTF-8, no larger than `reader.MAX_DOCUMENT_BYTES`.
    rows
        Registers bad records.
    wanted
        Required columns; the record holds all columns.
    take
        Keeps a record, or returns what is wrong with it and keeps nothing.
    used
        Columns that `take` uses; others are counted as unused. None if unknown.

    Raises
    ------
    DataError
        For a first line without the columns, for the first bad record unless bad ones are
        skipped, and for a file without any record.
    """
    csv.field_size_limit(MAX_LINE_BYTES)  # applies to the whole process; 128 KiB by default
    lines = csv.reader(io.StringIO(_decoded(path), newline=""), strict=True)
    names = _names(path, lines, wanted)
    other = OtherColumns(names, names if used is None else used, rows)
    records = 0
    for number, cells in _numbered(lines):
        records += 1
        problem = _taken(cells, names, take, number, other)
        if problem is not None:
            field, what = problem
            rows.refuse(DataError(str(path), what, line=number, field=field))
    if not records:
        raise DataError(str(path), "expected lines below the names of the columns, found none")


def _decoded(path: Path) -> str:
    text = read_text(path)
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise DataError(str(path), "expected text in UTF-8", line=line) from None


def _names(path: Path, lines: _Lines, wanted: Sequence[str]) -> list[str]:
    try:
        names = [name.strip() for name in next(lines)]
    except (StopIteration, csv.Error):
        names = []
    if not set(wanted) <= set(names):
        shown = printable(",".join(names), 120)
        what = f"expected names of columns separated by commas, with {', '.join(wanted)}"
        raise DataError(str(path), f"{what}; found '{shown}'{without(names, wanted)}", line=1)
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise DataError(str(path), "expected each column once, found it twice", field=twice)
    return names


def _numbered(lines: _Lines) -> Iterator[tuple[int, list[str] | None]]:
    """Yield each record that is not blank with its first line; None for a broken record."""
    number = lines.line_num + 1
    while True:
        try:
            cells = next(lines)
        except StopIteration:
            return
        except csv.Error:
            cells = None
        if cells != []:
            yield number, cells
        number = lines.line_num + 1


def _taken(
    cells: list[str] | None,
    names: list[str],
    take: Callable[[Record, int], Problem | None],
    number: int,
    other: OtherColumns,
) -> Problem | None:
    if cells is None:
        return None, "expected cells separated by commas, found broken quotes"
    if len(cells) != len(names):
        return None, f"expected {len(names)} cells as in the first line, found {len(cells)}"
    record = dict(zip(names, cells, strict=True))
    other.look(record, number)
    return take(record, number)
