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
    first_row = 0 if parquet else 2  # what a person sees as the first request in the file
    ids = _column(path, table, "obj_id")
    _check(path, "obj_id", ids, ids.is_null(), "an id", first_row)
    if uniform:
        return ObjectStream.of(ids.to_numpy(), [1] * len(ids))
    sizes = _sizes(path, _column(path, table, "size"), first_row)
    return _stream(path, ids, sizes, first_row)


def _read(path: Path, parquet: bool) -> DataFrame:
    import polars as pl

    try:
        if parquet:
            return pl.read_parquet(path)
        return pl.read_csv(path, infer_schema=False)  # texts, so that each can be told apart
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError) as error:
        kind = "Parquet" if parquet else "CSV"
        told = printable(str(error).partition("\n")[0], 120)
        raise DataError(str(path), f"cannot be read as {kind}: {told}") from None


def _column(path: Path, table: DataFrame, name: str) -> Series:
    if name not in table.columns:
        found = ", ".join(table.columns[:8]) or "none"
        raise DataError(str(path), f"expected columns obj_id and size, found {printable(found)}")
    return table[name]


def _sizes(path: Path, column: Series, first_row: int) -> Series:
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
    _check(path, "size", column, wrong, f"whole bytes from 1 to {LARGEST_BYTES}", first_row)
    return whole


def _check(
    path: Path, field: str, column: Series, wrong: Series, expected: str, first_row: int
) -> None:
    """Raise DataError at the first wrong value."""
    row = wrong.arg_max()
    if len(wrong) and row is not None and wrong[row]:
        value: Any = column[row]
        shown = "nothing" if value is None else printable(repr(value), 60)
        problem = f"expected {expected}, found {shown}"
        raise DataError(str(path), problem, line=row + first_row, field=field)


def _stream(path: Path, ids: Series, sizes: Series, first_row: int) -> ObjectStream:
    import polars as pl

    table = pl.DataFrame({"id": ids, "size": sizes})
    changed = table.select(pl.col("size") != pl.col("size").first().over("id")).to_series()
    _check(path, "size", sizes, changed, "the size that this object had before", first_row)
    return ObjectStream.of(ids.to_numpy(), sizes.to_numpy())
