"""Atomic file writing: temporary file, fsync, rename.

A temporary file is locked with flock while it is written. An unlocked one was left by a killed
process and is removed by the next process that writes into the folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.base.errors import UsageError, printable

TEMPORARY_PREFIX = ".writing-"
_HALF = re.compile("[\ud800-\udfff]")
_tidied: set[Path] = set()  # folders in which this process has already removed leftovers


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path that is renamed to `path` if the block ends without an exception.

    Raises
    ------
    UsageError
        If `path` is not a file name, the folder cannot be written or the disk is full. Then `path`
        is unchanged and the temporary file is removed.
    """
    if "\0" in str(path) or not path.name:
        raise UsageError(f"cannot write '{printable(str(path))}': it is not a file name")
    try:
        folder = path.parent.absolute()
        if folder not in _tidied:
            remove_leftovers(folder)
            _tidied.add(folder)
        lock, temporary = _locked_file(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        yield temporary
        _flush(temporary)
        temporary.chmod(0o644)  # mkstemp creates it readable by its owner only
        temporary.replace(path)
        _flush(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
        os.close(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files in a folder that no running process is writing.

    Raises
    ------
    OSError
        If the folder cannot be read or written.
    """
    for leftover in folder.glob(f"{TEMPORARY_PREFIX}*"):
        with contextlib.suppress(FileNotFoundError, PermissionError, IsADirectoryError):
            handle = os.open(leftover, os.O_RDONLY | os.O_CLOEXEC)
            try:
                if _lock(handle):
                    leftover.unlink()
            finally:
                os.close(handle)


def _locked_file(folder: Path) -> tuple[int, Path]:
    """Create and lock a temporary file; return its handle, which holds the lock, and its path."""
    while True:
        handle, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=folder)
        _lock(handle)
        if os.fstat(handle).st_nlink:  # not removed as a leftover before it was locked
            return handle, Path(name)
        os.close(handle)


def _lock(handle: int) -> bool:
    """Try to lock a file; return False if another process holds the lock."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked by another process, or locks are not supported
        return False
    return True


def write_text(path: Path, text: str) -> None:
    r"""Write a UTF-8 file atomically; lone surrogates are written as escapes such as \udcff.

    Python represents bytes of a file name that are not valid UTF-8 by lone surrogates.
    """
    with whole_file(path) as temporary:
        temporary.write_bytes(text.encode(errors="backslashreplace"))


def escaped(text: str) -> str:
    r"""Return the text with each lone surrogate escaped as six characters, such as \udcff."""
    return text.encode(errors="backslashreplace").decode()


def escaped_quoted(text: str) -> str:
    """Escape lone surrogates within strings of JSON or TOML, which then reads as `escaped` text."""
    return _HALF.sub(lambda half: rf"\\u{ord(half[0]):04x}", text)


def unwritable(path: Path, error: OSError) -> UsageError:
    """Return the error for a path that cannot be written."""
    return UsageError(f"{printable(str(path))}: cannot be written: {error.strerror or error}")


def _flush(path: Path) -> None:
    """Write a file or folder to disk (fsync)."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
