"""Files that are whole or absent: temporary name, fsync, rename."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.errors import UsageError, printable

if TYPE_CHECKING:
    import polars as pl

TEMPORARY_PREFIX = ".writing-"


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its name when the block ends well.

    Raises
    ------
    UsageError
        When the folder cannot be written or the disk is full; `path` is then as it was.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise unwritable(path, error) from error
    temporary = Path(name)
    try:
        yield temporary
        _flush(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
        _flush(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a whole UTF-8 file, or none."""
    with whole_file(path) as temporary:
        temporary.write_bytes(text.encode())


def write_json(path: Path, value: Any) -> None:
    """Write a whole JSON file with stable bytes, or none; NaN and infinity are refused."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_parquet(path: Path, frame: pl.DataFrame) -> None:
    """Write a whole Parquet file, or none.

    It is encoded in memory first: polars reports a full disk in ways of its own.
    """
    encoded = BytesIO()
    frame.write_parquet(encoded, compression="zstd", statistics=False)
    with whole_file(path) as temporary:
        temporary.write_bytes(encoded.getbuffer())


def make_folder(path: Path) -> None:
    """Create a folder and those above it; one UsageError line where that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed writer left behind."""
    for leftover in folder.glob(f"{TEMPORARY_PREFIX}*"):
        leftover.unlink(missing_ok=True)


def unwritable(path: Path, error: OSError) -> UsageError:
    """Return the one line for a path that cannot be written."""
    return UsageError(f"{printable(str(path))}: cannot be written: {error.strerror or error}")


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
