"""What studies write, and read again: JSON, tables, folders; whole or not at all."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.base.files import escaped_quoted, unwritable, whole_file, write_text

if TYPE_CHECKING:
    import polars as pl


def write_json(path: Path, value: Any) -> None:
    """Write a whole JSON file with stable bytes, or none; NaN and infinity are refused."""
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, escaped_quoted(text) + "\n")


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a whole Parquet file, or none.

    It is encoded in memory first: polars reports a full disk in ways of its own.
    """
    encoded = BytesIO()
    frame.write_parquet(encoded, compression="zstd", statistics=False)
    with whole_file(path) as temporary:
        temporary.write_bytes(encoded.getbuffer())


def write_csv(path: Path, frame: pl.DataFrame) -> None:
    """Write the flat columns of a table as a whole CSV file, or none; lists are left out."""
    import polars as pl

    lists = [name for name, dtype in frame.schema.items() if dtype == pl.List]
    write_text(path, frame.drop(lists).write_csv())


def make_folder(path: Path) -> None:
    """Create a folder and those above it; one UsageError line where that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error
