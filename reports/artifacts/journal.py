"""The journal of a sweep: one file a cell, so that a killed sweep can resume.

    OUT/journal/header.json     what the folder belongs to
    OUT/journal/<cell>.json     the outcome of one cell, with its checksum
    OUT/journal/lock            held (flock) by the process that works here

Every file is written to a temporary name, fsynced and renamed, and has a checksum. A cell whose
entry is damaged is computed again, which is said; a damaged header is refused, since nothing tells
whose folder it is.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from reports.console import say
from reports.files import make_folder, write_json
from simulator.base.errors import DataError, UsageError, printable
from simulator.base.files import remove_leftovers, unwritable

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """What came of a cell: its metrics, or the one line that says why there are none."""

    cell: str
    metrics: dict[str, Any] | None
    error: str | None = None


class Journal:
    """The outcomes stored in a folder, open for one process at a time.

    Parameters
    ----------
    folder
        The output folder of the sweep; created where it is missing.
    study
        The hash that binds the folder to its study.

    Raises
    ------
    UsageError
        When the folder belongs to something else, was written by a newer version, is in use by
        a live process, or cannot be written.
    DataError
        When the header is damaged.
    """

    def __init__(self, folder: Path, study: str) -> None:
        self.folder = folder / "journal"
        _refuse_foreign(folder)
        make_folder(self.folder)
        self._lock = _lock(self.folder / "lock", folder)
        try:
            self._bind(folder, study)
            remove_leftovers(self.folder)
            remove_leftovers(folder)
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._lock)

    def write(self, outcome: CellOutcome) -> None:
        """Store an outcome."""
        body = {"cell": outcome.cell, "metrics": outcome.metrics, "error": outcome.error}
        write_json(self.folder / f"{outcome.cell}.json", _sealed(body))

    def read(self, cell: str) -> CellOutcome | None:
        """Return the stored outcome of a cell, or None where there is no sound one."""
        path = self.folder / f"{cell}.json"
        if not path.exists():
            return None
        body = _unsealed(_load(path), ("cell", "metrics", "error"))
        if body is None or body["cell"] != cell:
            say(f"note: {path} is damaged: this cell is computed again")
            return None
        return CellOutcome(cell, body["metrics"], body["error"])

    def _bind(self, folder: Path, study: str) -> None:
        path = self.folder / "header.json"
        entries = any(entry.name != path.name for entry in self.folder.glob("*.json"))
        if not entries or not path.exists():  # nothing is lost by starting over
            write_json(path, _sealed({"study": study}))
            return
        header, name = _load(path), printable(str(folder))
        version = None if header is None else header.get("schema_version")
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise UsageError(
                f"{name}: journal of schema_version {version!r}, expected {SCHEMA_VERSION}: "
                "it was written by a newer milepost"
            )
        body = _unsealed(header, ("study",))
        if body is None and header != {"schema_version": SCHEMA_VERSION, "study": study}:
            raise DataError(
                str(path),
                "damaged, so that nothing tells to which study the folder belongs: delete this "
                "file, and the study that belongs here goes on from the cells that are kept",
            )
        if body is not None and body["study"] != study:
            raise UsageError(
                f"{name}: holds the results of another study (or of this one before it was "
                "changed); give another --out"
            )


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder that holds files, but none of ours."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise unwritable(folder, error) from error
    if names and "journal" not in names:
        raise UsageError(
            f"{printable(str(folder))}: not empty and not the folder of a sweep "
            f"(it holds '{printable(names[0])}'); give another --out"
        )


def _lock(path: Path, folder: Path) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise UsageError(
            f"{printable(str(folder))}: in use by another milepost; wait for it or give another "
            "--out"
        ) from error
    return handle


def _load(path: Path) -> dict[str, Any] | None:
    """Return a JSON object, or None where there is no readable one."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _sealed(body: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored of a body: with its version and its checksum."""
    return {"schema_version": SCHEMA_VERSION, "checksum": _checksum(body), **body}


def _unsealed(stored: dict[str, Any] | None, keys: Sequence[str]) -> dict[str, Any] | None:
    """Return the body of what is stored, None where it is damaged."""
    if stored is None or stored.get("schema_version") != SCHEMA_VERSION:
        return None
    body = {key: stored.get(key) for key in keys}
    return body if stored.get("checksum") == _checksum(body) else None


def _checksum(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
