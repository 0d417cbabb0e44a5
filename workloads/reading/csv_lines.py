"""CSV tables with one record a line, read into typed records."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from simulator.base.errors import DataError, printable
from workloads.reading.fields import Problem
from workloads.reading.json_lines import explain
from workloads.reading.reader import read_lines
from workloads.reading.table_columns import OtherColumns, columns_of, without
from workloads.rows import Rows

Line = TypeVar("Line", bound=msgspec.Struct)
Name = Annotated[str, msgspec.Meta(max_length=200)]  # of a session or label

OTHER_SEPARATORS = {";": "';'", "\t": "a tab", "|": "'|'"}


class _BrokenError(Exception):
    """Raised for a line that does not fit the table."""


def read_csv_lines(
    path: Path, rows: Rows, kind: type[Line], take: Callable[[Line, int], Problem | None]
) -> None:
    """Read a CSV file: convert each line to a `kind` and pass it to `take` with its number.

    A record is one line: no cell contains a line break. Cells may be quoted; an empty cell is a
    missing value. Columns that are not fields of `kind` are counted as unused.

    Parameters
    ----------
    path
        The file, plain or gzip.
    rows
        Registers bad lines.
    kind
        A msgspec struct whose fields have the names of the columns; columns of fields with a
        default may be missing.
    take
        Keeps a record, or returns what is wrong with it and keeps nothing.

    Raises
    ------
    DataError
        For the first bad line, unless bad lines are skipped; for a first line without the
        columns; for a file without any line below it.
    """
    lines = read_lines(path)
    names = _names(path, lines, kind)
    other = OtherColumns(names, columns_of(kind), rows)
    number = None
    for number, text in lines:
        record: dict[str, str] = {}
        try:
            record = _record(names, text)
            line = msgspec.convert(record, kind, strict=False)
            other.look(record, number)
            problem = take(line, number)
        except (_BrokenError, UnicodeDecodeError) as error:
            problem = None, str(error)
        except msgspec.ValidationError as error:
            problem = _cell_problem(error, record)
        if problem is not None:
            field, what = problem
            rows.refuse(DataError(str(path), what, line=number, field=field))
    if number is None:
        raise DataError(str(path), "expected lines below the names of the columns, found none")


def _names(path: Path, lines: Iterator[tuple[int, bytes]], kind: type[Line]) -> list[str]:
    number, text = next(lines, (1, b""))
    first = text.decode(errors="replace")
    try:
        names = _cells(first)
    except _BrokenError as error:
        raise DataError(str(path), str(error), line=number) from None
    wanted = [f.encode_name for f in msgspec.structs.fields(kind) if f.required]
    if not set(wanted) <= set(names):
        what = f"expected names of columns separated by commas, with {', '.join(wanted)}"
        lacking = without(names, wanted) + separated(first)
        raise DataError(str(path), f"{what}; found '{printable(first, 120)}'{lacking}", line=number)
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise DataError(str(path), "expected each column once, found it twice", field=twice)
    return names


def separated(line: str) -> str:
    """Return a hint if the first line of a table uses another separator than commas, else ""."""
    separator = next((mark for mark in OTHER_SEPARATORS if mark in line.strip()), None)
    if separator is None or "," in line:
        return ""
    return f"; columns are separated by {OTHER_SEPARATORS[separator]}, expected ','"


def _record(names: list[str], text: bytes) -> dict[str, str]:
    cells = _cells(text.decode())
    if len(cells) != len(names):
        raise _BrokenError(f"expected {len(names)} cells as in the first line, found {len(cells)}")
    return {name: cell for name, cell in zip(names, cells, strict=True) if cell}


def _cells(text: str) -> list[str]:
    if '"' not in text:
        return [cell.strip() for cell in text.split(",")]
    try:
        return [cell.strip() for cell in next(csv.reader([text], strict=True))]
    except csv.Error:
        raise _BrokenError("expected cells separated by commas, found broken quotes") from None


def _cell_problem(error: msgspec.ValidationError, record: dict[str, str]) -> Problem:
    field, what = explain(str(error))
    if field not in record:
        return field, what
    expected = what.rpartition(", found ")[0] or what
    return field, f"{expected}, found '{printable(record[field], 40)}'"
