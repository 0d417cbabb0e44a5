"""The journal of a calibration: one JSON line per measurement, flushed to disk immediately.

A killed run loses at most the current measurement. If its line is incomplete, it is removed when
the journal is opened again.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from simulator.base.errors import DataError, UsageError
from simulator.base.files import unwritable


class MeasurementJournal:
    """The measurements made so far, by item name.

    Parameters
    ----------
    path
        The file, created if absent.
    head
        What makes measurements comparable (model, device, versions, seed), stored as the first
        line. A journal with another head is rejected.

    Raises
    ------
    UsageError
        If the journal belongs to another calibration or cannot be written.
    DataError
        If a line is invalid.
    """

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        self._path = path
        self.seconds: dict[str, list[float]] = {}
        self.last_spent: dict[str, float] = {}  # seconds on the last repetition, by item
        self.skipped: dict[str, str] = {}
        self.facts: dict[str, Any] = {}
        self.spent_seconds = 0.0
        self.timing_seconds = 0.0  # part of it spent on items that could be timed
        lines = _whole_lines(path)
        if lines:
            self._check_head(lines[0], head)
        for number, line in enumerate(lines[1:], 2):
            self._take(self._parse(line, number), number)
        try:
            self._file = path.open("ab")
        except OSError as error:
            raise unwritable(path, error) from error
        if not lines:
            self._write({"head": head})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def add_seconds(self, name: str, seconds: float, spent: float) -> None:
        """Record one repetition of a measurement.

        Parameters
        ----------
        name
            Name of the item.
        seconds
            The measured time.
        spent
            Wall time of the repetition, including preparation.
        """
        self._add({"name": name, "seconds": seconds, "spent": spent})

    def add_skipped(self, name: str, reason: str, spent: float) -> None:
        """Record that an item cannot be measured, why, and the seconds spent on trying."""
        self._add({"name": name, "skipped": reason, "spent": spent})

    def add_fact(self, name: str, fact: Any, spent: float = 0.0) -> None:
        """Record a result that is not a timing, and the seconds spent on it."""
        self._add({"name": name, "fact": fact, "spent": spent})

    def _add(self, record: dict[str, Any]) -> None:
        """Write a record and update the totals."""
        self._write(record)
        self._take(record, 0)

    def _write(self, record: dict[str, Any]) -> None:
        """Append a line and flush it to disk."""
        try:
            self._file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unwritable(self._path, error) from error

    def _take(self, record: Any, line: int) -> None:
        """Validate a record and update the totals."""
        match record:
            case {"name": str(name), "spent": float(spent), **rest} if 0 <= spent < math.inf:
                self.spent_seconds += spent
            case _:
                raise self._fault(line)
        match rest:
            case {"seconds": float(seconds)} if 0 < seconds < math.inf:
                self.timing_seconds += spent
                self.last_spent[name] = spent
                self.seconds.setdefault(name, []).append(seconds)
            case {"skipped": str(reason)}:
                self.skipped[name] = reason
            case {"fact": fact}:
                self.facts[name] = fact
            case _:
                raise self._fault(line)

    def _check_head(self, line: bytes, head: dict[str, Any]) -> None:
        """Raise UsageError unless the first line equals the `head` of this calibration."""
        record = self._parse(line, 1)
        if not isinstance(record, dict) or not isinstance(record.get("head"), dict):
            raise self._fault(1)
        stored = record["head"]
        for key in head.keys() | stored.keys():
            if stored.get(key) != head.get(key):
                raise UsageError(
                    f"{self._path}: holds another calibration: {key} was {stored.get(key)!r}, now "
                    f"{head.get(key)!r}; --fresh measures everything anew"
                )

    def _parse(self, line: bytes, number: int) -> Any:
        """Decode a line of the journal; raise DataError if it is not JSON."""
        try:
            return json.loads(line)
        except ValueError:
            raise self._fault(number) from None

    def _fault(self, line: int) -> DataError:
        """Return the error for an invalid line of the journal."""
        problem = "not a line of a calibration's journal; --fresh measures everything anew"
        return DataError(str(self._path), problem, line=line)


def _whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file, after removing an incomplete last one."""
    try:
        data = path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            os.truncate(path, end)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unwritable(path, error) from error
    return data[:end].splitlines()
