"""Files that are whole or absent: temporary name, fsync, rename."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.errors import UsageError, printable

TEMPORARY_PREFIX = ".writing-"


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its name when the block ends well.

    Raises
    ------
    UsageError
        When the name is none, the folder cannot be written or the disk is full; `path` is then
        as it was, and nothing is left behind.
    """
    if "\0" in str(path) or not path.name:
        raise UsageError(f"cannot write '{printable(str(path))}': it is not a file name")
    try:
        handle, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise unwritable(path, error) from error
    temporary = Path(name)
    try:
        yield temporary
        _flush(temporary)
        temporary.chmod(0o644)  # mkstemp makes it private
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


def unwritable(path: Path, error: OSError) -> UsageError:
    """Return the one line for a path that cannot be written."""
    return UsageError(f"{printable(str(path))}: cannot be written: {error.strerror or error}")


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
