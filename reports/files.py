"""Readers and writers of JSON, tables and folders; files are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.base.errors import UsageError, printable
from simulator.base.files import escaped_quoted, unwritable, whole_file, write_text

if TYPE_CHECKING:
    import polars as pl


SEAL_VERSION = 1  # of what is stored with a checksum


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


def refuse_foreign(folder: Path, ours: Collection[str], what: str) -> None:
    """Refuse an output folder that holds anything but `ours`; hidden files do not count.

    Raises
    ------
    UsageError
        When it does, with `what` it was taken for, or cannot be read.
    """
    try:
        names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    except OSError as error:
        raise unwritable(folder, error) from error
    foreign = sorted(name for name in names if name not in ours and not name.startswith("."))
    if foreign:
        raise UsageError(
            f"{printable(str(folder))}: not empty and not {what} (it holds "
            f"'{printable(foreign[0])}'); give another --out"
        )


def read_object(path: Path) -> dict[str, Any] | None:
    """Return a JSON object, or None where there is no readable one."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def sealed(body: dict[str, Any]) -> dict[str, Any]:
    """Return the stored form of a body, with version and checksum."""
    return {"schema_version": SEAL_VERSION, "checksum": digest(body), **body}


def unsealed(stored: dict[str, Any] | None, keys: Sequence[str]) -> dict[str, Any] | None:
    """Return the body of a stored object; None where it is damaged."""
    if stored is None or stored.get("schema_version") != SEAL_VERSION:
        return None
    body = {key: stored.get(key) for key in keys}
    return body if stored.get("checksum") == digest(body) else None


def digest(value: Any, *, compact: bool = True) -> str:
    """Return the SHA-256 of plain values, keys sorted; not `compact`: spaced as by `json`."""
    separators = (",", ":") if compact else None
    text = json.dumps(value, sort_keys=True, separators=separators)
    return hashlib.sha256(text.encode()).hexdigest()
