"""Files that are whole or absent: temporary name, fsync, rename.

A temporary file is locked (flock) while it is written, so that what a killed process has left can
be told from what a living one is writing; the next writer into the folder removes it.
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
_tidied: set[Path] = set()  # folders that this process has looked through


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
        temporary.chmod(0o644)  # mkstemp makes it private
        temporary.replace(path)
        _flush(path.parent)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
        os.close(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files in a folder that no living process is writing.

    Raises
    ------
    OSError
        When the folder cannot be read or written.
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
    """Make a temporary file and lock it; return the handle that holds the lock, and the path."""
    while True:
        handle, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=folder)
        _lock(handle)
        if os.fstat(handle).st_nlink:  # nobody took it for a leftover before it was locked
            return handle, Path(name)
        os.close(handle)


def _lock(handle: int) -> bool:
    """Lock a file unless another process has; say whether it is locked now by this one."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another has it, or the file system knows no locks: hands off
        return False
    return True


def write_text(path: Path, text: str) -> None:
    r"""Write a whole UTF-8 file, or none; what UTF-8 cannot hold is written as \udcff.

    Names of files may have that: halves of surrogate pairs stand for bytes that are no UTF-8.
    """
    with whole_file(path) as temporary:
        temporary.write_bytes(text.encode(errors="backslashreplace"))


def escaped(text: str) -> str:
    r"""Return a text with each half of a surrogate pair as six characters, such as \udcff."""
    return text.encode(errors="backslashreplace").decode()


def escaped_quoted(text: str) -> str:
    """Return JSON or TOML that holds such halves within quotes, so that it reads as `escaped`."""
    return _HALF.sub(lambda half: rf"\\u{ord(half[0]):04x}", text)


def unwritable(path: Path, error: OSError) -> UsageError:
    """Return the one line for a path that cannot be written."""
    return UsageError(f"{printable(str(path))}: cannot be written: {error.strerror or error}")


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
