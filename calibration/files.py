"""Write a file whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from simulator.errors import UsageError


def write_text(path: str | Path, text: str) -> None:
    """Write `text` beside `path`, then rename it there.

    Raises
    ------
    UsageError
        If the file cannot be written; nothing is left behind then.
    """
    target = Path(path)
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)  # mkstemp makes it private
        temporary.replace(target)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)
