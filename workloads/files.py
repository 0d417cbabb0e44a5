"""Files opened and written so that whatever goes wrong becomes one clear line."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from simulator.errors import DataError, UsageError, printable

SUFFIXES = (".gz", ".jsonl", ".json", ".parquet")


def open_file(path: Path) -> BufferedReader:
    """Open a regular file for reading.

    Raises
    ------
    DataError
        Where it is missing, not readable or no regular file.
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


@contextmanager
def written_atomically(path: Path) -> Iterator[Path]:
    """Give a temporary name in the folder of `path`, which becomes `path` when all went well.

    Raises
    ------
    UsageError
        Where the file cannot be written; then nothing is left behind, and an older file stays.
    """
    if "\0" in str(path) or not path.name:
        raise UsageError(f"cannot write {printable(str(path))!r}: it is not a file name")
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.tmp")
    try:
        if path.is_dir():
            raise UsageError(f"cannot write {printable(str(path))}: it is a directory")
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {printable(str(path))}: {reason(error)}") from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def reason(error: OSError) -> str:
    """Return what the system says, without numbers and paths."""
    if error.strerror:
        return error.strerror.lower()
    return printable(str(error)) or type(error).__name__


def trace_name(path: Path) -> str:
    """Return the file's name without the suffixes of trace files, as text that UTF-8 can hold."""
    name = os.fsencode(path.name).decode(errors="replace")
    while (suffix := Path(name).suffix) in SUFFIXES:
        name = name.removesuffix(suffix)
    return name
