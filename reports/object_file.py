"""Reads streams of sized objects: CSV or Parquet with the columns `obj_id` and `size`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from policies.objects import ObjectStream
from simulator.errors import DataError, printable
from workloads.reading.files import open_file

if TYPE_CHECKING:
    from polars import DataFrame, Series

LARGEST_BYTES = 1 << 50
_PARQUET = b"PAR1"


def open_objects(path: Path, *, uniform: bool = False) -> ObjectStream:
    """Read the requests of a file, in its order. Ids are whole numbers or texts.

    Parameters
    ----------
    path
        The file. Parquet is recognised by content. Other columns are ignored.
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
    if uniform:
        return ObjectStream.of(ids.to_numpy(), [1] * len(ids))
    sizes = _sizes(path, _column(path, table, "size"), first_line)
    return _stream(path, ids, sizes, first_line)


def _read(path: Path, parquet: bool) -> DataFrame:
    import polars as pl

    try:
        if parquet:
            return pl.read_parquet(path)
        table = pl.read_csv(path, infer_schema=False)  # texts, so that each can be told apart
        head = pl.read_csv(path, infer_schema=False, has_header=False, n_rows=1).row(0)
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        kind = "Parquet" if parquet else "CSV"
        told = printable(str(error).partition("\n")[0], 120)
        raise DataError(str(path), f"cannot be read as {kind}: {told}") from None
    for name in ("obj_id", "size"):
        if head.count(name) > 1:
            raise DataError(str(path), "expected one column of this name", line=1, field=name)
    return table


def _column(path: Path, table: DataFrame, name: str) -> Series:
    if name not in table.columns:
        found = ", ".join(table.columns[:8]) or "none"
        raise DataError(str(path), f"expected columns obj_id and size, found {printable(found)}")
    column = table[name]
    if column.dtype.is_nested():
        problem = f"expected a column of single values, found {printable(str(column.dtype), 60)}"
        raise DataError(str(path), problem, field=name)
    return column


def _sizes(path: Path, column: Series, first_line: int | None) -> Series:
    """Return sizes as whole numbers, checked."""
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
    wrong = whole.is_null() | (whole < 1).fill_null(True) | (whole > LARGEST_BYTES).fill_null(True)
    _check(path, "size", column, wrong, f"whole bytes from 1 to {LARGEST_BYTES}", first_line)
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


def _stream(path: Path, ids: Series, sizes: Series, first_line: int | None) -> ObjectStream:
    import polars as pl

    table = pl.DataFrame({"id": ids, "size": sizes})
    changed = table.select(pl.col("size") != pl.col("size").first().over("id")).to_series()
    _check(path, "size", sizes, changed, "the size that this object had before", first_line)
    return ObjectStream.of(ids.to_numpy(), sizes.to_numpy())
