"""Reads streams of sized objects: CSV or Parquet with the columns `obj_id` and `size`.

A column `op_count` says how many requests for the object follow each other in one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from policies.objects import ObjectStream
from reports.words import first_of, number_of
from simulator.base.errors import DataError, printable
from workloads.reading.files import open_file

if TYPE_CHECKING:
    from polars import DataFrame, Series

LARGEST_BYTES = 1 << 50
MOST_REQUESTS = 200_000_000
_PARQUET = b"PAR1"
_USED = ("obj_id", "size", "op_count")


@dataclass(frozen=True, slots=True)
class ObjectFile:
    """A stream of sized objects, with notes on its file for readers of the results."""

    stream: ObjectStream
    notes: tuple[str, ...]


def open_objects(path: Path, *, uniform: bool = False) -> ObjectFile:
    """Read the requests of a file, in its order. Ids are whole numbers or texts.

    Parameters
    ----------
    path
        The file. Parquet is recognised by content. Columns that are not used are named in a note.
    uniform
        Set every size to 1; a column `size` is then not needed.

    Raises
    ------
    DataError
        If the file cannot be read, lacks a column, or holds a value that cannot be used.
    """
    with open_file(path) as file:
        parquet = file.peek(len(_PARQUET))[: len(_PARQUET)] == _PARQUET
    table = _read(path, parquet)
    first_line = None if parquet else 2
    ids = _column(path, table, "obj_id")
    _check(path, "obj_id", ids, ids.is_null(), "an id", first_line)
    sizes = None
    if not uniform:
        sizes = _whole(path, _column(path, table, "size"), LARGEST_BYTES, "bytes", first_line)
    counts = None
    if "op_count" in table.columns:
        column = _column(path, table, "op_count")
        counts = _whole(path, column, MOST_REQUESTS, "requests", first_line)
    stream = _stream(path, ids, sizes, counts)
    return ObjectFile(stream, tuple(_notes(table, stream, uniform=uniform)))


def _read(path: Path, parquet: bool) -> DataFrame:
    import polars as pl

    try:
        if parquet:
            return pl.read_parquet(path)
        table = pl.read_csv(path, infer_schema=False)  # texts, so that each can be told apart
        head = pl.read_csv(path, infer_schema=False, has_header=False, n_rows=1).row(0)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        kind = "Parquet" if parquet else "CSV"
        problem = printable(str(error).partition("\n")[0], 120)
        raise DataError(str(path), f"cannot be read as {kind}: {problem}") from None
    for name in _USED:
        if head.count(name) > 1:
            raise DataError(str(path), "expected one column of this name", line=1, field=name)
    return table


def _column(path: Path, table: DataFrame, name: str) -> Series:
    if name not in table.columns:
        shown = ", ".join(table.columns[:8]) or "none"
        raise DataError(str(path), f"expected columns obj_id and size, found {printable(shown)}")
    column = table[name]
    if column.dtype.is_nested():
        problem = f"expected a column of single values, found {printable(str(column.dtype), 60)}"
        raise DataError(str(path), problem, field=name)
    return column


def _whole(path: Path, column: Series, most: int, unit: str, first_line: int | None) -> Series:
    """Return a column as whole numbers from 1 to `most`, checked."""
    import polars as pl

    if column.dtype == pl.String:
        # A size such as 1e3 or 12.5 is no count of bytes.
        whole = column.str.strip_chars().str.to_integer(strict=False)
    else:
        whole = column.cast(pl.Int64, strict=False)
        if column.dtype.is_float():
            whole = whole.to_frame().select(
                pl.when(pl.Series(column) == pl.col(column.name)).then(pl.col(column.name))
            )[column.name]
    wrong = whole.is_null() | (whole < 1).fill_null(True) | (whole > most).fill_null(True)
    _check(path, column.name, column, wrong, f"whole {unit} from 1 to {most}", first_line)
    return whole


def _check(
    path: Path, field: str, column: Series, wrong: Series, expected: str, first_line: int | None
) -> None:
    """Raise DataError at the first wrong value: its line, or its row where there are no lines."""
    row = wrong.arg_max()
    if len(wrong) and row is not None and wrong[row]:
        value: Any = column[row]
        shown = "nothing" if value is None else printable(repr(value), 60)
        problem = f"expected {expected}, found {shown}"
        if first_line is None:
            raise DataError(str(path), f"row {row + 1}: field '{field}': {problem}")
        raise DataError(str(path), problem, line=row + first_line, field=field)


def _stream(path: Path, ids: Series, sizes: Series | None, counts: Series | None) -> ObjectStream:
    """Return the requests; a row with a count becomes that many consecutive requests."""
    import numpy as np

    size_bytes = np.ones(len(ids), np.int64) if sizes is None else sizes.to_numpy()
    stream = ObjectStream.of(ids.to_numpy(), size_bytes)
    if counts is None:
        return stream
    requests = int(counts.sum())
    if requests > MOST_REQUESTS:
        problem = f"expected at most {MOST_REQUESTS:,} requests in all, found {requests:,}"
        raise DataError(str(path), problem, field="op_count")
    times = counts.to_numpy()
    return ObjectStream(np.repeat(stream.number, times), np.repeat(stream.size_bytes, times))


def _notes(table: DataFrame, stream: ObjectStream, *, uniform: bool) -> list[str]:
    notes = []
    if "op_count" in table.columns:
        notes.append(
            f"op_count: {len(table):,} rows are {len(stream):,} requests, those of a row behind "
            "each other"
        )
    if resized := stream.resized():
        notes.append(
            f"{number_of(resized, 'request')} found an object with another size than before: a hit "
            "where it is resident, and it is written anew in its new size"
        )
    used = {"obj_id", "op_count"} if uniform else set(_USED)
    unused = [printable(name, 40) for name in table.columns if name not in used]
    if unused:
        notes.append(f"columns that are not used: {first_of(unused, 8)}")
    return notes
