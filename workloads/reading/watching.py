"""Decoding of JSON into typed records that also registers the fields they do not declare.

msgspec ignores what a struct does not declare. Here such fields are counted, and those of the
isolation key (`isolation`) are found whether a format declares them or not. A record with new
fields is decoded twice; the types are then extended by them (`learning`).
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from workloads.reading.known_fields import known_fields
from workloads.reading.learning import Learning
from workloads.reading.places import Met, Place, walk
from workloads.rows import Rows

Line = TypeVar("Line")

_any = msgspec.json.Decoder().decode


class Watch(Generic[Line]):
    """Decoder of records of one type that registers their other fields with the rows.

    Parameters
    ----------
    kind
        A msgspec struct, or a list of them. For other types no fields are registered.
    rows
        Registers unused fields and isolation keys.
    path
        Path of the records in the line, such as `spans[]`; empty for whole lines.
    """

    def __init__(self, kind: type[Line], rows: Rows, path: str = "") -> None:
        self._decode = msgspec.json.Decoder(kind).decode
        self._rows = rows
        if not path:
            rows.isolation.begin()
        known = known_fields(kind)
        self._top = None if known is None else Place(known, path, holds_key=True)
        self._learning = None if self._top is None else Learning(kind, self._top)

    def decode(self, text: bytes | msgspec.Raw, line: int, unit: str = "rows") -> Line:
        """Return a record; unused fields count once a line, or each time with the unit "times".

        Raises
        ------
        msgspec.DecodeError, UnicodeDecodeError, RecursionError
            Those of `msgspec.json.decode`.
        """
        learning = self._learning
        if learning is None:
            record = self._decode(text)
            if self._top is not None:
                self._look(self._top, text, line, unit)
            return record
        met = Met()
        try:
            record = learning.decode(text, met)
        except msgspec.ValidationError:
            record = self._decode(text)
            self._look(learning.top, text, line, unit)
        else:
            self._tell(met, line, unit)
        return record

    def _look(self, top: Place, text: bytes | msgspec.Raw, line: int, unit: str) -> None:
        """Collect the fields of a record with undeclared ones, and extend the types by these."""
        met = Met()
        walk(top, text.strip() if isinstance(text, bytes) else text, met)
        met.key = {name: _any(raw) for name, raw in met.key.items()}
        self._tell(met, line, unit)
        if self._learning is not None and not self._learning.learn(met):
            self._learning = None

    def _tell(self, met: Met, line: int, unit: str) -> None:
        rows, paths, key = self._rows, met.paths, met.key
        if unit == "times":
            rows.unused.add(paths, None, unit)
            rows.isolation.look_around(key)
            return
        if paths:
            rows.unused.add(dict.fromkeys(paths) if len(paths) > 1 else paths, line)
        if key or rows.isolation.lines:
            rows.isolation.look(line, key)
