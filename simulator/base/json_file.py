"""A strict reader of small JSON files that uses only the standard library."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from simulator.base.errors import DataError

LARGEST_FILE_BYTES = 16 * 2**20
_PICKLES = (b"\x80", b"PK\x03\x04")  # plain pickles, and the zip files of torch.save


def read_json(
    path: str | Path,
    what: str,
    largest_file_bytes: int = LARGEST_FILE_BYTES,
    constant: Callable[[str], object] | None = None,
) -> object:
    """Return the decoded JSON of a regular file.

    Duplicate keys are rejected, and so are NaN and infinity unless `constant` is given.

    Parameters
    ----------
    path
        The file.
    what
        What the file should hold, such as "a profile", for error messages.
    largest_file_bytes
        Largest accepted size in bytes, 16 MiB by default.
    constant
        Called with "NaN", "Infinity" or "-Infinity" to replace them; None to reject them.

    Raises
    ------
    DataError
        If the file cannot be read or is not valid JSON.
    """
    source = str(path)
    try:
        return json.loads(
            _read_text(Path(path), source, what, largest_file_bytes),
            parse_constant=constant
            or (lambda name: _refuse(source, f"{name} is not a JSON number")),
            object_pairs_hook=lambda pairs: _unique(pairs, source),
        )
    except json.JSONDecodeError as error:
        problem = f"not JSON: {error.msg} at column {error.colno}"
        raise DataError(source, problem, line=error.lineno) from None
    except RecursionError:
        raise DataError(source, f"not {what}: nested too deeply") from None
    except ValueError:  # an integer of more digits than Python converts
        raise DataError(source, f"not {what}: a number has thousands of digits") from None


def _read_text(path: Path, source: str, what: str, largest_file_bytes: int) -> str:
    """Return the text of a regular file of limited size."""
    try:
        if path.exists() and not path.is_file():
            raise DataError(source, f"not a regular file: expected {what} in JSON")
        with path.open("rb") as file:
            data = file.read(largest_file_bytes + 1)
        if len(data) > largest_file_bytes:
            most = f"{largest_file_bytes >> 20} MiB"
            raise DataError(source, f"larger than {most}: expected {what} in JSON")
        if data.startswith(_PICKLES):
            problem = f"a pickle, which may run anything when opened: expected {what} in JSON"
            raise DataError(source, problem)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(source, f"binary: expected {what} in JSON") from None
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        problem = getattr(error, "strerror", None) or str(error)
        raise DataError(source, f"cannot be read: {problem}") from None


def _refuse(source: str, problem: str) -> NoReturn:
    """Raise a DataError; a function, since a lambda cannot raise."""
    raise DataError(source, problem)


def _unique(pairs: list[tuple[str, Any]], source: str) -> dict[str, Any]:
    """Return a JSON object as a dict; raise DataError for a duplicate key."""
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise DataError(source, "told twice", field=key)
        result[key] = value
    return result
