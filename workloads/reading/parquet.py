"""Parquet files other than saved traces: recognised, and read row by row into typed records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TypeVar

import msgspec

from simulator.base.errors import DataError
from workloads.prefixes.key_fields import place_of
from workloads.reading.fields import Problem
from workloads.reading.files import open_file
from workloads.reading.json_lines import explain
from workloads.reading.table_columns import OtherColumns
from workloads.rows import Rows

MAGIC = b"PAR1"

Line = TypeVar("Line", bound=msgspec.Struct)


def is_parquet(path: Path) -> bool:
    """Return whether a file begins like a Parquet file.

    Raises
    ------
    DataError
        For a file that cannot be read.
    """
    with open_file(path) as file:
        return file.peek(len(MAGIC))[: len(MAGIC)] == MAGIC


def parquet_columns(path: Path) -> tuple[str, ...]:
    """Return the column names of a Parquet file.

    Raises
    ------
    DataError
        For a damaged file.
    """
    import polars as pl

    with opened_parquet(path) as file:
        return tuple(pl.read_parquet_schema(file))


def parquet_metadata(path: Path) -> dict[str, str] | None:
    """Return the key-value metadata of a Parquet file, None for a damaged file."""
    import polars as pl

    try:
        with opened_parquet(path) as file:
            return pl.read_parquet_metadata(file)
    except DataError:
        return None


def read_parquet_rows(
    path: Path, rows: Rows, kind: type[Line], take: Callable[[Line, int], Problem | None]
) -> None:
    """Convert each row to a `kind` and pass it to `take` with its number, from 1.

    Parameters
    ----------
    path
        The file.
    rows
        Registers bad rows.
    kind
        A msgspec struct whose fields have the names of the columns; columns of fields with a
        default may be missing.
    take
        Keeps a record, or returns what is wrong with it and keeps nothing.

    Raises
    ------
    DataError
        For the first bad row, unless bad rows are skipped; for a damaged file, or one without
        the columns.
    """
    import polars as pl

    fields = msgspec.structs.fields(kind)
    there = parquet_columns(path)
    missing = [f.encode_name for f in fields if f.required and f.encode_name not in there]
    if missing:
        raise DataError(str(path), f"expected a column '{missing[0]}', found {', '.join(there)}")
    declared = [f.encode_name for f in fields if f.encode_name in there]
    keys = [name for name in there if name not in declared and place_of(name) is not None]
    with opened_parquet(path) as file:
        frame = pl.read_parquet(file, columns=declared + keys)
    count_others(path, there, frame.columns, rows)
    other = OtherColumns(frame.columns, frame.columns, rows)
    for number, record in enumerate(frame.iter_rows(named=True), start=1):
        try:
            line = msgspec.convert(record, kind)
            other.look(record, number)
            problem = take(line, number)
        except msgspec.ValidationError as error:
            problem = explain(str(error))
        if problem is not None:
            field, what = problem
            rows.refuse(DataError(str(path), what, line=number, field=field))


def count_others(path: Path, there: Sequence[str], used: Sequence[str], rows: Rows) -> None:
    """Count the values of unused columns, with one column in memory at a time."""
    import polars as pl

    for name in (name for name in there if name not in used):
        with opened_parquet(path) as file:
            column = pl.read_parquet(file, columns=[name]).to_series()
        filled = column.is_not_null()
        if filled.any():
            first = filled.arg_max()
            rows.unused.add_many(name, int(filled.sum()), None if first is None else first + 1)


@contextmanager
def opened_parquet(path: Path) -> Iterator[BufferedReader]:
    """Open a file for polars, and turn its errors into one-line errors.

    An open file rather than a path is passed, since polars treats brackets in a path as a pattern
    and refuses a path that is no UTF-8.
    """
    import polars as pl

    with open_file(path) as file:
        try:
            yield file
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DataError(str(path), f"is not a sound Parquet file: {reason}") from None
