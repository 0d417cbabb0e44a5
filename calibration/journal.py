"""The journal of a calibration: one JSON line a measurement, flushed to disk as it comes.

A killed run loses at most the measurement under way: its line may be half-written, and is cut off
when the journal is opened again.
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
    """What was measured so far, by name.

    Parameters
    ----------
    path
        The file; made with its first line, or read.
    head
        What makes measurements comparable (model, device, versions, seed). It is the first line;
        a journal with another head is refused.

    Raises
    ------
    UsageError
        If the journal belongs to another calibration or cannot be written.
    DataError
        If a line is none of ours.
    """

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        self._path = path
        self.seconds: dict[str, list[float]] = {}
        self.last_spent: dict[str, float] = {}  # by the last repetition of each, with all around it
        self.skipped: dict[str, str] = {}
        self.facts: dict[str, Any] = {}
        self.spent_seconds = 0.0
        self.timing_seconds = 0.0  # of it, on points that could be timed
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
        """Keep one repetition, and what it took with all around it."""
        self._add({"name": name, "seconds": seconds, "spent": spent})

    def add_skipped(self, name: str, reason: str, spent: float) -> None:
        """Keep that a point cannot be measured, and why."""
        self._add({"name": name, "skipped": reason, "spent": spent})

    def add_fact(self, name: str, fact: Any, spent: float = 0.0) -> None:
        """Keep a finding that is no timing."""
        self._add({"name": name, "fact": fact, "spent": spent})

    def _add(self, record: dict[str, Any]) -> None:
        self._write(record)
        self._take(record, 0)

    def _write(self, record: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unwritable(self._path, error) from error

    def _take(self, record: Any, line: int) -> None:
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
        try:
            return json.loads(line)
        except ValueError:
            raise self._fault(number) from None

    def _fault(self, line: int) -> DataError:
        problem = "not a line of a calibration's journal; --fresh measures everything anew"
        return DataError(str(self._path), problem, line=line)


def _whole_lines(path: Path) -> list[bytes]:
    """Return the lines of a file, and cut off a last one that was not finished."""
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
