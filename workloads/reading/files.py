"""Opening of files; every error becomes one clear line."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

from simulator.base.errors import DataError, printable

SUFFIXES = (".gz", ".jsonl", ".json", ".csv", ".parquet")


def exists(name: str) -> bool:
    """Return whether a text is the path of a file or folder."""
    try:
        return name != "" and Path(name).exists()
    except (OSError, ValueError):  # too long for a file name, or with a NUL byte
        return False


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises
    ------
    DataError
        For a file that is missing, not readable or not regular.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise DataError(str(path), "expected a file, found a directory")
        if not stat.S_ISREG(mode):
            raise DataError(str(path), "expected a regular file")
        return path.open("rb")
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {reason(error)}") from None
    except ValueError:  # a NUL byte in the name
        raise DataError(str(path), "is not a file name") from None


def reason(error: OSError) -> str:
    """Return the system's description of an error, without numbers and paths."""
    if error.strerror:
        return error.strerror.lower()
    return printable(str(error)) or type(error).__name__


def names_in(folder: Path) -> tuple[str, ...]:
    """Return the names of the entries of a folder, sorted.

    Raises
    ------
    DataError
        For a folder that cannot be read.
    """
    try:
        return tuple(sorted(entry.name for entry in folder.iterdir()))
    except OSError as error:
        raise DataError(str(folder), f"cannot be read: {reason(error)}") from None


def trace_name(path: Path) -> str:
    """Return a file's name without the suffixes of trace files, as valid UTF-8."""
    name = os.fsencode(path.name).decode(errors="replace")
    while (suffix := Path(name).suffix) in SUFFIXES:
        name = name.removesuffix(suffix)
    return name
