"""The columns of a table that its reader does not use, and those of the isolation key."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from workloads.prefixes.key_fields import place_of
from workloads.rows import Rows


class OtherColumns:
    """Recorder of unused columns and isolation keys in the records of a table.

    Parameters
    ----------
    names
        Names of all columns.
    used
        Names of the columns that the reader uses.
    rows
        Registers unused columns and the key of each line.
    """

    def __init__(self, names: Sequence[str], used: Collection[str], rows: Rows) -> None:
        rows.isolation.begin()
        self._rows = rows
        self._key = [name for name in names if place_of(name) is not None]
        self._unused = [name for name in names if name not in used and name not in self._key]

    def look(self, record: Mapping[str, Any], line: int) -> None:
        """Count the cells of a record that are not empty and not used, and register its key."""
        if self._unused:
            there = [name for name in self._unused if record.get(name) not in (None, "")]
            self._rows.unused.add(there, line)
        if self._key:
            self._rows.isolation.look(line, {name: record.get(name) for name in self._key})


def columns_of(kind: type[msgspec.Struct]) -> frozenset[str]:
    """Return the columns that a record type declares."""
    return frozenset(declared.encode_name for declared in msgspec.structs.fields(kind))


def without(names: Collection[str], wanted: Collection[str]) -> str:
    """Return a phrase on the missing columns for a message, "" if all are missing."""
    missing = [name for name in wanted if name not in names]
    return "" if len(missing) == len(wanted) else f", without {', '.join(missing)}"
