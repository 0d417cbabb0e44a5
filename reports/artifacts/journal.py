"""The journal of a sweep: one file a cell, so that a killed sweep can resume.

    OUT/journal/header.json     what the folder belongs to
    OUT/journal/<cell>.json     the outcome of one cell, with its checksum
    OUT/journal/lock            held (flock) by the process that works here

Every file is written to a temporary name, fsynced and renamed, and has a checksum. A cell whose
entry is damaged is computed again, with a message; a damaged header is refused, as nothing shows
whose folder it is.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.console import say
from reports.files import (
    SEAL_VERSION,
    make_folder,
    read_object,
    refuse_foreign,
    sealed,
    unsealed,
    write_json,
)
from simulator.base.errors import DataError, UsageError, printable
from simulator.base.files import remove_leftovers, unwritable


@dataclass(frozen=True, slots=True)
class CellOutcome:
    """The outcome of a cell (one simulation): its metrics, or a one-line error."""

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
    results
        Names of results by which a folder without a journal is known to be ours, too.

    Raises
    ------
    UsageError
        When the folder belongs to something else, was written by a newer version, is in use by
        a live process, or cannot be written.
    DataError
        When the header is damaged.
    """

    def __init__(self, folder: Path, study: str, results: Collection[str] = ()) -> None:
        self.folder = folder / "journal"
        if not self.folder.exists():
            refuse_foreign(folder, results, "the folder of a sweep")
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

    def __exit__(self, *error: object) -> None:
        os.close(self._lock)

    def write(self, outcome: CellOutcome) -> None:
        """Store an outcome."""
        body = {"cell": outcome.cell, "metrics": outcome.metrics, "error": outcome.error}
        write_json(self.folder / f"{outcome.cell}.json", sealed(body))

    def read(self, cell: str) -> CellOutcome | None:
        """Return the stored outcome of a cell, or None where it is missing or damaged."""
        path = self.folder / f"{cell}.json"
        if not path.exists():
            return None
        body = unsealed(read_object(path), ("cell", "metrics", "error"))
        if body is None or body["cell"] != cell:
            say(f"note: {path} is damaged: this cell is computed again")
            return None
        return CellOutcome(cell, body["metrics"], body["error"])

    def _bind(self, folder: Path, study: str) -> None:
        path = self.folder / "header.json"
        entries = any(entry.name != path.name for entry in self.folder.glob("*.json"))
        if not entries or not path.exists():  # nothing is lost by starting over
            write_json(path, sealed({"study": study}))
            return
        header, name = read_object(path), printable(str(folder))
        version = None if header is None else header.get("schema_version")
        if isinstance(version, int) and version > SEAL_VERSION:
            raise UsageError(
                f"{name}: journal of schema_version {version!r}, expected {SEAL_VERSION}: "
                "it was written by a newer milepost"
            )
        body = unsealed(header, ("study",))
        if body is None and header != {"schema_version": SEAL_VERSION, "study": study}:
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
