"""What studies write, and read again: JSON, tables, folders; whole or not at all."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.errors import DataError, printable
from simulator.files import unwritable, whole_file, write_text

if TYPE_CHECKING:
    import polars as pl


def write_json(path: Path, value: Any) -> None:
    """Write a whole JSON file with stable bytes, or none; NaN and infinity are refused."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_versioned(path: Path, schema_version: int) -> dict[str, Any]:
    """Return the JSON object of a file that an earlier command left.

    Raises
    ------
    DataError
        When it is damaged or was written by a newer version.
    """
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(str(path), "damaged: expected JSON") from error
    schema = found.get("schema_version") if isinstance(found, dict) else None
    if schema != schema_version:
        problem = f"expected {schema_version}, found {printable(repr(schema))}"
        raise DataError(str(path), problem, field="schema_version")
    return dict(found)


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
